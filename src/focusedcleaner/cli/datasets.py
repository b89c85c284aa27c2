"""``focusedcleaner datasets``: list the data sets, or fetch one."""

from __future__ import annotations

from rich.text import Text

from focusedcleaner import datasets
from focusedcleaner.cli.console import print_json, progress_bar, screen
from focusedcleaner.datasets import DatasetInfo


def show_all(*, json: bool) -> None:
    """List every data set."""
    entries = [datasets.info(name) for name in datasets.names()]
    if json:
        print_json({"datasets": [_fields(entry) for entry in entries]})
        return
    console = screen()
    for entry in entries:
        console.print(Text.assemble((f"{entry.name:<10}", "bold"), entry.sizes))
        path = f"at {entry.path}" if entry.path else f"not here yet: focusedcleaner datasets get {entry.name}"
        for line in (path, f"from {entry.source}", f"sha256 {entry.sha256}"):
            console.print(Text(f"{'':<10}{line}", style="dim"), soft_wrap=True)


def fetch(name: str, *, json: bool) -> None:
    """Download a data set unless it is on this machine, and print its path."""
    with progress_bar(f"Fetching {name}", bytes_=True) as progress:
        path = datasets.get(name, progress=progress)
    if json:
        print_json({**_fields(datasets.info(name)), "path": str(path)})
    else:
        screen().print(str(path), soft_wrap=True)


def _fields(entry: DatasetInfo) -> dict[str, object]:
    return {
        "name": entry.name,
        "nodes": entry.num_nodes,
        "edges": entry.num_edges,
        "classes": entry.num_classes,
        "attributes": entry.num_attributes,
        "path": None if entry.path is None else str(entry.path),
        "source": entry.source,
        "sha256": entry.sha256,
    }

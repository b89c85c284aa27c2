"""``focusedcleaner datasets`` and ``focusedcleaner methods``: what is available by name."""

from __future__ import annotations

import re
from typing import Any

from rich.padding import Padding
from rich.text import Text

from focusedcleaner import datasets
from focusedcleaner.attacks import ATTACKS
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.cli.console import heading, print_json, progress_bar, screen
from focusedcleaner.datasets import DatasetInfo
from focusedcleaner.registry import Method, Registry
from focusedcleaner.sanitizers import SANITIZERS


def show_datasets(*, json: bool) -> None:
    """List every data set."""
    entries = [datasets.info(name) for name in datasets.names()]
    if json:
        print_json({"datasets": [_dataset_fields(entry) for entry in entries]})
        return
    console = screen()
    for entry in entries:
        console.print(Text.assemble((f"{entry.name:<10}", "bold"), entry.sizes))
        path = f"at {entry.path}" if entry.path else f"not here yet: focusedcleaner datasets get {entry.name}"
        for line in (path, f"from {entry.source}", f"sha256 {entry.sha256}"):
            console.print(Text(f"{'':<10}{line}", style="dim"), soft_wrap=True)


def fetch_dataset(name: str, *, json: bool) -> None:
    """Download a data set unless it is on this machine, and print its path."""
    with progress_bar(f"Fetching {name}", bytes_=True) as progress:
        path = datasets.get(name, progress=progress)
    if json:
        print_json({**_dataset_fields(datasets.info(name)), "path": str(path)})
    else:
        screen().print(str(path), soft_wrap=True)


def _dataset_fields(entry: DatasetInfo) -> dict[str, object]:
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


def show_methods(*, json: bool) -> None:
    """List sanitizers, attacks and classifiers with their settings."""
    kinds: dict[str, Registry[Any]] = {"sanitizers": SANITIZERS, "attacks": ATTACKS, "classifiers": CLASSIFIERS}
    if json:
        print_json(
            {
                kind: [{"name": m.name, "summary": m.summary, "settings": m.names()} for m in registry]
                for kind, registry in kinds.items()
            }
        )
        return
    console = screen()
    console.print("Each method is listed with its settings (--set KEY=VALUE) and their defaults.\n")
    for kind, registry in kinds.items():
        console.print(heading(kind.capitalize()))
        for method in registry:
            console.print(Text.assemble((f"  {method.name}", "bold"), f"  {_sentence(method.summary)}"))
            console.print(Padding(Text(_settings(method), style="dim"), (0, 0, 0, 6)))
        console.print()


def _sentence(summary: str) -> str:
    """A summary as a sentence, without the backticks of a docstring.

    >>> _sentence("edges that ``lp`` finds unlikely")
    'Edges that lp finds unlikely.'
    """
    plain = re.sub("`+", "", summary).strip().rstrip(".")
    return f"{plain[:1].upper()}{plain[1:]}."


def _settings(method: Method[Any]) -> str:
    """The settings with their defaults, as ``--set`` takes them."""
    made = method.make({})
    defaults: dict[str, object] = {}
    for name, (part, setting) in method.settings().items():
        defaults[name] = getattr(getattr(made, part) if part else made, setting.name)
    defaults |= {part: next(iter(kinds)) for part, kinds in method.parts.items() if len(kinds) > 1}
    return ", ".join(f"{name}={_as_typed(value)}" for name, value in defaults.items()) or "no settings"


def _as_typed(value: object) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)

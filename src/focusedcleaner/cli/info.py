"""The commands that only show something: ``datasets``, ``methods`` and ``check``."""

from __future__ import annotations

import re
from typing import Any

from rich.text import Text

from focusedcleaner import datasets
from focusedcleaner.cli.console import grid, print_json, progress_bar, screen
from focusedcleaner.cli.options import CheckOptions, MethodsOptions
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Method


def list_datasets(*, json: bool) -> None:
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
            console.print_line(f"{'':<10}", line)


def fetch_dataset(name: str, *, json: bool) -> None:
    """Download a data set unless it is on this machine, and print its path."""
    with progress_bar(f"Fetching {name}", bytes_=True) as progress:
        path = datasets.get(name, progress=progress)
    if json:
        print_json({**_fields(datasets.info(name)), "path": str(path)})
    else:
        screen().print_line(str(path))


def _fields(entry: datasets.DatasetInfo) -> dict[str, object]:
    sizes = {size: getattr(entry, f"num_{size}") for size in ("nodes", "edges", "classes", "attributes")}
    path = None if entry.path is None else str(entry.path)
    return {"name": entry.name, **sizes, "path": path, "source": entry.source, "sha256": entry.sha256}


def check(options: CheckOptions) -> None:
    """Show what a graph contains and what a sanitation would assume."""
    from focusedcleaner import api
    from focusedcleaner.cli.inputs import read_graph

    findings = api.check(read_graph(options))
    if options.json:
        print_json(findings.to_dict())
    else:
        screen().print_line(str(findings))


def methods(options: MethodsOptions) -> None:
    """List sanitizers, attacks and classifiers with their settings."""
    kinds = {"sanitizers": SANITIZERS, "attacks": ATTACKS, "classifiers": CLASSIFIERS}
    if options.json:
        listed = {}
        for kind, registry in kinds.items():
            listed[kind] = [{"name": m.name, "summary": m.summary, "settings": m.names()} for m in registry]
        print_json(listed)
        return
    console = screen()
    console.print("Each method is listed with its settings (--set KEY=VALUE) and their defaults.\n")
    for kind, registry in kinds.items():
        console.print_heading(kind.capitalize())
        table = grid()
        for method in registry:
            table.add_row(method.name, _sentence(method.summary))
            table.add_row("", Text(_settings(method), style="dim"))
        console.print(table, "")


def _sentence(summary: str) -> str:
    """A summary as a sentence, without the backticks of a docstring.

    >>> _sentence("edges that ``lp`` finds unlikely")
    'Edges that lp finds unlikely.'
    """
    plain = re.sub("`+", "", summary).strip().rstrip(".,:;")
    return f"{plain[:1].upper()}{plain[1:]}."


def _settings(method: Method[Any]) -> str:
    """The settings with their defaults, as ``--set`` takes them."""
    default = method.make({})
    values: dict[str, object] = {}
    for name, (part, setting) in method.settings().items():
        values[name] = getattr(getattr(default, part) if part else default, setting.name)
    values |= {part: next(iter(kinds)) for part, kinds in method.parts.items() if len(kinds) > 1}
    for name, value in values.items():
        if value is None or isinstance(value, bool):
            values[name] = str(value).lower()
    return ", ".join(f"{name}={value}" for name, value in values.items()) or "no settings"

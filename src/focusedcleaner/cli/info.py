"""The commands that only show something: ``datasets``, ``methods`` and ``check``."""

from __future__ import annotations

import re
import warnings
from typing import Any

from rich.text import Text

from focusedcleaner import datasets
from focusedcleaner.cli.console import grid, print_json, progress_bar, screen
from focusedcleaner.cli.options import CheckOptions, MethodsOptions
from focusedcleaner.datasets import published
from focusedcleaner.errors import InputWarning, recorded_warnings
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Method


def list_datasets(*, json: bool) -> None:
    """List every data set."""
    entries, own = [datasets.info(name) for name in published.names()], datasets.registered_names()
    if json:
        print_json({"datasets": [*(_fields(entry) for entry in entries), *({"name": name} for name in own)]})
        return
    console = screen()
    for entry in entries:
        console.print(Text.assemble((f"{entry.name:<10}", "bold"), entry.sizes))
        path = f"at {entry.path}" if entry.path else f"not here yet: focusedcleaner datasets get {entry.name}"
        for line in (path, f"from {entry.source}", f"sha256 {entry.sha256}"):
            console.print_line(f"{'':<10}", line)
    for name in own:
        console.print(Text.assemble((f"{name:<10}", "bold"), "registered in Python or by a plug-in"))


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
    """Show what a graph contains, what a sanitation would assume, and what it would cost."""
    from focusedcleaner.checking import check_graph
    from focusedcleaner.cli.inputs import read_graph

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the page has a place for them
        with recorded_warnings() as read:
            graph = read_graph(options)
    findings = check_graph(graph, read=read)
    if options.json:
        print_json(findings.to_dict())
        return
    console = screen()
    for line in str(findings).splitlines():
        if line.startswith(" ") or not line:
            console.print_line(line)
        else:
            console.print_heading(line)


def methods(options: MethodsOptions) -> None:
    """List sanitizers, attacks and classifiers with what they need and their settings."""
    kinds = {"sanitizers": SANITIZERS, "attacks": ATTACKS, "classifiers": CLASSIFIERS}
    if options.json:
        print_json({kind: [_method_fields(method) for method in registry] for kind, registry in kinds.items()})
        return
    console = screen()
    console.print("Each method with its settings (--set KEY=VALUE): the default, and the values that can be set.\n")
    for kind, registry in kinds.items():
        console.print_heading(kind.capitalize())
        table = grid(min_width=max(len(method.name) for method in registry))
        for method in registry:
            table.add_row(method.name, f"{_sentence(method.summary)}{_needs_sentence(method)}")
            table.add_row("", Text(_settings_text(method), style="dim"))
        console.print(table, "")


def _sentence(summary: str) -> str:
    """A summary as a sentence, without the backticks of a docstring.

    >>> _sentence("edges that ``lp`` finds unlikely")
    'Edges that lp finds unlikely.'
    """
    plain = re.sub("`+", "", summary).strip().rstrip(".,:;")
    return f"{plain[:1].upper()}{plain[1:]}."


def _needs(method: Method[Any]) -> dict[str, bool]:
    """What a sanitizer can't do without, beside edges; empty for other kinds of methods."""
    needs = {what: getattr(method.kind, f"needs_{what}", None) for what in ("labels", "attributes")}
    return {what: bool(needed) for what, needed in needs.items() if needed is not None}


def _needs_sentence(method: Method[Any]) -> str:
    needs = _needs(method)
    if not needs:
        return ""
    needed = [
        words for what, words in (("labels", "labels of a few nodes"), ("attributes", "attributes")) if needs[what]
    ]
    return f" Needs {' and '.join(needed)}." if needed else " Needs edges only."


def _method_fields(method: Method[Any]) -> dict[str, object]:
    """What ``--json`` prints about a method."""
    settings = {name: {"default": value, "allowed": allowed} for name, (value, allowed) in _settings(method).items()}
    needs = {f"needs_{what}": needed for what, needed in _needs(method).items()}
    return {"name": method.name, "summary": _sentence(method.summary), **needs, "settings": settings}


def _settings(method: Method[Any]) -> dict[str, tuple[Any, str]]:
    """The default of each setting, and the values that it can have in words."""
    default = method.make({})
    settings: dict[str, tuple[Any, str]] = {}
    for name, (part, setting) in method.settings().items():
        value = getattr(getattr(default, part) if part else default, setting.name)
        settings[name] = value, setting.allowed
    for part, kinds in method.parts.items():
        if len(kinds) > 1:
            settings[part] = next(iter(kinds)), " or ".join(kinds)
    if method.variants:
        settings["variant"] = next(iter(method.variants)), " or ".join(method.variants)
    return settings


def _settings_text(method: Method[Any]) -> str:
    """The settings as ``--set`` takes them."""
    parts = []
    for name, (value, allowed) in _settings(method).items():
        shown = str(value).lower() if value is None or isinstance(value, bool) else value
        parts.append(f"{name}={shown}" + (f" ({allowed})" if allowed else ""))
    return ", ".join(parts) or "no settings"

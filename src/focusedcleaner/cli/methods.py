"""``focusedcleaner methods``: what is known by name."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from focusedcleaner.attacks import ATTACKS
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.cli.console import print_json, screen
from focusedcleaner.registry import Registry
from focusedcleaner.sanitizers import SANITIZERS


def show(*, json: bool) -> None:
    """List sanitizers, attacks and classifiers."""
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
    for kind, registry in kinds.items():
        table = Table(title=kind.capitalize(), title_justify="left", title_style="bold", box=None, pad_edge=False)
        table.add_column("name", no_wrap=True)
        table.add_column("what it does, and its settings (--set KEY=VALUE)" if kind == "sanitizers" else "what it does")
        for method in registry:
            table.add_row(method.name, method.summary)
            if kind == "sanitizers":
                table.add_row("", ", ".join(method.names()), style="dim")
        console.print(table)
        console.print()

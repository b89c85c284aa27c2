"""``focusedcleaner methods``: list the sanitizers, attacks and classifiers with their settings."""

from __future__ import annotations

import re
from typing import Any

from rich.table import Table
from rich.text import Text

from focusedcleaner.attacks import ATTACKS
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.cli.console import heading, print_json, screen
from focusedcleaner.registry import Method, Registry
from focusedcleaner.sanitizers import SANITIZERS


def run(json: bool) -> None:
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
        table = Table.grid(padding=(0, 2))
        table.add_column(no_wrap=True)
        for method in registry:
            table.add_row(method.name, _sentence(method.summary))
            table.add_row("", Text(_settings(method), style="dim"))
        console.print(table)
        console.print()


def _sentence(summary: str) -> str:
    """A summary as a sentence, without the backticks of a docstring.

    >>> _sentence("edges that ``lp`` finds unlikely")
    'Edges that lp finds unlikely.'
    """
    plain = re.sub("`+", "", summary).strip().rstrip(".,:;")
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

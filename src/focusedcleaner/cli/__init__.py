"""The command line: reads options, calls the library, prints the result. It contains no algorithm.

`app` declares the commands; the code of a command is in the module of its name.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: with code 0 after success, 2 after an input error."""
    from focusedcleaner.cli.app import app

    app(None if arguments is None else list(arguments), prog_name="focusedcleaner")

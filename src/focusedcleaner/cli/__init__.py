"""The command line: options in, words out. No algorithm lives here.

`app` declares the commands and their options and imports next to nothing, so that help is there at once; what a command
does stands in the module of its name, imported when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and exit: 0 where all went well, 2 where the user can mend it."""
    from focusedcleaner.cli.app import app

    app(None if arguments is None else list(arguments), prog_name="focusedcleaner")

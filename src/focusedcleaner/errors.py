"""What goes wrong by the user's doing, told in one line."""

from __future__ import annotations


class InputError(ValueError):
    """Input that can't be used: a file, a graph, a split, a budget or a setting.

    The message is one line that says what is wrong and, where it helps, what would be right.
    The command line prints it and exits with code 2.
    """


class InputWarning(UserWarning):
    """Input that could be used after a change, which the message counts."""


class MissingExtra(InputError):
    """An optional dependency is needed and not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'focusedcleaner[{extra}]'")

"""User input errors."""

from __future__ import annotations


class InputError(ValueError):
    """Unusable input: a file, a graph, a split, a budget or a setting.

    The message is one line that says what is wrong and, where it helps, how to correct it.
    The command line prints it and exits with code 2.
    """


class InputWarning(UserWarning):
    """Input that was changed before use; the message counts the changes."""


class MissingExtra(InputError):
    """An optional dependency that is needed but not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs an extra: pip install 'focusedcleaner[{extra}]'")

"""User input errors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


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


@contextmanager
def prefix_errors(source: str | os.PathLike[str]) -> Iterator[None]:
    """Turn errors inside the block into an `InputError` that starts with the name of the source."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{os.fspath(source)}: {error}") from None
    except OSError as error:
        raise InputError(f"{os.fspath(source)}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{os.fspath(source)}: needs more memory than there is") from None

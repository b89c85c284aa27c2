"""User input errors."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


class InputError(ValueError):
    """Unusable input: a file, a graph, a split, a budget or a setting.

    The message is one line that says what is wrong and, where it helps, how to correct it.
    The command line prints it and exits with code 2.

    >>> import focusedcleaner as fc
    >>> fc.sanitizer("cldd")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no method 'cldd'; there are cld, lp, ...
    """


class InputWarning(UserWarning):
    """Input that was changed before use, with the changes counted, or that gave no finding a pipeline can rely on.

    ``warnings.simplefilter("error", focusedcleaner.InputWarning)`` makes a pipeline stop at it.
    """


class ResumableRun(InputError):
    """A run was interrupted where another one is to be written."""


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
        kind = ResumableRun if isinstance(error, ResumableRun) else InputError
        raise kind(f"{os.fspath(source)}: {error}") from None
    except OSError as error:
        raise InputError(f"{os.fspath(source)}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{os.fspath(source)}: needs more memory than there is") from None


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
    """Collect the texts of the `InputWarning`s raised inside the block; all warnings are raised again at its end."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always", InputWarning)
        try:
            yield texts
        finally:
            texts += [str(one.message) for one in raised if issubclass(one.category, InputWarning)]
    for one in raised:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)

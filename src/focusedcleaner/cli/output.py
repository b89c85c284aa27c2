"""Standard output that is full or closed, noticed before the interpreter complains about it at its exit."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast


class WatchedStream:
    """A text stream that remembers why it could not be written."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.error: OSError | None = None

    def write(self, text: str) -> int:
        with self._watching():
            return self.stream.write(text)

    def flush(self) -> None:
        with self._watching():
            self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = error
            raise


@contextmanager
def watched_output() -> Iterator[WatchedStream]:
    """Watch standard output, and flush it at the end; after an error, what it still holds is dropped."""
    _replace_closed_streams()
    before = sys.stdout
    watched = WatchedStream(before)
    sys.stdout = cast("TextIO", watched)
    try:
        yield watched
    finally:
        sys.stdout = before
        with suppress(OSError):
            watched.flush()
        if watched.error is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), before.fileno())


def _replace_closed_streams() -> None:
    """Occupy the descriptors of closed standard streams, lest other files get them; writing to output then fails."""
    if sys.stdout is None:
        sys.stdout = open(_null_device(1, os.O_RDONLY), "w", encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_null_device(2, os.O_WRONLY), "w", encoding="utf-8")  # noqa: SIM115


def _null_device(least: int, mode: int) -> int:
    while (number := os.open(os.devnull, mode)) < least:
        pass
    return number

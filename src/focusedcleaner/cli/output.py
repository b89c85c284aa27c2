"""Standard output that is full or closed, found before the interpreter's exit complains about it."""

from __future__ import annotations

import os
import sys


def replace_closed_streams() -> None:
    """Occupy the descriptors of closed standard streams, lest the next file get them; writing to output then fails."""
    if sys.stdout is None:
        sys.stdout = open(_descriptor(1, os.O_RDONLY), "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = open(_descriptor(2, os.O_WRONLY), "w", encoding="utf-8")


def flush_error() -> OSError | None:
    """What keeps standard output from being written, if anything does."""
    try:
        sys.stdout.flush()
    except OSError as error:
        return error
    return None


def discard() -> None:
    """Drop what standard output still holds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stdout.flush()


def _descriptor(least: int, mode: int) -> int:
    while (number := os.open(os.devnull, mode)) < least:
        pass
    return number

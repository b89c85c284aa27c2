"""Fetching a file whose checksum is known: all of it or nothing."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO
from urllib.request import urlopen

Progress = Callable[[int, int | None], None]
"""Called with the bytes that have arrived and, where the server says so, the bytes to come in all."""

SOCKET_TIMEOUT = 10.0
"""Seconds without a sign of life, on connecting and on each read."""
OVERALL_TIMEOUT = 180.0
SIZE_LIMIT = 32 * 2**20
_CHUNK = 2**16


class Unavailable(Exception):
    """A source that can't give what was asked, with the reason in a few words."""


def checksum(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A fresh path beside the target, with its suffix, that takes its place unless the block fails."""
    partial = target.with_name(f".{target.stem}.{secrets.token_hex(4)}.part{target.suffix}")
    try:
        yield partial
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def fetch(url: str, target: Path, sha256: str, progress: Progress | None = None) -> None:
    """Download to the target; it appears there complete and with the right checksum, or `Unavailable` is raised."""
    try:
        with replacing(target) as partial:
            with urlopen(url, timeout=SOCKET_TIMEOUT) as response, partial.open("xb") as file:
                arrived = _copy(response, file, progress)
            if arrived != sha256:
                raise Unavailable(f"wrong checksum {arrived[:12]}…, expected {sha256[:12]}…")
    except (OSError, HTTPException) as error:
        raise Unavailable(reason(error)) from error


def _copy(response: HTTPResponse, file: BinaryIO, progress: Progress | None) -> str:
    """Copy the response's body and return its SHA-256."""
    deadline = time.monotonic() + OVERALL_TIMEOUT
    expected = response.length
    digest, size = hashlib.sha256(), 0
    # read1 returns with whatever has arrived: read would wait for a full chunk, and a slow server outlive the deadline.
    while chunk := response.read1(_CHUNK):
        size += len(chunk)
        if size > SIZE_LIMIT:
            raise Unavailable(f"larger than {SIZE_LIMIT:,} bytes")
        if time.monotonic() > deadline:
            raise Unavailable(f"not complete after {OVERALL_TIMEOUT:g} s")
        digest.update(chunk)
        file.write(chunk)
        if progress is not None:
            progress(size, expected)
    if expected is not None and size < expected:
        raise Unavailable(f"broke off after {size:,} of {expected:,} bytes")
    return digest.hexdigest()


def reason(error: BaseException) -> str:
    """An error in a few words, on one line."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, OSError):
        error = inner
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())[:160]

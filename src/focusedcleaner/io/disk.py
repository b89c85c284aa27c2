"""The part that touches the disk: whole files in, whole files out, and errors that name the file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from focusedcleaner.errors import InputError


@contextmanager
def prefix_errors(source: str | os.PathLike[str]) -> Iterator[None]:
    """Let what goes wrong inside be an `InputError` that begins with the file's name."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{os.fspath(source)}: {error}") from None
    except OSError as error:
        raise InputError(f"{os.fspath(source)}: {error.strerror or error}") from None
    except MemoryError:
        raise InputError(f"{os.fspath(source)}: needs more memory than there is") from None


def checked_file(path: Path) -> Path:
    """Make sure that there is a file to read."""
    if path.is_dir():
        raise InputError("is a folder, not a file")
    if not path.is_file():
        raise InputError("there is no such file")
    return path


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte-order mark."""
    try:
        return checked_file(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 text (byte {error.start:,})") from None


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write all files or none: each beside its place first, then moved there."""
    waiting = {path: path.with_name(f".{path.name}.{secrets.token_hex(4)}.part") for path in contents}
    try:
        for path, content in contents.items():
            with prefix_errors(path):
                if path.is_dir():
                    raise InputError("is a folder, not a file")
                if not path.parent.is_dir():
                    raise InputError(f"there is no folder {path.parent}")
                waiting[path].write_bytes(content)
        for path, part in waiting.items():
            with prefix_errors(path):
                os.replace(part, path)
    finally:
        for part in waiting.values():
            if part.parent.is_dir():
                part.unlink(missing_ok=True)

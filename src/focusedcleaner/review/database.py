"""A private SQLite file: one connection for all threads, and one line that says what is wrong with the file."""

from __future__ import annotations

import os
import sqlite3
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from focusedcleaner.errors import InputError, InputWarning

PATIENCE = 30.0
"""Seconds to wait for another process that writes."""
SETTINGS = (
    "synchronous = FULL",
    "foreign_keys = ON",
    "trusted_schema = OFF",  # nothing in the file may call functions with side effects
    "cache_size = -32768",  # KiB: room for 100,000 edges and their indexes
)
REASONS = {
    sqlite3.SQLITE_CORRUPT: "is damaged",
    sqlite3.SQLITE_NOTADB: "is not a review, or a damaged one",
    sqlite3.SQLITE_BUSY: "is locked by another program: end that program, or try again",
    sqlite3.SQLITE_READONLY: "can't be written",
    sqlite3.SQLITE_FULL: "can't be written: the disk is full",
}


class StoreError(InputError):
    """The file is damaged, locked or can't be written."""


class Database:
    """An SQLite file that only its owner can read; several threads and processes may use it at the same time."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        with self._access(), ExitStack() as stack:
            # SQLite gives the files beside it (-wal, -shm) the same permissions.
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
            self._connection = sqlite3.connect(
                address, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE
            )
            stack.callback(self._connection.close)
            for setting in SETTINGS:
                self._connection.execute(f"PRAGMA {setting}")
            self._connection.create_function("casefold", 1, str.casefold, deterministic=True)
            stack.pop_all()

    @contextmanager
    def _access(self) -> Iterator[None]:
        """Have the connection alone, and turn its errors into a `StoreError`."""
        with self._lock:
            try:
                yield
            except sqlite3.Error as error:
                code = getattr(error, "sqlite_errorcode", -1) & 0xFF  # the rest are the details of an extended code
                words = " ".join(str(error).split())[:100]  # it may quote what the file holds
                raise self.error(REASONS.get(code, f"can't be used as a review: {words}")) from None
            except UnicodeDecodeError:  # SQLite's message quotes the file
                raise self.error(REASONS[sqlite3.SQLITE_CORRUPT]) from None
            except OSError as error:
                raise self.error(f"can't be opened: {error.strerror}") from None

    def error(self, reason: str) -> StoreError:
        """Return an error about this file."""
        return StoreError(f"{self.path}: {reason}")

    def close(self) -> None:
        with self._access():
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit everything done inside to the disk, or nothing."""
        with self._access():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # SQLite itself has ended it after some errors
                    self._connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a statement."""
        with self._access():
            return self._connection.execute(query, parameters).fetchall()

    def many(self, statement: str, parameters: Iterable[Sequence[Any]]) -> None:
        """Execute a statement once for each sequence of parameters."""
        with self._access():
            self._connection.executemany(statement, parameters)

    def keep_private(self) -> None:
        """Take the permissions of other users away, if there are any."""
        files = [path for end in ("", "-wal", "-shm") if (path := Path(f"{self.path}{end}")).exists()]
        wide = [path for path in files if path.stat().st_mode & 0o077]
        if not wide:
            return
        try:
            for path in wide:
                path.chmod(0o600)
        except PermissionError:
            warnings.warn(f"{self.path}: other users can open it, and it isn't yours to close", InputWarning, 2)
        else:
            warnings.warn(f"{self.path}: other users could open it; it is private again", InputWarning, 2)

"""A shim that counts a process's steps on the disk and, at the n-th, kills the process or finds the disk full.

Steps are creating a file or folder, writing, syncing, renaming, removing, and SQLite's transactions. It is meant for a
forked child: what it patches stays patched.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

Fault = Literal["kill", "full"]
_GROWING = ("open", "write", "fsync", "mkdir", "sqlite")
"""Steps that need space: they fail from the n-th on."""


class DiskSteps:
    """Installs itself; ``at`` is the number of the step with the fault, counted from 1, or 0 for none."""

    def __init__(self, fault: Fault = "kill", at: int = 0, log: Path | None = None) -> None:
        self.fault, self.at, self.count = fault, at, 0
        self.log = None if log is None else os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._real_write = os.write
        for name in ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir"):
            setattr(os, name, self._counted(name, getattr(os, name)))
        self._real_open, os.open = os.open, self._open
        os.write = self._write  # type: ignore[assignment]
        steps, connect = self, sqlite3.connect

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
                if sql.startswith(("BEGIN", "COMMIT", "PRAGMA journal_mode")):
                    steps.step("sqlite")
                return super().execute(sql, *more)

        sqlite3.connect = lambda *words, **options: connect(*words, factory=Connection, **options)  # type: ignore[assignment]

    def step(self, kind: str, before_the_end: Callable[[], object] = lambda: None) -> None:
        self.count += 1
        if self.log is not None:
            self._real_write(self.log, f"{kind}\n".encode())
        if self.fault == "kill" and self.count == self.at:
            before_the_end()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.fault == "full" and self.at and (self.count == self.at or (self.count > self.at and kind in _GROWING)):
            before_the_end()
            if kind == "sqlite":
                raise sqlite3.OperationalError("database or disk is full")
            if kind not in ("unlink", "rmdir"):  # which need no space
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _counted(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*words: Any, **options: Any) -> Any:
            self.step(kind)
            return real(*words, **options)

        return counted

    def _open(self, path: Any, flags: int, *more: Any, **options: Any) -> int:
        if flags & os.O_CREAT:
            self.step("open")
        return self._real_open(path, flags, *more, **options)

    def _write(self, file: int, content: bytes | memoryview) -> int:
        """A write with a fault gets half of its bytes to the disk."""
        self.step("write", lambda: self._real_write(file, content[: len(content) // 2]))
        return self._real_write(file, content)

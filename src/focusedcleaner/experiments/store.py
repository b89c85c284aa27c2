"""Where results are kept: one SQLite file that several runners may share, above the results that the package brings."""

from __future__ import annotations

import io
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.datasets.published import cache_folder
from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.compute import Arrays, Outcome, Values
from focusedcleaner.io.disk import npz_bytes

STORE = "FOCUSEDCLEANER_STORE"
FILE = "cells.sqlite"
FORMAT = 1
LEASE = 600.0
"""Seconds after which others may take over a cell whose runner has not renewed its claim."""
WAIT = 60.0
"""Seconds that a writer waits for another one."""

_TABLES = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, data TEXT NOT NULL, method TEXT NOT NULL, cell TEXT NOT NULL,
    numbers TEXT NOT NULL, arrays BLOB, seconds REAL NOT NULL, made TEXT NOT NULL, versions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, cell TEXT NOT NULL, error TEXT NOT NULL);
"""


@dataclass(frozen=True)
class CellResult:
    """What is known of a cell: its numbers, and the seconds that they took."""

    values: Values
    seconds: float


def default_folder() -> Path:
    """FOCUSEDCLEANER_STORE, or a folder in the cache."""
    chosen = os.environ.get(STORE)
    return Path(chosen).expanduser() if chosen else cache_folder() / "experiments"


class Store:
    """Results by cell, written at once and whole.

    Args:
        folder: where the SQLite file is or will be.
        base: results that the package brings, by key; they have numbers and no arrays.
    """

    def __init__(self, folder: Path, base: Mapping[str, CellResult] | None = None) -> None:
        self.path = folder / FILE
        self.base = base or {}
        self._database: sqlite3.Connection | None = None

    # Opening and closing ---------------------------------------------------------------------------------------------

    def open(self) -> Store:
        """Make or open the file; refuse one that is of another kind or version."""
        with self._telling():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            database = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            found = database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, FORMAT):
                database.close()
                raise InputError(
                    f"{self.path}: is a store of format {found}, not {FORMAT}: choose another with --store"
                )
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
            database.executescript(_TABLES)
            database.execute(f"PRAGMA user_version={FORMAT}")
        self._database = database
        return self

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def __enter__(self) -> Store:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"the store {self.path} can't be used: {error.strerror or error}") from None
        except sqlite3.Error as error:
            raise InputError(f"the store {self.path} can't be used: {error}") from None

    @property
    def database(self) -> sqlite3.Connection:
        if self._database is None:
            raise InputError(f"the store {self.path} is not open")
        return self._database

    # Results ---------------------------------------------------------------------------------------------------------

    def known(self) -> dict[str, CellResult]:
        """All results by key: the file's own above those that the package brings."""
        with self._telling():
            rows = self.database.execute("SELECT key, numbers, seconds FROM cells").fetchall()
        return {**self.base, **{key: CellResult(json.loads(numbers), seconds) for key, numbers, seconds in rows}}

    def keys_with_arrays(self) -> set[str]:
        """The cells that others can build on."""
        with self._telling():
            return {key for (key,) in self.database.execute("SELECT key FROM cells WHERE arrays IS NOT NULL")}

    def computed(self) -> set[str]:
        """The cells that this file has."""
        with self._telling():
            return {key for (key,) in self.database.execute("SELECT key FROM cells")}

    def get(self, cell: Cell) -> CellResult | None:
        """What the file itself, or the package, knows of a cell."""
        with self._telling():
            row = self.database.execute("SELECT numbers, seconds FROM cells WHERE key = ?", (cell.key,)).fetchone()
        return self.base.get(cell.key) if row is None else CellResult(json.loads(row[0]), row[1])

    def arrays(self, cell: Cell) -> Arrays:
        """The arrays of a cell, none where it has none here."""
        with self._telling():
            row = self.database.execute("SELECT arrays FROM cells WHERE key = ?", (cell.key,)).fetchone()
        return {} if row is None or row[0] is None else _unpacked(row[0])

    def put(self, cell: Cell, outcome: Outcome) -> None:
        """Keep a result; the claim on the cell ends with it."""
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        arrays = npz_bytes({name: _small(array) for name, array in outcome.arrays.items()}) if outcome.arrays else None
        row = (cell.key, cell.kind, cell.source.data, cell.method, cell.text, json.dumps(dict(outcome.values)), arrays)
        with self._changing() as database:
            database.execute(
                "INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, outcome.seconds, made, _versions()),
            )
            database.execute("DELETE FROM leases WHERE key = ?", (cell.key,))
            database.execute("DELETE FROM failures WHERE key = ?", (cell.key,))

    def fail(self, cell: Cell, error: str) -> None:
        """Keep the reason why a cell has no result; the next run tries it again."""
        with self._changing() as database:
            database.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", (cell.key, cell.label, error))
            database.execute("DELETE FROM leases WHERE key = ?", (cell.key,))

    def failures(self) -> dict[str, str]:
        """Reasons by key."""
        with self._telling():
            return dict(self.database.execute("SELECT key, error FROM failures"))

    # Who is at work --------------------------------------------------------------------------------------------------

    def claim(self, cell: Cell) -> bool:
        """Take a cell to compute; False where this file has it already or someone else is at it."""
        host, pid = socket.gethostname(), os.getpid()
        with self._changing() as database:
            if database.execute("SELECT 1 FROM cells WHERE key = ?", (cell.key,)).fetchone():
                return False
            lease = database.execute("SELECT host, pid, until FROM leases WHERE key = ?", (cell.key,)).fetchone()
            if lease is not None and (lease[0], lease[1]) != (host, pid) and _holds(*lease):
                return False
            row = (cell.key, host, pid, time.time() + LEASE)
            database.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", row)
        return True

    def renew(self) -> None:
        """Say that this process is still at work on all it has claimed."""
        self._leases("UPDATE leases SET until = ? WHERE host = ? AND pid = ?", (time.time() + LEASE,))

    def release(self, cells: Iterable[Cell] | None = None) -> None:
        """Give claims back: these, or all of this process."""
        if cells is None:
            self._leases("DELETE FROM leases WHERE host = ? AND pid = ?")
        for cell in cells or ():
            self._leases("DELETE FROM leases WHERE key = ? AND host = ? AND pid = ?", (cell.key,))

    def _leases(self, query: str, first: tuple[Any, ...] = ()) -> None:
        with self._changing() as database:
            database.execute(query, (*first, socket.gethostname(), os.getpid()))

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it or nothing."""
        with self._telling():
            database = self.database
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")


def _holds(host: str, pid: int, until: float) -> bool:
    """Whether a claim still counts: until it expires or, on this machine, its process is gone."""
    return time.time() < until and (host != socket.gethostname() or _alive(pid))


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _small(array: Any) -> Any:
    return array.astype(np.int32) if array.dtype.kind in "iu" else array


def _unpacked(blob: bytes) -> Arrays:
    with np.load(io.BytesIO(blob), allow_pickle=False) as file:
        return {name: file[name].astype(np.int64) if file[name].dtype.kind in "iu" else file[name] for name in file}


def _versions() -> str:
    return " ".join(f"{package} {version(package)}" for package in ("focusedcleaner", "torch", "numpy", "scipy"))

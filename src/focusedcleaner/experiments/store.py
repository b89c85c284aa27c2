"""Results on disk: one SQLite file that several runners may share, and the CSV files that come with the package."""

from __future__ import annotations

import csv
import io
import json
import os
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from focusedcleaner.datasets.published import cache_folder
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.experiments.cells import Arrays, Cell, CellResult
from focusedcleaner.io.disk import npz_bytes
from focusedcleaner.io.transaction import write_files

STORE = "FOCUSEDCLEANER_STORE"
FILE = "cells.sqlite"
FORMAT = 1
LEASE = 600.0
"""Seconds after which other runners may take over a cell whose claim was not renewed."""
WAIT = 60.0
"""Seconds that a writer waits for another one."""
COMMITTED = Path(__file__).parent / "results"
"""The result files in the repository."""

_TABLES = """
CREATE TABLE IF NOT EXISTS cells (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, data TEXT NOT NULL, method TEXT NOT NULL, cell TEXT NOT NULL,
    numbers TEXT NOT NULL, arrays BLOB, seconds REAL NOT NULL, made TEXT NOT NULL, versions TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, until REAL NOT NULL);
"""


def default_folder() -> Path:
    """FOCUSEDCLEANER_STORE, or a folder in the cache."""
    chosen = os.environ.get(STORE)
    return Path(chosen).expanduser() if chosen else cache_folder() / "experiments"


class Store:
    """An open SQLite file with results by cell key; each result is written at once, in one transaction.

    Args:
        folder: the folder of the file; both are created if needed.
        base: results to start from, without arrays; those in the file take precedence.
    """

    def __init__(self, folder: Path, base: Mapping[str, CellResult] | None = None) -> None:
        self.path, self._base = folder / FILE, base or {}
        with self._errors():
            folder.mkdir(parents=True, exist_ok=True)
            self.database = sqlite3.connect(self.path, timeout=WAIT, isolation_level=None)
            found = self.database.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, FORMAT):
                self.database.close()
                raise InputError(f"{self.path} has format {found}, not {FORMAT}: choose another folder with --store")
            self.database.executescript(f"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; {_TABLES}")
            self.database.execute(f"PRAGMA user_version={FORMAT}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.database.close()

    def results(self) -> dict[str, CellResult]:
        """All results by key, without arrays."""
        rows = self._query("SELECT key, numbers, seconds FROM cells")
        return {**self._base, **{key: CellResult(json.loads(numbers), seconds) for key, numbers, seconds in rows}}

    def computed(self, *, with_arrays: bool = False) -> set[str]:
        """The keys of the cells in the file; with arrays, only of those that other cells can build on."""
        rows = self._query("SELECT key FROM cells WHERE arrays IS NOT NULL OR ?", not with_arrays)
        return {key for (key,) in rows}

    def arrays(self, cell: Cell) -> Arrays:
        """The arrays of a cell; empty if the file has none."""
        rows = self._query("SELECT arrays FROM cells WHERE key = ? AND arrays IS NOT NULL", cell.key)
        if not rows:
            return {}
        with np.load(io.BytesIO(rows[0][0]), allow_pickle=False) as file:
            return _with_integers(file, np.int64)

    def put(self, cell: Cell, result: CellResult) -> None:
        """Save a result and release the claim on its cell."""
        about = (cell.key, cell.kind, cell.source.data, cell.method, cell.text, json.dumps(dict(result.values)))
        arrays = npz_bytes(_with_integers(result.arrays, np.int32)) if result.arrays else None
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        versions = " ".join(f"{name} {version(name)}" for name in ("focusedcleaner", "torch", "numpy", "scipy"))
        row = (*about, arrays, result.seconds, now, versions)
        with self._transaction():
            self._query("INSERT OR REPLACE INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", *row)
            self._query("DELETE FROM leases WHERE key = ?", cell.key)

    def claim(self, cell: Cell) -> bool:
        """Reserve a cell for this process; False if the file has it or another runner is computing it."""
        with self._transaction():
            if self._query("SELECT 1 FROM cells WHERE key = ?", cell.key):
                return False
            leases = self._query("SELECT host, pid, until FROM leases WHERE key = ?", cell.key)
            if leases and leases[0][:2] != _owner() and _is_valid(*leases[0]):
                return False
            row = (cell.key, *_owner(), time.time() + LEASE)
            self._query("INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?)", *row)
        return True

    def renew(self) -> None:
        """Extend all claims of this process."""
        self._query("UPDATE leases SET until = ? WHERE host = ? AND pid = ?", time.time() + LEASE, *_owner())

    def release(self, cell: Cell | None = None) -> None:
        """Give up this process's claim on a cell, or all its claims."""
        key = "%" if cell is None else cell.key
        self._query("DELETE FROM leases WHERE host = ? AND pid = ? AND key LIKE ?", *_owner(), key)

    def _query(self, statement: str, *values: Any) -> list[Any]:
        with self._errors():
            return self.database.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._errors(), self.database:  # commits, or rolls back after an exception
            self.database.execute("BEGIN IMMEDIATE")
            yield

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"the store {self.path} can't be used: {reason}") from None


def _owner() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


def _is_valid(host: str, pid: int, until: float) -> bool:
    """Whether a claim still counts: it has not expired and, on this machine, its process is alive."""
    if host == socket.gethostname():
        try:
            os.kill(pid, 0)
        except PermissionError:  # it belongs to another user
            pass
        except OSError:
            return False
    return time.time() < until


def _with_integers(arrays: Arrays, integers: type) -> dict[str, Any]:
    """Convert integer arrays: they are stored with 32 bits and used with 64."""
    return {name: arrays[name].astype(integers) if arrays[name].dtype.kind in "iu" else arrays[name] for name in arrays}


@cache
def committed_results() -> Mapping[str, CellResult]:
    """The results that come with the package, by key."""
    return {key: result for path in COMMITTED.glob("*.csv") for key, result in read_csv(path).items()}


def read_csv(path: Path) -> dict[str, CellResult]:
    """Read a result file."""
    results = {}
    for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
        key, _, *values, seconds = row.values()
        numbers = [json.loads(text) if text else None for text in values]
        results[key] = CellResult(dict(zip(list(row)[2:-1], numbers, strict=True)), float(seconds))
    return results


def write_csv(cells: Iterable[Cell], results: Mapping[str, CellResult], folder: Path = COMMITTED) -> int:
    """Replace the result files of a folder: one per kind of cell and data set, sorted by label.

    Returns:
        The number of results.
    """
    files: dict[Path, list[dict[str, Any]]] = {}
    for cell in sorted(cells, key=lambda cell: (cell.label, cell.key)):
        if cell.key in results:
            values, seconds = results[cell.key].values, results[cell.key].seconds
            row = {"key": cell.key, "cell": cell.label, **values, "seconds": seconds}
            files.setdefault(folder / f"{cell.kind}-{cell.source.data}.csv", []).append(row)
    contents = {}
    for path, rows in files.items():
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(rows[0]), extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        contents[path] = buffer.getvalue().encode()
    with prefix_errors(folder):
        folder.mkdir(exist_ok=True)
    write_files(contents, remove=set(folder.glob("*.csv")) - set(files))
    return sum(map(len, files.values()))

"""The store: complete results, shared by runners, whatever happens to them; the result files."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.experiments import catalogue
from focusedcleaner.experiments import store as store_module
from focusedcleaner.experiments.cells import Cell, CellResult, Source, accuracy, poison
from focusedcleaner.experiments.runner import schedule
from focusedcleaner.experiments.store import (
    COMMITTED,
    FILE,
    Store,
    committed_results,
    default_folder,
    read_csv,
    write_csv,
)

SMALL = Source("synthetic-100", "random 0")


def cell(seed: int) -> Cell:
    return accuracy(poison(SMALL), "gcn", seed=seed)


def result(value: float) -> CellResult:
    return CellResult({"accuracy": value, "nothing": None}, 0.5, {"removed": np.array([[1, 2], [3, 70_000]])})


def forked(work: Callable[[Path], None], folder: Path) -> BaseProcess:
    process = get_context("fork").Process(target=work, args=(folder,))
    process.start()
    return process


def test_a_saved_result_comes_back(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "store") as store:
        assert store.results() == {}
        store.put(cell(0), result(0.25))
        assert store.results() == {cell(0).key: CellResult({"accuracy": 0.25, "nothing": None}, 0.5)}
        assert store.arrays(cell(0))["removed"].tolist() == [[1, 2], [3, 70_000]]
        assert store.arrays(cell(1)) == {}
        store.put(cell(1), CellResult({"accuracy": 0.5}))
        assert store.computed() == {cell(0).key, cell(1).key}
        assert store.computed(with_arrays=True) == {cell(0).key}


def test_results_in_the_file_take_precedence_over_committed_ones(tmp_path: Path) -> None:
    base = {cell(0).key: CellResult({"accuracy": 0.1}, 1.0), cell(1).key: CellResult({"accuracy": 0.2}, 1.0)}
    with Store(tmp_path, base) as store:
        store.put(cell(1), result(0.9))
        assert store.results()[cell(0).key].values["accuracy"] == 0.1
        assert store.results()[cell(1).key].values["accuracy"] == 0.9
        assert cell(0).key not in store.computed(with_arrays=True)
        assert store.claim(cell(0)), "its numbers are available, but no arrays"


def _write_many(folder: Path) -> None:
    with Store(folder) as store:
        for seed in range(40):
            if store.claim(cell(seed)):
                store.put(cell(seed), result(os.getpid()))


def test_two_processes_share_the_work_and_nothing_is_done_twice(tmp_path: Path) -> None:
    with Store(tmp_path):
        pass  # creates the file
    both = [forked(_write_many, tmp_path) for _ in range(2)]
    for process in both:
        process.join(60)
        assert process.exitcode == 0
    with Store(tmp_path) as store:
        assert len(store.computed()) == 40
        writers = {one.values["accuracy"] for one in store.results().values()}
        assert writers <= {process.pid for process in both}
        assert store.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.database.execute("SELECT COUNT(*) FROM leases").fetchone() == (0,)


def _write_forever(folder: Path) -> None:
    with Store(folder) as store:
        store.claim(cell(-1))
        seed = 0
        while True:
            store.put(cell(seed), result(0.5))
            seed += 1


def test_a_killed_process_leaves_complete_results_and_releases_its_claims(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        process = forked(_write_forever, tmp_path)
        deadline = time.monotonic() + 60
        while len(store.computed()) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not store.claim(cell(-1)), "another process is computing it"
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert store.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done = store.computed()
        assert len(done) >= 5
        assert all(len(store.arrays(cell(seed))["removed"]) == 2 for seed in range(len(done)))
        assert store.claim(cell(-1)), "its process is dead"


def test_a_claim_of_another_machine_counts_until_it_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(socket, "gethostname", lambda: "elsewhere")
            assert store.claim(cell(0))
        assert not store.claim(cell(0))
        monkeypatch.setattr(time, "time", lambda: 4e9)
        assert store.claim(cell(0))


def test_claims_are_renewed_and_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        assert store.claim(cell(0))
        assert store.claim(cell(1))
        monkeypatch.setattr(store_module, "LEASE", 10**6)
        store.renew()
        assert store.database.execute("SELECT MIN(until) FROM leases").fetchone()[0] > time.time() + 10**5
        store.release(cell(0))
        assert store.database.execute("SELECT key FROM leases").fetchall() == [(cell(1).key,)]
        store.release()
        assert store.database.execute("SELECT key FROM leases").fetchall() == []


def test_an_unusable_store_is_reported(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as newer:
        newer.execute("PRAGMA user_version=99")
    newer.close()
    with pytest.raises(InputError, match="has format 99, not 1"):
        Store(tmp_path)
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / FILE).write_text("not a database, but long enough to look at it twice" * 50)
    with pytest.raises(InputError, match="can't be used: file is not a database"):
        Store(tmp_path / "text")
    with pytest.raises(InputError, match="can't be used: Not a directory"):
        Store(tmp_path / FILE / "below")


def test_the_default_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOCUSEDCLEANER_STORE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("FOCUSEDCLEANER_STORE")
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    assert default_folder() == tmp_path / "cache" / "experiments"


def test_a_store_of_an_earlier_version_is_resumed(tmp_path: Path) -> None:
    """Earlier versions also kept failures in the file."""
    with Store(tmp_path) as store:
        store.put(cell(0), result(0.25))
        store.database.execute("CREATE TABLE failures (key TEXT PRIMARY KEY, cell TEXT NOT NULL, error TEXT NOT NULL)")
        store.database.execute("INSERT INTO failures VALUES (?, ?, ?)", (cell(1).key, cell(1).label, "out of luck"))
    with Store(tmp_path) as store:
        assert store.computed() == {cell(0).key}
        assert store.claim(cell(1))
        store.put(cell(1), result(0.5))
        assert store.results()[cell(1).key].values["accuracy"] == 0.5


def test_result_files_are_sorted_and_read_back(tmp_path: Path) -> None:
    results = {cell(seed).key: CellResult({"esr": 0.5 + seed, "removed": 7, "cr": None}, 1.25) for seed in (2, 0, 1)}
    (tmp_path / "old.csv").write_text("key,cell,seconds\n")
    others = {"f" * 24: CellResult({"esr": 1.0}, 1.0)}
    assert write_csv([cell(seed) for seed in range(5)], {**results, **others}, tmp_path) == 3
    (path,) = tmp_path.iterdir()
    assert path.name == "accuracy-synthetic-100.csv"
    assert read_csv(path) == results
    labels = [line.split(",", 1)[1] for line in path.read_text().splitlines()[1:]]
    assert labels == sorted(labels)


def test_committed_results_belong_to_cells_and_are_exported_byte_for_byte(tmp_path: Path) -> None:
    cells = schedule(catalogue.load(name) for name in catalogue.names())
    results = committed_results()
    assert set(results) <= {one.key for one in cells}, "run: focusedcleaner reproduce --all --page --export"
    assert write_csv(cells, results, tmp_path) == len(results)
    exported = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert exported == {path.name: path.read_bytes() for path in COMMITTED.iterdir()}
    assert sum(map(len, exported.values())) < 2_000_000

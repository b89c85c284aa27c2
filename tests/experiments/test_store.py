"""The store: whole results, shared by runners, whatever happens to them."""

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
from focusedcleaner.experiments import store as store_module
from focusedcleaner.experiments.cells import Accuracy, Poison, Source
from focusedcleaner.experiments.compute import Outcome
from focusedcleaner.experiments.store import FILE, CellResult, Store, default_folder

SMALL = Source("synthetic-100", "random 0")


def cell(seed: int) -> Accuracy:
    return Accuracy(Poison(SMALL), "gcn", seed=seed)


def result(value: float) -> Outcome:
    return Outcome({"accuracy": value, "nothing": None}, {"removed": np.array([[1, 2], [3, 70_000]])}, 0.5)


def forked(work: Callable[[Path], None], folder: Path) -> BaseProcess:
    process = get_context("fork").Process(target=work, args=(folder,))
    process.start()
    return process


def test_what_is_put_comes_back(tmp_path: Path) -> None:
    with Store(tmp_path / "new" / "store") as store:
        assert store.get(cell(0)) is None
        store.put(cell(0), result(0.25))
        assert store.get(cell(0)) == CellResult({"accuracy": 0.25, "nothing": None}, 0.5)
        assert store.arrays(cell(0))["removed"].tolist() == [[1, 2], [3, 70_000]]
        assert store.arrays(cell(1)) == {}
        assert store.known().keys() == store.computed() == store.keys_with_arrays() == {cell(0).key}


def test_what_the_package_brings_lies_below(tmp_path: Path) -> None:
    base = {cell(0).key: CellResult({"accuracy": 0.1}, 1.0), cell(1).key: CellResult({"accuracy": 0.2}, 1.0)}
    with Store(tmp_path, base) as store:
        store.put(cell(1), result(0.9))
        assert store.known()[cell(0).key].values["accuracy"] == 0.1
        assert store.known()[cell(1).key].values["accuracy"] == 0.9
        assert cell(0).key not in store.keys_with_arrays()
        assert store.claim(cell(0)), "its numbers are known, but nothing can be built on them"


def test_a_failure_is_kept_until_it_is_mended(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        assert store.claim(cell(0))
        store.fail(cell(0), "out of luck")
        assert store.failures() == {cell(0).key: "out of luck"}
        assert store.claim(cell(0))
        store.put(cell(0), result(0.5))
        assert store.failures() == {}


def _write_many(folder: Path) -> None:
    with Store(folder) as store:
        for seed in range(40):
            if store.claim(cell(seed)):
                store.put(cell(seed), result(os.getpid()))


def test_two_processes_share_the_work_and_none_is_done_twice(tmp_path: Path) -> None:
    Store(tmp_path).open().close()
    both = [forked(_write_many, tmp_path) for _ in range(2)]
    for process in both:
        process.join(60)
        assert process.exitcode == 0
    with Store(tmp_path) as store:
        assert len(store.computed()) == 40
        writers = {known.values["accuracy"] for known in store.known().values()}
        assert writers <= {process.pid for process in both}
        assert store.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.database.execute("SELECT COUNT(*) FROM leases").fetchone() == (0,)


def _write_for_ever(folder: Path) -> None:
    with Store(folder) as store:
        store.claim(cell(-1))
        seed = 0
        while True:
            store.put(cell(seed), result(0.5))
            seed += 1


def test_a_process_that_is_killed_leaves_whole_results_and_its_claims_to_others(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        process = forked(_write_for_ever, tmp_path)
        deadline = time.monotonic() + 60
        while len(store.computed()) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not store.claim(cell(-1)), "someone is at it"
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert store.database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        done = store.computed()
        assert len(done) >= 5
        assert all(len(store.arrays(cell(seed))["removed"]) == 2 for seed in range(len(done)))
        assert store.claim(cell(-1)), "who claimed it is dead"


def test_another_machines_claim_counts_until_it_expires(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(socket, "gethostname", lambda: "elsewhere")
            assert store.claim(cell(0))
        assert not store.claim(cell(0))
        monkeypatch.setattr(time, "time", lambda: 4e9)
        assert store.claim(cell(0))


def test_a_claim_is_renewed_and_given_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(tmp_path) as store:
        assert store.claim(cell(0))
        assert store.claim(cell(1))
        monkeypatch.setattr(store_module, "LEASE", 10**6)
        store.renew()
        assert store.database.execute("SELECT MIN(until) FROM leases").fetchone()[0] > time.time() + 10**5
        store.release([cell(0)])
        assert store.database.execute("SELECT key FROM leases").fetchall() == [(cell(1).key,)]
        store.release()
        assert store.database.execute("SELECT key FROM leases").fetchall() == []


def test_a_store_that_can_not_be_used_is_told(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE) as newer:
        newer.execute("PRAGMA user_version=99")
    newer.close()
    with pytest.raises(InputError, match="is a store of format 99, not 1"):
        Store(tmp_path).open()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / FILE).write_text("not a database, but long enough to look at it twice" * 50)
    with pytest.raises(InputError, match="can't be used: file is not a database"):
        Store(tmp_path / "text").open()
    with pytest.raises(InputError, match="can't be used: Not a directory"):
        Store(tmp_path / FILE / "below").open()
    with pytest.raises(InputError, match="is not open"):
        Store(tmp_path / "new").computed()


def test_where_the_store_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOCUSEDCLEANER_STORE", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.delenv("FOCUSEDCLEANER_STORE")
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    assert default_folder() == tmp_path / "cache" / "experiments"

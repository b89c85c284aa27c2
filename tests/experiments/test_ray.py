"""The same cells on a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.engines import Inline
from focusedcleaner.experiments.runner import Runner
from focusedcleaner.experiments.store import Store
from tests.experiments.test_runner import CELLS

HERE = Path(__file__).parent


def test_two_nodes_give_the_same_results_also_when_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    command = [sys.executable, str(HERE / "ray_cluster.py"), str(tmp_path / "cluster")]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["slots"] == 2
    assert answer["killed"]
    assert answer["failed"] == {}
    with Store(tmp_path / "here") as store:
        Runner(store, Inline()).run(CELLS)
        assert answer["values"] == {key: dict(known.values) for key, known in store.known().items()}


@pytest.mark.parametrize(
    ("address", "message"),
    [("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: Connection refused"), ("somewhere", "--address is host:port")],
)
def test_a_cluster_that_is_not_there_is_told_at_once(address: str, message: str) -> None:
    from focusedcleaner.experiments.engines.cluster import check_reachable

    with pytest.raises(InputError, match=message):
        check_reachable(address)

"""The same cells on a cluster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from focusedcleaner.experiments.engines import Engine
from focusedcleaner.experiments.runner import Runner
from focusedcleaner.experiments.store import Store
from tests.experiments.test_runner import CELLS

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def test_two_nodes_give_the_same_results_also_when_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    command = [sys.executable, str(HERE / "ray_cluster.py"), str(tmp_path / "cluster")]
    path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, timeout=400, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    answer = json.loads(done.stdout.splitlines()[-1])
    assert answer["slots"] == 2
    assert answer["killed"]
    assert answer["failed"] == {}
    with Store(tmp_path / "here") as store:
        Runner(store, Engine()).run(CELLS)
        assert answer["values"] == {key: dict(one.values) for key, one in store.results().items()}

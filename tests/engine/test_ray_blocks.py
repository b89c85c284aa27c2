"""Blocks on a Ray cluster: the same digits as here, whatever is lost meanwhile."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from focusedcleaner import adjacency_rows
from focusedcleaner.edge_features import extractor
from focusedcleaner.engine.ray_blocks import ray_executor
from focusedcleaner.errors import InputError
from focusedcleaner.io.folder import open_folder
from focusedcleaner.io.folder_writer import write_folder
from tests.engine.ray_cases import BLOCK_ENTRIES, DEFAULT, METHODS, PAIRS, cleaned, graph_of_many_blocks, outcome

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two copies of a graph folder, one of which may be altered."""
    folder = tmp_path_factory.mktemp("ray")
    write_folder(folder / "graph", {}, graph_of_many_blocks())
    shutil.copytree(folder / "graph", folder / "copy")
    return folder


@pytest.fixture(scope="module")
def answers(folder: Path) -> dict[str, Any]:
    """What happened on the cluster."""
    command = [sys.executable, str(HERE / "ray_two_nodes.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, env=environment(), check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) == 1, "Ray prints nothing"
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.fixture(scope="module")
def here(folder: Path) -> dict[str, Any]:
    """The same, computed in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adjacency_rows, "BLOCK_ENTRIES", BLOCK_ENTRIES)
        patch.setattr(extractor, "PAIRS", PAIRS)
        graphs = {"folder": open_folder(folder / "graph"), "memory": graph_of_many_blocks()}
        assert len(graphs["memory"].rows.starts) > 10
        found = {f"{m} {kind}": outcome(cleaned(m, graph)) for m in METHODS for kind, graph in graphs.items()}
        return {**found, DEFAULT: outcome(cleaned(DEFAULT, graphs["folder"]))}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("workers", "where"), [(1, "folder"), (3, "folder"), (3, "memory")])
def test_any_number_of_workers_gives_the_same_digits(
    method: str, workers: int, where: str, answers: dict[str, Any], here: dict[str, Any]
) -> None:
    assert answers[f"{method} {workers} {where}"] == here[f"{method} {where}"]


def test_the_default_has_the_same_digits(answers: dict[str, Any], here: dict[str, Any]) -> None:
    assert len(here[DEFAULT][0]) == 40
    assert answers[DEFAULT] == here[DEFAULT]


def test_a_killed_worker_costs_no_digit(answers: dict[str, Any], here: dict[str, Any]) -> None:
    assert answers["worker"] == here["cld folder"]


def test_a_killed_node_costs_no_digit(answers: dict[str, Any], here: dict[str, Any]) -> None:
    assert answers["node"] == here["cld folder"]


def test_without_a_cluster_a_run_ends_with_one_line_and_can_be_resumed(
    answers: dict[str, Any], here: dict[str, Any]
) -> None:
    assert answers["cluster"].startswith("the Ray cluster at 127.0.0.1:")
    assert answers["cluster"].endswith("is gone: nothing answers there any more")
    assert answers["checkpoint"]
    assert answers["resumed"] == here["cld folder"]


def test_tasks_go_to_any_worker_and_come_back_in_order(answers: dict[str, Any]) -> None:
    tasks = answers["tasks"]
    assert tasks["in order"] == [0, 10, 20, 30, 40, 50]
    assert tasks["processes"] == 3
    assert tasks["always dying"].startswith("a Ray worker was lost 2 times")
    assert tasks["error"].startswith("task")


def test_a_worker_that_finds_another_folder_says_where(answers: dict[str, Any]) -> None:
    host = os.uname().nodename
    altered, missing = (answers["folder"][name] for name in ("altered", "missing"))
    assert altered.startswith(f"node {host}: ")
    assert altered.endswith("copy: indices.npy was altered: block 1 of 1 is not as it was written")
    assert missing.startswith(f"node {host}: ")
    assert "copy: " in missing


def test_a_cluster_that_does_not_fit_is_refused(answers: dict[str, Any]) -> None:
    assert "ersion mismatch" in answers["version"]
    assert answers["too many"] == "the Ray cluster has 4 cores, too few for 5 workers"


def test_workers_end_with_the_run(answers: dict[str, Any]) -> None:
    assert answers["workers left"] == 0


@pytest.mark.parametrize("workers", [0, -1])
def test_the_number_of_workers_is_checked_first(workers: int) -> None:
    with pytest.raises(InputError, match="at least 1"), ray_executor(workers=workers):
        pass


STARTED = """
import sys, time
from focusedcleaner.edge_features import extractor
from focusedcleaner.engine.ray_blocks import ray_executor

with ray_executor(workers=1) as executor:
    print("started", flush=True)
    executor.map(time.sleep, [600])
"""


def test_ctrl_c_leaves_no_process_behind() -> None:
    command = [sys.executable, "-c", STARTED]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment(), start_new_session=True) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"started\n"
        time.sleep(0.5)
        started = psutil.Process(driver.pid).children(recursive=True)
        assert any(child.name().startswith("ray::BlockWorker") for child in started)
        os.killpg(driver.pid, signal.SIGINT)
        assert driver.wait(120) != 0
    _, alive = psutil.wait_procs(started, timeout=60)
    assert [child.name() for child in alive if child.status() != psutil.STATUS_ZOMBIE] == []

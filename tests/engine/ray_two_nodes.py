"""Sanitize a small graph on a cluster of two nodes on this machine, and lose workers, a node and the cluster meanwhile.

test_ray_blocks.py runs this script in a separate process, since Ray starts threads and processes that pytest should not
own. It prints what happened as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # read when ray is imported

import ray
from ray.cluster_utils import Cluster

from focusedcleaner import adjacency_rows
from focusedcleaner.edge_features import extractor
from focusedcleaner.engine import ray_blocks
from focusedcleaner.engine.parallel import Executor
from focusedcleaner.engine.ray_blocks import ray_executor
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.folder import open_folder
from tests.engine.ray_cases import BLOCK_ENTRIES, DEFAULT, METHODS, PAIRS, cleaned, graph_of_many_blocks, outcome

NODE = {"num_cpus": 2, "object_store_memory": 100 * 2**20, "include_dashboard": False, "node_ip_address": "127.0.0.1"}


def workers() -> list[psutil.Process]:
    """The processes of this cluster that hold blocks."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.name().startswith("ray::BlockWorker")]


def once(action: Callable[[], None]) -> Callable[..., None]:
    """A progress callback that acts when the first edges have been removed."""
    done: list[bool] = []

    def progress(count: int, total: int, stage: str = "") -> None:
        if count and not done:
            done.append(True)
            action()

    return progress


def kill_one_worker() -> None:
    os.kill(workers()[0].pid, signal.SIGKILL)


def kill_cluster() -> None:
    for child in psutil.Process().children(recursive=True):
        if child.name() in ("gcs_server", "raylet"):
            child.kill()


def die_once(number: int, flag: Path) -> int:
    """A task whose first worker dies."""
    if number == 2 and not flag.exists():
        flag.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return 10 * number


def die(number: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def whoami(number: int) -> int:
    time.sleep(0.2)
    return os.getpid()


def error_of(action: Callable[[], Any]) -> str:
    try:
        action()
    except InputError as error:
        return str(error)
    return "no error"


def tasks(executor: Executor, folder: Path) -> dict[str, Any]:
    retries, ray_blocks.RETRIES = ray_blocks.RETRIES, 1
    try:
        return {
            "in order": executor.map(die_once, list(range(6)), folder / "flag"),
            "processes": len(set(executor.map(whoami, list(range(6))))),
            "always dying": error_of(lambda: executor.map(die, [0, 1])),
            "error": error_of(lambda: executor.map(refuse, [0, 1])),
        }
    finally:
        ray_blocks.RETRIES = retries


def refuse(number: int) -> None:
    raise InputError(f"task {number} is refused")


def altered(executor: Executor, folder: Path) -> dict[str, str]:
    """What is said where a worker finds another folder than the driver opened."""
    answers = {}
    graph = open_folder(folder)
    file = folder / "indices.npy"
    content = file.read_bytes()
    file.write_bytes(content[:-4] + bytes(4))
    answers["altered"] = error_of(lambda: cleaned("agreement", graph, executor=executor))
    file.write_bytes(content)
    folder.rename(folder.with_name("elsewhere"))
    answers["missing"] = error_of(lambda: cleaned("agreement", graph, executor=executor))
    return answers


def three_workers(nodes: Cluster, second: Any, stored: Graph, folder: Path) -> dict[str, Any]:
    """All methods on both kinds of graphs; a killed worker, tasks, folders that the driver did not open, a lost one."""
    with ray_executor(nodes.address, workers=3) as executor:
        answers: dict[str, Any] = {
            **outcomes("3 folder", stored, executor),
            **outcomes("3 memory", graph_of_many_blocks(), executor),
            DEFAULT: outcome(cleaned(DEFAULT, stored, executor=executor)),
            "worker": outcome(cleaned("cld", stored, executor=executor, progress=once(kill_one_worker))),
            "tasks": tasks(executor, folder),
            "folder": altered(executor, folder / "copy"),
        }
        kill = once(lambda: nodes.remove_node(second, allow_graceful=False))
        answers["node"] = outcome(cleaned("cld", stored, executor=executor, progress=kill))
    _, left = psutil.wait_procs(workers(), timeout=60)
    return {**answers, "workers left": len(left)}


def a_lost_cluster(address: str, stored: Graph, checkpoint: Path) -> dict[str, Any]:
    with ray_executor(address, workers=1) as executor:
        answers = outcomes("1 folder", stored, executor)
        run = {"executor": executor, "progress": once(kill_cluster), "checkpoint": checkpoint}
        answers["cluster"] = error_of(lambda: cleaned("cld", stored, **run))
    answers["checkpoint"] = checkpoint.exists()
    answers["resumed"] = outcome(cleaned("cld", stored, checkpoint=checkpoint))
    return answers


def outcomes(where: str, graph: Graph, executor: Executor) -> dict[str, Any]:
    return {f"{method} {where}": outcome(cleaned(method, graph, executor=executor)) for method in METHODS}


def wrong_version(address: str) -> str:
    version, ray.__version__ = ray.__version__, "2.0.0"
    try:
        return error_of(lambda: ray_executor(address).__enter__())
    finally:
        ray.__version__ = version


def main(folder: Path) -> None:
    adjacency_rows.BLOCK_ENTRIES, extractor.PAIRS = BLOCK_ENTRIES, PAIRS
    stored = open_folder(folder / "graph")
    nodes = Cluster(initialize_head=True, head_node_args=NODE)
    second = nodes.add_node(**NODE)
    try:
        answers: dict[str, Any] = {
            "version": wrong_version(nodes.address),
            "too many": error_of(lambda: ray_executor(nodes.address, workers=5).__enter__()),
            **three_workers(nodes, second, stored, folder),
            **a_lost_cluster(nodes.address, stored, folder / "checkpoint.npz"),
        }
    finally:
        nodes.shutdown()
    sys.stdout.write(json.dumps(answers) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Compute a few cells on a cluster of two nodes on this machine, and kill one of its workers meanwhile.

test_ray.py runs this script in a separate process, since Ray starts threads and processes that pytest should not own.
It prints the results as JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import psutil

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # read when ray is imported

from ray.cluster_utils import Cluster as TwoNodes

from focusedcleaner.experiments.engines import RayCluster
from focusedcleaner.experiments.runner import Runner
from focusedcleaner.experiments.store import Store
from tests.experiments.test_runner import CELLS

NODE = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False, "node_ip_address": "127.0.0.1"}


def workers() -> list[psutil.Process]:
    """The workers of this cluster that are computing a task."""
    children = psutil.Process().children(recursive=True)
    return [child for child in children if child.name().startswith("ray::") and "IDLE" not in child.name()]


def main(folder: Path) -> None:
    nodes = TwoNodes(initialize_head=True, head_node_args=NODE)
    nodes.add_node(**NODE)
    killed: list[int] = []

    def kill_one(done: int, total: int, seconds_left: float) -> None:
        if not killed and (busy := workers()):
            killed.append(busy[0].pid)
            os.kill(busy[0].pid, signal.SIGKILL)

    try:
        engine = RayCluster(nodes.address)
        slots = engine.slots
        with Store(folder) as store:
            report = Runner(store, engine, on_progress=kill_one).run(CELLS)
            values = {key: dict(one.values) for key, one in store.results().items()}
    finally:
        nodes.shutdown()
    sys.stdout.write(json.dumps({"slots": slots, "killed": killed, "failed": report.failed, "values": values}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

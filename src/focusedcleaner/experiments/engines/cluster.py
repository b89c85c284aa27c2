"""The engine of a cluster: the same tasks, computed by Ray on any number of machines."""

from __future__ import annotations

import logging
import os
import socket
from typing import Any

from focusedcleaner.errors import InputError, MissingExtra
from focusedcleaner.experiments.compute import Failure, Task, run
from focusedcleaner.experiments.engines.base import DIED, RETRIES, Engine, Finished

LOOPBACK = "127.0.0.1"
STAY_ON_LOOPBACK = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's variable: where it is 0, a loopback address is taken as it is, not replaced by that of the network card."""
OBJECT_STORE = 200 * 2**20
"""Bytes for graphs on their way, in a cluster of this machine alone."""
PATIENCE = 5.0
"""Seconds that a cluster's address may take to answer."""


class Cluster(Engine):
    """Tasks on a Ray cluster. Each carries all that it needs, so that machines share no disk.

    Args:
        address: ``host:port`` of a cluster; without one, Ray starts on this machine, reachable from it alone.
        workers: tasks at a time; the cluster's cores where it is left out.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        self._ray = _connected(address, workers)
        self._slots = workers or max(1, int(self._ray.cluster_resources().get("CPU", 1)))
        self._compute = self._ray.remote(num_cpus=1, max_retries=RETRIES)(run)
        self._under_way: dict[Any, str] = {}

    @property
    def slots(self) -> int:
        return self._slots

    def start(self, task: Task) -> None:
        self._under_way[self._compute.remote(task)] = task.cell.key

    def finished(self, timeout: float) -> list[Finished]:
        if not self._under_way:
            return []
        ready, _ = self._ray.wait(list(self._under_way), num_returns=1, timeout=timeout)
        return [(self._under_way.pop(one), self._result(one)) for one in ready]

    def close(self) -> None:
        self._under_way.clear()
        self._ray.shutdown()

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return Failure(f"{DIED} on the cluster: {' '.join(str(error).split())[:200]}")


def _connected(address: str | None, workers: int | None) -> Any:
    """Ray, started or joined; it sends nothing to anyone else."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address is None or address.startswith((LOOPBACK, "localhost")):
        os.environ[STAY_ON_LOOPBACK] = "0"
    try:
        import ray
    except ImportError:
        raise MissingExtra("the engine ray", "ray") from None
    if address is not None:
        check_reachable(address)
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    try:
        if address is None:
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE,
                _node_ip_address=LOOPBACK,
                **quiet,
            )
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        where = "on this machine" if address is None else f"at {address}"
        raise InputError(f"no Ray cluster {where}: {' '.join(str(error).split())[:200]}") from None
    return ray


def check_reachable(address: str) -> None:
    """Tell a wrong address at once: Ray itself tries for a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--address is host:port, not {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise InputError(f"no Ray cluster at {address}: {error.strerror or error}") from None

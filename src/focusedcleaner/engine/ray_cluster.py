"""Starting or joining a Ray cluster: quietly, and with one line where that fails."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from focusedcleaner.errors import InputError, MissingExtra

LOOPBACK = "127.0.0.1"
CONNECT_SECONDS = 5.0
"""How long a cluster may take to answer."""
LOST_SECONDS = 10.0
"""How long a cluster may be unreachable before it is given up."""
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The beginning of a gRPC connection: the HTTP/2 preface, and empty settings."""
_SETTINGS = 4
"""The type of the first frame of an answer."""


def connect_ray(address: str | None, workers: int | None, **options: Any) -> Any:
    """Start Ray on this machine, or join the cluster at ``host:port``; return the package.

    Handlers of signals stay what they were, and Ray prints nothing.

    Args:
        address: None starts Ray on this machine, reachable from this machine only.
        workers: number of cores of a started cluster.
        options: further ones of ``ray.init`` for a started cluster.

    Raises:
        InputError: there is no cluster, it does not answer, or it has another version; the extra is missing.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address is None or address.startswith((LOOPBACK, "localhost")):
        # Ray then keeps a loopback address, instead of replacing it by that of the network card.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    if address is not None:
        check_reachable(address)
    try:
        import ray
    except ImportError:
        raise MissingExtra("the engine ray", "ray") from None
    quiet: dict[str, Any] = {"log_to_driver": False, "configure_logging": False}
    logging.getLogger("ray").setLevel(logging.ERROR)
    if address is None:
        local = {"num_cpus": workers, "include_dashboard": False, "_node_ip_address": LOOPBACK}
        quiet |= {**local, **options}
    try:
        with _same_signal_handlers():
            ray.init(address=address or "local", **quiet)
    except (OSError, RuntimeError, ValueError, AssertionError, ray.exceptions.RayError) as error:
        where = "on this machine" if address is None else f"at {address}"
        raise InputError(f"no Ray cluster {where}: {' '.join(str(error).split())[:200]}") from None
    return ray


@contextmanager
def ray_cluster(address: str | None, workers: int | None) -> Iterator[tuple[Any, Lifelines]]:
    """Yield Ray and its `Lifelines`; at the end, stop the cluster or leave it, as it was begun.

    A cluster that this process has joined before is used, and not left.
    """
    loaded: Any = sys.modules.get("ray")
    joined = loaded is not None and loaded.is_initialized()
    ray = loaded if joined else connect_ray(address, workers)
    lifelines = Lifelines(ray)
    try:
        with _no_messages():
            yield ray, lifelines
    finally:
        lifelines.close()
        if not joined:
            ray.shutdown()


class Lifelines:
    """Connections to the two servers that this process can't do without: the cluster's head and its own node's.

    Without the latter, Ray ends the process at the next call, with nothing said: `check` comes first.
    """

    def __init__(self, ray: Any) -> None:
        context = ray.get_runtime_context()
        self.address = context.gcs_address
        node = next(node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
        self._head = _Line(*_host_and_port(self.address))
        self._node = _Line(node["NodeManagerAddress"], int(node["NodeManagerPort"]))

    def check(self) -> None:
        """Raise an `InputError` if the cluster is gone: this machine's node, or the head for `LOST_SECONDS`."""
        end = time.monotonic() + LOST_SECONDS
        while not self._node.holds() or not self._head.holds():
            if time.monotonic() > end or not self._node.holds():
                raise InputError(f"the Ray cluster at {self.address} is gone: nothing answers there any more")
            time.sleep(0.5)

    def close(self) -> None:
        """End the connections."""
        self._head.close()
        self._node.close()


class _Line:
    """A connection to a server, open as long as the server lives; a look at it takes a microsecond."""

    def __init__(self, host: str, port: int) -> None:
        self._server = host, port
        self._socket: socket.socket | None = None

    def holds(self) -> bool:
        """Whether the server lives; it is asked again where it has ended the connection."""
        if self._socket is not None:
            try:
                if self._socket.recv(4096):
                    return True
            except BlockingIOError:
                return True
            except OSError:
                pass
            self.close()
        try:
            self._socket = socket.create_connection(self._server, timeout=CONNECT_SECONDS)
        except OSError:
            return False
        self._socket.setblocking(False)
        return True

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def check_reachable(address: str) -> None:
    """Report a wrong address at once; Ray itself tries for minutes."""
    host, port = _host_and_port(address)
    try:
        with socket.create_connection((host, port), timeout=CONNECT_SECONDS) as connection:
            connection.sendall(_HELLO)
            answer = connection.recv(4)
    except OSError as error:
        raise InputError(f"no Ray cluster at {address}: {error.strerror or error}") from None
    if len(answer) < 4 or answer[3] != _SETTINGS:
        raise InputError(f"no Ray cluster at {address}: another server answers there")


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or "/" in host or not port.isdecimal() or int(port) >= 2**16:
        raise InputError(f"--address must be host:port, not {address!r}")
    return host, int(port)


@contextmanager
def _same_signal_handlers() -> Iterator[None]:
    """Keep the handlers of signals: Ray installs its own, which end the process without saving."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(TypeError):  # a handler that was not installed by Python
                signal.signal(number, handler)


@contextmanager
def _no_messages() -> Iterator[None]:
    """Keep Ray from printing about lost workers and nodes on the standard output, where a result may be printed."""
    module = sys.modules.get("ray._private.worker")
    printing = getattr(module, "print_to_stdstream", None)
    if printing is None:
        yield
        return
    module.__dict__["print_to_stdstream"] = lambda *_, **__: None
    try:
        yield
    finally:
        module.__dict__["print_to_stdstream"] = printing

"""A wrong address is reported in one line, within seconds."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Iterator

import pytest

from focusedcleaner.engine import ray_cluster
from focusedcleaner.engine.ray_blocks import ray_executor
from focusedcleaner.engine.ray_cluster import _Line, _same_signal_handlers, check_reachable
from focusedcleaner.errors import InputError, MissingExtra


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def address_of(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1: Connection refused"),
        ("somewhere", "--address must be host:port, not 'somewhere'"),
        ("ray://127.0.0.1:1", "--address must be host:port"),
        ("127.0.0.1:99999", "--address must be host:port"),
    ],
)
def test_an_unreachable_cluster_is_reported_at_once(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_reachable(address)
    with pytest.raises(InputError, match=message), ray_executor(address):
        pass


def test_a_server_that_says_nothing_is_no_cluster(server: socket.socket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_cluster, "CONNECT_SECONDS", 0.1)
    with pytest.raises(InputError, match=f"no Ray cluster at {address_of(server)}: timed out"):
        check_reachable(address_of(server))


def test_another_server_is_no_cluster(server: socket.socket) -> None:
    def answer() -> None:
        with server.accept()[0] as connection:
            connection.recv(100)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(InputError, match="another server answers there"):
        check_reachable(address_of(server))
    thread.join()


def test_without_the_extra_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install 'focusedcleaner\[ray\]'"), ray_executor():
        pass


def test_a_lifeline_holds_as_long_as_the_server_lives(server: socket.socket) -> None:
    line = _Line(*server.getsockname())
    assert line.holds()
    first, _ = server.accept()
    assert line.holds()
    first.close()  # the server ends an idle connection, and answers again
    assert line.holds()
    second, _ = server.accept()
    second.close()
    server.close()
    assert not line.holds()
    line.close()


def test_rays_signal_handlers_do_not_stay() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with _same_signal_handlers():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    assert signal.getsignal(signal.SIGTERM) == before

"""The page on a port of this machine, and of no other."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from focusedcleaner.errors import InputError
from focusedcleaner.review.app import application
from focusedcleaner.review.page import Review

HOST = "127.0.0.1"


def listening(port: int) -> socket.socket:
    """A socket on this machine's own address; port 0 takes any that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise InputError(f"port {port} can't be used ({error.strerror}): choose another, or 0 for any") from None
    return listener


def serve(
    review: Review,
    listener: socket.socket,
    *,
    reviewer: str,
    title: str,
    browser: bool,
    ready: Callable[[str], None],
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        review: the run under review.
        listener: from `listening`.
        reviewer: who reviews where nobody has said a name.
        title: what the run is called.
        browser: whether to open one.
        ready: told the address, once requests are taken.
    """
    port = listener.getsockname()[1]
    address = f"http://{HOST}:{port}/"
    app = application(review, port=port, reviewer=reviewer, title=title)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )

    def taking_requests() -> None:
        ready(address)
        if browser:
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

    try:
        _Server(config, taking_requests).run(sockets=[listener])
    except KeyboardInterrupt:
        # Uvicorn has ended in good order, and raises the signal that ended it.
        return


class _Server(uvicorn.Server):
    """Says when it takes requests; from then on Ctrl-C ends it in good order."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

"""A web server on this machine, for downloads in tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Answers requests without a word on standard error."""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(handler: type[QuietHandler]) -> Iterator[str]:
    """Serve until the end of the block; yields the server's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}"
        finally:
            http.shutdown()
            thread.join()

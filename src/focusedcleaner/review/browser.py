"""Open the review page in a browser without showing its secret to other users."""

from __future__ import annotations

import os
import tempfile
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path

PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Review</title>
<p><a href="{address}">Open the review</a></p>
"""


@contextmanager
def open_privately(address: str) -> Iterator[None]:
    """Open an address by way of a file that only this user can read, which is there as long as the block runs.

    Every user of a machine sees the command line of a browser, and with it an address that is opened directly.
    """
    with tempfile.TemporaryDirectory(prefix="focusedcleaner-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "review.html"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            file.write(PAGE.format(address=escape(address)))
        threading.Thread(target=webbrowser.open, args=(path.as_uri(),), daemon=True).start()
        yield

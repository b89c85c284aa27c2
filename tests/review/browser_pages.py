"""The review page in Debian's chromium."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect

from focusedcleaner.review.page import Review
from focusedcleaner.review.server import application, listen
from focusedcleaner.runs import Run
from tests.review.sample_runs import SECRET

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
PATIENCE = 60_000
"""Milliseconds that a busy machine may take."""


@contextmanager
def served(review: Review) -> Iterator[str]:
    """The page on a port of its own, for as long as it is needed."""
    listener = listen(0)
    port = listener.getsockname()[1]
    app = application(review, port=port, secret=SECRET, reviewer="ann", title="RUN")
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/?token={quote(SECRET)}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def started(run: Run) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command itself, as a process of its own."""
    words = ["-c", "from focusedcleaner.cli import main; main()", "review", str(run.path), "--no-browser", "--json"]
    with subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout
        try:
            yield server, json.loads(server.stdout.readline())["address"]
        finally:
            server.kill()


@contextmanager
def looking(browser: Browser, **options: Any) -> Iterator[Page]:
    """A page in a browser of its own, in which nothing goes wrong unseen."""
    context: BrowserContext = browser.new_context(viewport={"width": 1360, "height": 900}, **options)
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    page = context.new_page()
    wrong: list[str] = []

    def dismissed(dialog: Dialog) -> None:
        wrong.append(dialog.message)
        dialog.dismiss()

    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("dialog", dismissed)
    page.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    yield page
    context.close()
    assert wrong == []


def at(page: Page, edge: int) -> None:
    expect(page.locator("#edge-name")).to_contain_text(re.compile(rf"^\s*Edge {edge}\b"))


def delivered(page: Page) -> None:
    """Wait until the server has confirmed every verdict: the page shows the next edge before that."""
    page.wait_for_function("() => !document.body.classList.contains('waiting') && !outbox.length && !delivery")


def press(page: Page, key: str, told: str) -> None:
    page.keyboard.press(key)
    expect(page.locator("#status")).to_contain_text(told)

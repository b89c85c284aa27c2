"""Fixtures for the review page: a finished run, the page for a copy of it, and a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.testclient import TestClient

from focusedcleaner.review.classes import Classes, all_classes
from focusedcleaner.review.page import Review
from focusedcleaner.runs import Run, read_run
from tests.review.browser_pages import CHROMIUM, PATIENCE, QUIET, looking, served
from tests.review.sample_runs import a_client, a_review, a_run


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 40 edges."""
    return a_run(tmp_path_factory.mktemp("runs") / "RUN").path


@pytest.fixture(scope="session")
def classes(finished: Path) -> Classes:
    return all_classes(read_run(finished).graph)


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Run:
    """A copy of it, to be reviewed."""
    shutil.copytree(finished, tmp_path / "RUN")
    return read_run(tmp_path / "RUN")


@pytest.fixture
def review(run: Run, classes: Classes) -> Iterator[Review]:
    with a_review(run, classes) as review:
        yield review


@pytest.fixture
def client(review: Review) -> Iterator[TestClient]:
    with a_client(review) as client:
        yield client


# A browser -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One for each file of tests: while it is open, playwright's event loop has the main thread."""
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def home(review: Review) -> Iterator[str]:
    with served(review) as address:
        yield address


@pytest.fixture
def page(browser: Browser, home: str) -> Iterator[Page]:
    with looking(browser) as page:
        page.goto(home)
        yield page

"""What the tests of several files need: a small graph on disk, and the command line."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

from focusedcleaner.api import register_sanitizer
from focusedcleaner.cli.app import app
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS
from focusedcleaner.sanitizers import Gasoline, Sanitation
from tests.sanitizers.helpers import Judge

pytest_plugins = ["tests.review.fixtures"]

Command = Callable[..., Result]

# The same examples in every run, however busy the machine; `--hypothesis-profile=default` explores others.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("repeatable")
# Where the tests run in the background, SIGINT is ignored, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
torch.set_num_threads(1)  # small tensors: threads would only wait for each other


FIGURES = Path(__file__).parents[1] / "benchmarks" / "results" / "reliability"
"""Where the campaign of `make hostile` leaves its figures, a file for each."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--campaign", action="store_true", help="the long forms of tests/hostile and tests/faults")
    parser.addoption("--site", action="store_true", help="the tests of the built documentation")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip the tests that need the real graphs where there are none; leave out what has to be asked for."""
    for option in ("campaign", "site"):
        if not config.getoption(f"--{option}"):
            left_out = {item for item in items if item.get_closest_marker(option)}
            items[:] = [item for item in items if item not in left_out]
            config.hook.pytest_deselected(items=list(left_out))
    if os.environ.get("FOCUSEDCLEANER_DATA"):
        return
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason="FOCUSEDCLEANER_DATA is not set"))


@pytest.fixture(scope="session")
def campaign(request: pytest.FixtureRequest) -> bool:
    """Whether this is the long form, `make hostile`."""
    return bool(request.config.getoption("--campaign"))


@pytest.fixture
def figures(campaign: bool) -> Callable[..., None]:
    """Keep what a campaign counted: ``figures("kill-points", tried=118, mixed=0)``; the short form keeps nothing."""

    def keep(name: str, **counts: float) -> None:
        if campaign:
            FIGURES.mkdir(parents=True, exist_ok=True)
            (FIGURES / f"{name}.json").write_text(f"{json.dumps(counts, indent=1)}\n", encoding="utf-8")

    return keep


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is the current one."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def cli(folder: Path) -> Command:
    """Run a command in an empty folder, as a user would type it."""

    def run(*words: object) -> Result:
        return CliRunner().invoke(app, [os.fspath(word) if isinstance(word, Path) else str(word) for word in words])

    return run


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registries that forget what a test registers, data sets included."""
    monkeypatch.setattr("focusedcleaner.datasets.registered._LOADERS", {})
    for registry in (SANITIZERS, ATTACKS, CLASSIFIERS):
        registry.names()
        monkeypatch.setattr(registry, "_methods", dict(registry._methods))


@pytest.fixture
def judge(registries: None) -> type[Judge]:
    """The sanitizer `Judge`, available by its name."""
    return register_sanitizer(Judge)


@pytest.fixture
def graph() -> Graph:
    """150 nodes, 300 edges, with a split."""
    return synthetic(num_nodes=150, seed=1)


@pytest.fixture
def graph_file(graph: Graph, tmp_path: Path) -> Path:
    path = tmp_path / "graph.npz"
    save_graph(graph, path)
    return path


@pytest.fixture
def flipped(graph: Graph) -> Sanitation:
    """Some edges removed and some added, by nodes with names."""
    named = replace(graph, names=tuple(f"node {number}" for number in range(graph.num_nodes)))
    done = Gasoline(folds=2).sanitize(named, 12)
    removed = graph.edges[np.flatnonzero(graph.degrees[graph.edges].min(1) > 3)[:3]]
    evidence = {name: np.arange(3.0) for name in ("meta_gradient",)}
    return replace(done, removed=removed, scores=np.array([3.0, 2.0, 1.0]), evidence=evidence, budget=15)

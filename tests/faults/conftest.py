"""Folders that the scenarios start from, and the states before and after each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from typer.testing import CliRunner

from focusedcleaner.cli.app import app
from tests.faults.scenarios import SANITIZE, SCENARIOS, Scenario, count_steps, inside, opened_state, prepare


@dataclass(frozen=True)
class Prepared:
    """A scenario with the states that are allowed after a fault."""

    scenario: Scenario
    start: Path
    steps: int
    old: dict[str, str]
    new: dict[str, str]
    places: Iterator[Path]

    def copy(self) -> Path:
        """A fresh copy of the folder that the scenario starts from."""
        return Path(shutil.copytree(self.start, next(self.places)))

    def sample(self, *shares: float) -> list[int]:
        """Some of the steps, 0 the first and 1 the last; a single one of `restore`, which grows forests."""
        shares = shares[:1] if self.scenario.name == "restore" else shares
        return sorted({1 + round(share * (self.steps - 1)) for share in shares})

    def is_allowed(self, found: dict[str, str]) -> bool:
        second = self.scenario.without
        return found in (self.old, self.new, {name: self.new[name] for name in self.new if name not in second})


@pytest.fixture(scope="session")
def _loaded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import in this process what the commands import, once instead of in every child."""
    folder = tmp_path_factory.mktemp("loaded") / "here"
    prepare(SCENARIOS["sanitize"], folder)
    with inside(folder):
        for words in (SANITIZE, ("restore", "RUN", "--limit", "1"), ("review", "RUN", "--export", "verdicts.csv")):
            assert CliRunner().invoke(app, list(words)).exit_code == 0


@pytest.fixture(scope="session", params=SCENARIOS.values(), ids=lambda scenario: scenario.name)
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, _loaded: None) -> Prepared:
    folder = tmp_path_factory.mktemp(request.param.name)
    start, whole = folder / "start", folder / "whole"
    prepare(request.param, start)
    steps = count_steps(request.param, start, whole)
    places = (folder / str(number) for number in count())
    return Prepared(request.param, start, steps, opened_state(start), opened_state(whole), places)

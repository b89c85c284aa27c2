"""Sanitizers that work in rounds, and how they survive an interruption."""

from __future__ import annotations

import math
from abc import abstractmethod
from pathlib import Path
from typing import Protocol

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.checkpoint import Checkpoint
from focusedcleaner.sanitizers.base import Findings, FindingsSoFar, Progress, Sanitizer
from focusedcleaner.sanitizers.journal import Journal, Round

ROUNDS = 80
"""Rounds of the default schedule: the budget is spent in about so many equal parts."""


class Cleaning(Protocol):
    """A sanitation under way on one graph."""

    def repeat(self, journal: Journal) -> None:
        """Do again what the rounds of an earlier run did to the graph."""
        ...

    def round(self, journal: Journal, size: int) -> Round:
        """Choose the next edges, at most ``size`` of them, and change the graph accordingly."""
        ...


class IterativeSanitizer(Sanitizer):
    """A sanitizer that changes some edges, looks again, and so on, until the budget is spent or nothing is left.

    Everything that a round depends on is in the journal, which a checkpoint holds: a run that goes on after an
    interruption comes to the same result.
    """

    @abstractmethod
    def begin(self, graph: Graph, budget: int, seed: int) -> Cleaning:
        """Start on a graph."""

    @abstractmethod
    def per_round(self, budget: int) -> int:
        """How many edges a round changes."""

    def find(
        self, graph: Graph, budget: int | None, *, seed: int, progress: Progress | None, checkpoint: Path | None
    ) -> Findings:
        assert budget is not None
        keeper = Checkpoint(checkpoint, graph=graph.fingerprint(), budget=budget, seed=seed, settings=self.settings())
        journal = Journal.of(keeper.load())
        per_round = self.per_round(budget)
        try:
            cleaning = self.begin(graph, budget, seed)
            cleaning.repeat(journal)
            while journal.spent < budget:
                done = cleaning.round(journal, min(per_round, budget - journal.spent))
                if not done.size:
                    break
                journal = journal.plus(done)
                if progress is not None:
                    progress(journal.spent, budget)
                if keeper.due:
                    keeper.save(journal.arrays())
        except KeyboardInterrupt:
            if journal.rounds:
                keeper.save(journal.arrays())
            raise FindingsSoFar(journal.findings()) from None
        return journal.findings()


def edges_a_round(asked: int | None, budget: int) -> int:
    """How many edges a round changes: as asked, or the budget's share of the default schedule."""
    return asked or math.ceil(budget / ROUNDS)


def check_edges_per_round(asked: int | None) -> None:
    if asked is not None and asked < 1:
        raise InputError(f"edges_per_round must be 1 or above, not {asked}")


def round_seed(seed: int, rounds: int) -> int:
    """A seed for whatever is random in the round after so many others."""
    return int(np.random.SeedSequence([seed, rounds]).generate_state(1)[0])

"""The computation of one cell."""

from __future__ import annotations

import pytest

from focusedcleaner.experiments.cells import Accuracy, Arrays, Cell, CellResult, Poison, Pruning, Sanitation, Source
from focusedcleaner.experiments.compute import make_task, run_task
from focusedcleaner.experiments.graphs import cell_graph, clean_graph

SMALL = Source("synthetic-100", "random 0")


def computed(cell: Cell, arrays: Arrays | None = None) -> CellResult:
    """The result of a cell whose inputs have these arrays."""
    result = run_task(make_task(cell, lambda _: arrays or {}))
    assert not result.error
    return result


def test_nettack_flips_edges_at_each_of_forty_targets() -> None:
    source = Source("synthetic-200", "random 0")
    poison = Poison(source, "nettack", 2)
    outcome = computed(poison.full_run)
    targets, flips = outcome.arrays["targets"], outcome.arrays["flips"]
    clean = clean_graph(source)
    assert len(set(targets.tolist())) == 40
    assert set(targets.tolist()) <= set(clean.split.test.tolist())  # type: ignore[union-attr]
    times = [sum(target in pair for pair in flips.tolist()) for target in targets.tolist()]
    assert min(times) >= 1
    assert len(flips) <= 80
    graph = cell_graph(poison, lambda cell: outcome.arrays)
    assert len(graph.added_edges(clean)) + len(clean.added_edges(graph)) == len(flips)
    accuracy = make_task(Accuracy(poison, "gcn", nodes="targets"), lambda cell: outcome.arrays)
    assert accuracy.targets is targets
    after = computed(accuracy.cell, outcome.arrays).values["accuracy"]
    assert after is not None
    assert after < 0.9, "a GCN got every one of them right on the clean graph"


def test_a_pruning_has_the_precision_it_is_given() -> None:
    poison = Poison(SMALL, "mettack", 0.1)
    made = computed(poison.full_run).arrays
    found = []
    for share, hits in ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0)):
        values = computed(Pruning(poison, share, hits), made).values
        found.append((values["removed"], values["cr"], values["esr"]))
    planted = found[0][0]
    assert found[0] == (planted, 1.0, 1.0)
    assert found[1][0] == planted
    assert found[1][1] == pytest.approx(0.5, abs=0.03)
    assert found[2] == (round(planted / 2), pytest.approx(0.5, abs=0.03), pytest.approx(0.5, abs=0.03))  # type: ignore[operator]
    assert found[3][1:] == (0.0, 0.0)
    assert found[4][0] == 0


def test_an_exception_becomes_an_error() -> None:
    task = make_task(Sanitation(Poison(SMALL), "cld", budget=0.99), lambda cell: {})
    assert "can be removed without isolating a node" in run_task(task).error

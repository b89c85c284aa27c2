"""The computation of one cell, and the graphs that cells start from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.experiments import compute
from focusedcleaner.experiments.cells import (
    Arrays,
    Cell,
    CellResult,
    Source,
    accuracy,
    poison,
    pruning,
    resplit,
    sanitation,
)
from focusedcleaner.experiments.compute import cell_graph, clean_graph, make_task, run_task

SMALL = Source("synthetic-100", "random 0")


def computed(cell: Cell, arrays: Arrays | None = None) -> CellResult:
    """The result of a cell whose inputs have these arrays."""
    result = run_task(make_task(cell, lambda _: arrays or {}))
    assert not result.error
    return result


def test_nettack_flips_edges_at_each_of_forty_targets() -> None:
    source = Source("synthetic-200", "random 0")
    attacked = poison(source, "nettack", 2)
    outcome = computed(attacked.full_run)
    targets, flips = outcome.arrays["targets"], outcome.arrays["flips"]
    clean = clean_graph(source)
    assert len(set(targets.tolist())) == 40
    assert set(targets.tolist()) <= set(clean.split.test.tolist())  # type: ignore[union-attr]
    times = [sum(target in pair for pair in flips.tolist()) for target in targets.tolist()]
    assert min(times) >= 1
    assert len(flips) <= 80
    graph = cell_graph(attacked, lambda cell: outcome.arrays)
    assert len(graph.added_edges(clean)) + len(clean.added_edges(graph)) == len(flips)
    task = make_task(accuracy(attacked, "gcn", nodes="targets"), lambda cell: outcome.arrays)
    assert task.targets is targets
    after = computed(task.cell, outcome.arrays).values["accuracy"]
    assert after is not None
    assert after < 0.9, "a GCN got every one of them right on the clean graph"


def test_a_pruning_has_the_precision_it_is_given() -> None:
    attacked = poison(SMALL, "mettack", 0.1)
    made = computed(attacked.full_run).arrays
    found = []
    for share, hits in ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (1.0, 0.0), (0.0, 1.0)):
        values = computed(pruning(attacked, share, hits), made).values
        found.append((values["removed"], values["cr"], values["esr"]))
    planted = found[0][0]
    assert found[0] == (planted, 1.0, 1.0)
    assert found[1][0] == planted
    assert found[1][1] == pytest.approx(0.5, abs=0.03)
    assert found[2] == (round(planted / 2), pytest.approx(0.5, abs=0.03), pytest.approx(0.5, abs=0.03))  # type: ignore[operator]
    assert found[3][1:] == (0.0, 0.0)
    assert found[4][0] == 0


def test_an_exception_becomes_an_error() -> None:
    task = make_task(sanitation(poison(SMALL), "cld", budget=0.99), lambda cell: {})
    assert "can be removed without isolating a node" in run_task(task).error


@pytest.mark.parametrize("power", [0.05, 0.1, 0.25])
def test_a_smaller_power_is_a_prefix_of_the_full_run(power: float) -> None:
    attacked = poison(SMALL, "mettack", power)
    result = run_task(make_task(attacked.full_run, lambda cell: {}))
    graph = cell_graph(attacked, lambda cell: result.arrays)
    assert graph == attack("mettack").poison(clean_graph(SMALL), power).graph


def test_published_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean_graph.cache_clear()
    monkeypatch.setattr(compute, "_without_split", lambda data: synthetic(num_nodes=100, seed=0, with_split=False))
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(tmp_path))
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(
        InputError, match=r"prognn/cora_prognn_splits\.json is neither in the folder FOCUSEDCLEANER_DATA"
    ):
        clean_graph(Source("cora", "prognn"))
    for name in ("prognn/cora_prognn_splits.json", "authors/cora_splits.json"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text('{"idx_train": [0, 1], "idx_val": [2], "idx_test": [3]}')
    with pytest.raises(InputError, match="is not the published file: its SHA-256 differs"):
        clean_graph(Source("cora", "prognn"))
    with pytest.raises(InputError, match="its git blob id differs"):
        clean_graph(Source("cora"))
    with pytest.raises(InputError, match="there is no split 'mine'"):
        clean_graph(Source("cora", "mine"))
    clean_graph.cache_clear()


def test_a_smaller_budget_is_the_beginning_of_the_methods_own_run() -> None:
    attacked = poison(SMALL, "dice", 0.2)
    flips = computed(attacked).arrays
    quick = (("rounds", 1), ("trees", 10), ("attackers", "dice"), ("attackers_elsewhere", "random"))
    own, small = (sanitation(attacked, "self-attack", budget, quick) for budget in ("auto", 0.05))
    assert small.ranking == own
    assert small.inputs() == (own, attacked)
    alone = computed(small, flips).arrays["removed"]
    shared = run_task(make_task(small, lambda cell: {"removed": np.tile(alone, (3, 1))} if cell == own else flips))
    assert shared.arrays["removed"].tolist() == alone.tolist()
    assert shared.values["esr"] == computed(small, flips).values["esr"]
    ran = computed(own, flips)
    served = run_task(make_task(small, lambda cell: ran.arrays if cell == own else flips))
    assert served.arrays["removed"].tolist() == alone.tolist()


def test_the_defender_may_have_another_split_than_the_attacker() -> None:
    attacked = poison(SMALL, "dice", 0.1)
    flips = computed(attacked).arrays
    other = resplit(attacked, "random 1")
    graph = cell_graph(other, lambda cell: flips)
    assert graph.split == clean_graph(Source(SMALL.data, "random 1")).split
    assert graph.edges.tolist() == cell_graph(attacked, lambda cell: flips).edges.tolist()
    cleaned = sanitation(other, "agreement")
    assert cleaned.inputs() == (attacked,)
    assert accuracy(cleaned, "gcn").inputs() == (cleaned, attacked)
    removed = [computed(one, flips).arrays["removed"].tolist() for one in (cleaned, sanitation(attacked, "agreement"))]
    assert removed[0] != removed[1]

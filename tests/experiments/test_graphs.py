"""The graphs of cells."""

from __future__ import annotations

from pathlib import Path

import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.experiments import graphs
from focusedcleaner.experiments.cells import Poison, Source
from focusedcleaner.experiments.compute import make_task, run_task
from focusedcleaner.experiments.graphs import cell_graph, clean_graph

SMALL = Source("synthetic-100", "random 0")


@pytest.mark.parametrize("power", [0.05, 0.1, 0.25])
def test_a_smaller_power_is_a_prefix_of_the_full_run(power: float) -> None:
    poison = Poison(SMALL, "mettack", power)
    result = run_task(make_task(poison.full_run, lambda cell: {}))
    graph = cell_graph(poison, lambda cell: result.arrays)
    assert graph == attack("mettack").poison(clean_graph(SMALL), power).graph


def test_published_files_are_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs.clean_graph.cache_clear()
    monkeypatch.setattr(graphs, "_without_split", lambda data: synthetic(num_nodes=100, seed=0, with_split=False))
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(tmp_path))
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"authors/cora_splits\.json is neither in the folder FOCUSEDCLEANER_DATA"):
        graphs.clean_graph(Source("cora"))
    (tmp_path / "authors").mkdir()
    (tmp_path / "authors" / "cora_splits.json").write_text('{"idx_train": [0, 1], "idx_val": [2], "idx_test": [3]}')
    with pytest.raises(InputError, match="is not the published file: its SHA-256 differs"):
        graphs.clean_graph(Source("cora"))
    with pytest.raises(InputError, match="there is no split 'mine'"):
        graphs.clean_graph(Source("cora", "mine"))
    graphs.clean_graph.cache_clear()

"""The nodes and groups with the most flagged edges."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.report import page
from focusedcleaner.sanitizers import Sanitation, sanitizer
from tests.report.helpers import summarized

GROUPS = {
    "group": np.array([1, 1, 2, 0]),
    "group_sources": np.array([27, 27, 4, 0]),
    "group_targets": np.array([9, 9, 3, 0]),
    "group_density": np.array([0.8, 0.8, 0.5, 0.0]),
}


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=150, seed=1)


@pytest.fixture(scope="module")
def sanitation(clean: Graph) -> Sanitation:
    return sanitizer("jaccard").sanitize(Dice().poison(clean, "20%", seed=0).graph, 60)


def test_nodes_are_counted(sanitation: Sanitation, clean: Graph) -> None:
    told = summarized(sanitation, truth=clean)
    flagged = Counter(str(node) for node in sanitation.removed.ravel())
    hits = Counter(str(node) for edge in sanitation.removed if not clean.has_edges(edge[None])[0] for node in edge)
    assert 2 <= len(told["nodes"]) <= 10
    counts = [node["flagged"] for node in told["nodes"]]
    assert counts == sorted(flagged.values(), reverse=True)[: len(counts)]
    for node in told["nodes"]:
        assert (node["flagged"], node["planted"]) == (flagged[node["name"]], hits[node["name"]])
        assert node["degree"] == sanitation.poisoned.degrees[int(node["name"])]
    assert all(node["planted"] is None for node in summarized(sanitation)["nodes"])
    assert told["groups"] is None


def test_a_run_without_repeated_nodes_has_no_table(clean: Graph) -> None:
    pair = clean.edges[:1]
    done = Sanitation(clean, pair, np.ones(1), {}, {}, "svd", {}, budget=1, seed=0, seconds=0.1)
    told = summarized(done)
    assert told["nodes"] == []
    assert "Nodes with the most" not in page(told)


def test_groups_have_sizes_and_the_words_of_their_columns(clean: Graph) -> None:
    graph = replace(clean, notes={"source_column": "user", "target_column": "<item>"})
    done = Sanitation(graph, graph.edges[:4], np.ones(4), GROUPS, {}, "svd", {}, budget=4, seed=0, seconds=0.1)
    told = summarized(done)
    assert told["groups"]["total"] == 2
    assert told["groups"]["rows"][0] == {"group": 1, "flagged": 2, "sources": 27, "targets": 9, "density": 0.8}
    html = page(told)
    assert "Groups and nodes with the most flagged edges" in html
    assert "<item>" not in html


@pytest.mark.parametrize("broken", ["group", "group_density"])
def test_groups_from_a_damaged_table_are_left_out(clean: Graph, broken: str) -> None:
    columns = {**GROUPS, broken: np.ones((4, 2))}
    done = Sanitation(clean, clean.edges[:4], np.ones(4), columns, {}, "svd", {}, budget=4, seed=0, seconds=0.1)
    assert summarized(done)["groups"] is None

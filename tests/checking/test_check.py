"""`check`, on ordinary and on odd graphs."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

import focusedcleaner as fc
from focusedcleaner.checking import check_graph
from focusedcleaner.checking.page import WIDTH
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SelfAttack, sanitizer
from tests.checking.strategies import odd_graphs


@settings(max_examples=60, deadline=None)
@given(odd_graphs())
def test_any_graph_can_be_checked(graph: Graph) -> None:
    found = fc.check(graph)
    fields = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (fields["nodes"], fields["edges"]) == (graph.num_nodes, graph.num_edges)
    text, page = str(found), found._repr_html_()
    assert "\x1b" not in text + page + repr(found) + str(found.short_form)
    assert "<b>" not in page
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert repr(found).count("\n") == 0
    assert 2 <= len(found.short_form) <= 5
    if found.method is None:
        assert found.warnings


def test_ten_thousand_classes() -> None:
    names = [f"name {number}" for number in range(10_000)]
    pairs = np.column_stack([np.arange(9_999), np.arange(1, 10_000)])
    found = check_graph(Graph(10_000, pairs, labels=np.arange(10_000), class_names=names))
    assert found.compatibility is None
    assert len(found.class_labels) == 10_000
    assert len(str(found)) < 8_000


def test_what_was_changed_while_reading_is_told_and_not_raised() -> None:
    one_way = sp.csr_array((np.ones(2), ([0, 1], [1, 2])), shape=(3, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = fc.check(one_way)
    assert any("made undirected" in line for line in found.read)
    assert "\nRead\n  - " in str(found)


def test_columns_of_a_table_are_named(graph: Graph) -> None:
    notes = {"source_column": "user", "target_column": "item", "time_column": "day", "direction": "ignored"}
    pairs = [[user, item] for user in range(6) for item in range(6, 14)]
    found = check_graph(Graph(14, pairs, notes=notes))
    text = str(found)
    assert "from columns user and item" in text
    assert "from column day" in text
    assert "direction       ignored" in text
    assert "yes: 6 nodes on one side, 8 on the other (user and item)" in text


@pytest.fixture
def without_labels(graph: Graph) -> Graph:
    return replace(graph, labels=None, split=None, class_names=None)


def test_a_method_that_needs_labels_can_t_run_without(without_labels: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SelfAttack, "needs_labels", True)
    monkeypatch.setattr("focusedcleaner.sanitizers.default_method", lambda graph: "self-attack")
    found = check_graph(without_labels)
    assert (found.method, found.suitable, found.forecast, found.other_forecasts) == (None, False, None, ())
    assert found.warnings[0].startswith("the graph has no labels, and self-attack needs the classes of a few nodes: ")


def test_a_method_that_needs_no_labels(without_labels: Graph) -> None:
    found = check_graph(without_labels, method=sanitizer("jaccard"))
    assert (found.method, found.method_reason, found.chooses_budget) == ("jaccard", "as asked", False)
    assert found.coverage == "none"
    assert found.homophily is None


def test_one_class_is_marked(graph: Graph) -> None:
    assert graph.labels is not None
    found = check_graph(replace(graph, labels=np.where(graph.labels == 2, 2, -1), split=None))
    assert found.coverage == "one class"
    assert "all of class 2; the others are unmarked" in str(found)


def test_the_split_that_would_be_drawn(graph: Graph) -> None:
    found = check_graph(graph.with_split(None))
    assert (found.split, found.drawn_split) == (None, {"train": 15, "val": 135, "test": 0})
    assert "one would be drawn: 15 train, 135 validate\n" in str(found)
    assert any("random split" in line for line in found.assumptions)
    given_ = check_graph(graph)
    assert (given_.split, given_.drawn_split) == ({"train": 15, "val": 15, "test": 120}, None)


@pytest.mark.slow
def test_a_million_edges_take_seconds() -> None:
    rng = np.random.default_rng(0)
    nodes = 200_000
    words = sp.random_array((nodes, 500), density=0.02, rng=rng, data_sampler=lambda size: np.ones(size))
    graph = Graph.from_pairs(
        nodes, rng.integers(0, nodes, (1_000_000, 2)), labels=rng.integers(0, 7, nodes), attributes=words
    )
    start = time.process_time()
    found = check_graph(graph)
    assert time.process_time() - start < 30
    assert (found.method, found.chooses_budget) == ("self-attack", True)

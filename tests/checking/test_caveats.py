"""What makes results weaker, what is assumed, and what can't be promised."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.checking import caveats
from focusedcleaner.checking.attribute_facts import attribute_facts
from focusedcleaner.checking.forecast import Forecast
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import UNKNOWN, Graph

TRUST = (Path(__file__).parents[2] / "docs" / "trust.md").read_text()


def warned(graph: Graph, forecast: Forecast | None = None) -> str:
    drawn = graph.with_drawn_split(0, hide=False)
    return "\n".join(caveats.warnings(graph, drawn, graph.homophily, attribute_facts(graph), forecast, "self-attack"))


def test_a_graph_on_home_ground_has_no_warning() -> None:
    assert warned(synthetic(1000, homophily=0.95, attribute_signal=0.9, with_split=False)) == ""


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        ({"homophily": 0.3}, "only 30.0 % of the edges join nodes of one class"),
        ({"homophily": 0.8, "attribute_signal": 0.1}, "natural edges between classes look planted here"),
        ({"num_attributes": 0}, "without attributes, results are weaker"),
    ],
)
def test_kinds_of_graphs_on_which_results_are_weaker(settings: dict[str, float], warning: str) -> None:
    graph = synthetic(**{"num_nodes": 1000, "homophily": 0.95, "attribute_signal": 0.9, **settings})  # type: ignore[arg-type]
    assert warning in warned(graph)
    assert warned(graph).count("\n") == 0 or "attributes" in warning


def test_few_labels_are_told_and_named() -> None:
    graph = synthetic(600, num_classes=3, homophily=0.95, attribute_signal=0.9, with_split=False)
    assert graph.labels is not None
    labels = np.full(600, UNKNOWN)
    for number, size in enumerate((9, 9, 4)):
        labels[np.flatnonzero(graph.labels == number)[:size]] = number
    told = warned(replace(graph, labels=labels))
    assert "few labels: 22 nodes for 3 classes" in told
    assert "classes with fewer than 5 labels can hardly be learnt: class 2 (4)" in told
    told = warned(replace(graph, labels=labels, class_names=("a", "b", "c", "d")))
    assert "1 of 4 classes has no label at all" in told


def test_test_labels_don_t_count() -> None:
    graph = synthetic(300, num_classes=3, homophily=0.95, attribute_signal=0.9)
    assert "few labels" not in warned(graph)
    assert graph.split is not None
    few = replace(graph.split, train=graph.split.train[:9], val=graph.split.val[:9])
    assert "few labels: 18 nodes for 3 classes" in warned(graph.with_split(few))


def test_a_run_that_needs_more_memory_than_there_is() -> None:
    graph = synthetic(1000, homophily=0.95, attribute_signal=0.9)
    assert warned(graph, Forecast("self-attack", 10.0, 0.001)) == ""
    assert "self-attack needs about 1000000.0 GB of memory; this machine has" in warned(
        graph, Forecast("self-attack", 10.0, 1e6)
    )


def test_assumptions_about_labels_and_budgets(graph: Graph) -> None:
    assert "the labels of 120 test nodes are not looked at" in caveats.assumptions(graph, "all", ranks=False)
    drawn = caveats.assumptions(graph.with_split(None), "all", ranks=True)
    assert "a random split is drawn: 10 % of the nodes train, the others validate; no label is hidden" in drawn
    assert any(line.startswith("a budget is not a finding") for line in drawn)
    unlabelled = caveats.assumptions(replace(graph, labels=None, split=None, class_names=None), "none", ranks=False)
    assert unlabelled == ("edges are undirected and unweighted",)


def test_limits_by_method_and_labels() -> None:
    assert caveats.limits(None, "none", ranks=False, bipartite=False, split=True) == ()
    assert (
        "can't tell whether any was planted" in caveats.limits("cld", "all", ranks=True, bipartite=False, split=True)[0]
    )
    usual = "\n".join(caveats.limits("self-attack", "all", ranks=False, bipartite=False, split=True))
    assert "no sign of poison is not a proof" in usual
    assert "other training nodes" in usual
    assert "without labels" in "\n".join(
        caveats.limits("self-attack", "none", ranks=False, bipartite=False, split=True)
    )
    assert "other training nodes" not in "\n".join(
        caveats.limits("self-attack", "all", ranks=False, bipartite=False, split=False)
    )
    assert "camouflage" in caveats.limits("dense-blocks", "none", ranks=False, bipartite=True, split=False)[0]
    assert "one class marked" in "\n".join(
        caveats.limits("self-attack", "one class", ranks=False, bipartite=False, split=True)
    )


@pytest.mark.parametrize(
    ("cell", "figures"),
    [
        ("wild/actor, minmax 10%, attacker split", "48 %"),
        ("citeseer, mettack 10%, fewer split", "44 %"),
        ("citeseer, mettack 10%, another split", "53 %"),
        ("citeseer, nettack 10%, attacker split", "uncertain"),
        ("citeseer, dice 10%, attacker split", "uncertain"),
        ("synthetic, random 0%, attacker split", "1,020"),
    ],
)
def test_figures_are_those_of_the_trust_page(cell: str, figures: str) -> None:
    (row,) = re.findall(rf"^\| {re.escape(cell)} \|.*$", TRUST, re.M)
    assert f" {figures} " in row


def test_the_range_of_the_trust_page() -> None:
    assert "72 to 100 % of the oracle's ESR" in TRUST

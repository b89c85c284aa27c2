"""The summary of a report, compared with figures computed elsewhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import UNKNOWN, Graph
from focusedcleaner.report.node_classes import node_classes
from focusedcleaner.report.summary import degree_bins, summary
from focusedcleaner.sanitizers import FocusedCleaner, Sanitation, sanitizer
from focusedcleaner.scoring import score
from focusedcleaner.surrogate import Surrogate
from tests.report.helpers import saved, summarized


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=150, seed=1)


@pytest.fixture(scope="module")
def sanitation(clean: Graph) -> Sanitation:
    return FocusedCleaner().sanitize(Dice().poison(clean, "20%", seed=0).graph, 30, seed=3)


@pytest.fixture(scope="module")
def told(sanitation: Sanitation, clean: Graph) -> dict[str, Any]:
    return summarized(sanitation, truth=clean, source={"graph": "data/mine.npz"})


@pytest.mark.parametrize("side", ["before", "after"])
def test_both_sides(told: dict[str, Any], sanitation: Sanitation, side: str) -> None:
    graph = sanitation.poisoned if side == "before" else sanitation.graph
    plain = nx.Graph(graph.edges.tolist())
    plain.add_nodes_from(range(graph.num_nodes))
    facts = told[side]
    labels = graph.labels
    assert labels is not None
    assert facts["edges"] == plain.number_of_edges()
    assert facts["homophily"] == pytest.approx(np.mean([labels[u] == labels[v] for u, v in plain.edges]))
    components = [len(part) for part in nx.connected_components(plain)]
    assert (facts["components"], facts["largest_component"]) == (len(components), max(components))
    degrees = [degree for _, degree in plain.degree]
    assert (facts["isolated"], facts["largest_degree"]) == (degrees.count(0), max(degrees))
    assert facts["mean_degree"] == pytest.approx(2 * facts["edges"] / 150)


def test_degrees_are_counted_once(told: dict[str, Any], sanitation: Sanitation) -> None:
    for graph, nodes in zip((sanitation.poisoned, sanitation.graph), told["degrees"]["nodes"], strict=True):
        for name, count in zip(told["degrees"]["bins"], nodes, strict=True):
            low, _, high = name.partition("–")
            assert count == sum(int(low) <= degree <= int(high or low) for degree in graph.degrees)
        assert sum(nodes) == graph.num_nodes


@pytest.mark.parametrize("largest", [1, 5, 6, 7, 8, 15, 16, 40])
def test_degree_bins_reach_the_largest(largest: int) -> None:
    hub = Graph(largest + 1, [[0, node] for node in range(1, largest + 1)])
    data = degree_bins(hub)
    assert sum(data["nodes"][0]) == largest + 1
    assert data["nodes"][0][-1] >= 1


def test_nothing_is_trained(sanitation: Sanitation, monkeypatch: pytest.MonkeyPatch) -> None:
    def trained(*_: Any, **__: Any) -> None:
        raise AssertionError("a report trains nothing")

    with saved(sanitation) as run:
        monkeypatch.setattr(Surrogate, "__init__", trained)
        monkeypatch.setattr("focusedcleaner.detectors.ClassDiv.victims", trained)
        assert summary(run)["before"]["edges"] == sanitation.poisoned.num_edges


def test_accuracy_and_victims_come_from_the_trace(told: dict[str, Any], sanitation: Sanitation) -> None:
    for name, column in (("accuracy", "validation_accuracy"), ("victims", "victims")):
        assert told[name] == pytest.approx([sanitation.trace[column][0], sanitation.trace[column][-1]])
    for method in ("jaccard", "focused-none", "agreement"):
        other = summarized(sanitizer(method).sanitize(sanitation.poisoned, 3))
        assert other["victims"] is None
        assert (other["accuracy"] is None) == (method != "focused-none")


def test_labels_of_test_nodes_are_not_looked_at(told: dict[str, Any], sanitation: Sanitation, clean: Graph) -> None:
    graph = sanitation.poisoned
    assert graph.labels is not None
    assert graph.split is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = np.random.default_rng(0).integers(0, 5, len(graph.split.test))
    other = summarized(replace(sanitation, poisoned=replace(graph, labels=labels)), truth=clean)
    for side in ("before", "after"):
        assert {**other[side], "homophily": 0} == {**told[side], "homophily": 0}
    for part in ("accuracy", "victims", "edges", "trace", "degrees", "classes", "truth"):
        assert other[part] == told[part]


def test_classes_are_known_or_from_the_evidence(sanitation: Sanitation) -> None:
    graph = sanitation.poisoned
    assert graph.labels is not None
    assert graph.split is not None
    with saved(sanitation) as run:
        classes, known = node_classes(run)
    seen = np.concatenate([graph.split.train, graph.split.val])
    assert sorted(np.flatnonzero(known)) == sorted(seen)
    assert (classes[seen] == graph.labels[seen]).all()
    last = {}
    for row, edge in enumerate(sanitation.removed.tolist()):
        for node, end in zip(edge, ("u", "v"), strict=True):
            last[node] = int(sanitation.evidence[f"classes_{end}"][row].argmax())
    for node in np.flatnonzero(~known):
        assert classes[node] == last.get(node, UNKNOWN)


def test_without_class_evidence_only_known_classes_are_shown(sanitation: Sanitation) -> None:
    with saved(sanitizer("jaccard").sanitize(sanitation.poisoned, 10)) as run:
        classes, known = node_classes(run)
    assert (classes[~known] == UNKNOWN).all()


def test_the_truth(told: dict[str, Any], sanitation: Sanitation, clean: Graph) -> None:
    found = score(sanitation.removed, poisoned=sanitation.poisoned, clean=clean)
    truth = told["truth"]
    assert (truth["planted"], truth["removed"], truth["hits"]) == (found.attacked, 30, found.hits)
    assert truth["esr"] == {"run": found.esr, "oracle": found.oracle_esr}
    assert truth["cr"]["oracle"] == min(1, 30 / found.attacked)
    edges = {tuple(edge) for edge in clean.edges.tolist()}
    planted = [tuple(edge) not in edges for edge in sanitation.removed.tolist()]
    assert [edge["planted"] for edge in told["edges"]] == planted[:20]
    assert truth["curve"] == {"removed": list(range(31)), "hits": [0, *np.cumsum(planted).tolist()]}
    assert truth["deleted"] == len(edges - {tuple(edge) for edge in sanitation.poisoned.edges.tolist()})


def test_a_truth_with_other_nodes_is_refused(sanitation: Sanitation) -> None:
    with pytest.raises(InputError, match="the truth has 3 nodes"):
        summarized(sanitation, truth=Graph(3, [[0, 1]]))


def test_an_untouched_graph_has_no_ratio(clean: Graph) -> None:
    told = summarized(FocusedCleaner().sanitize(clean, 1), truth=clean)
    assert told["truth"]["cr"] == {"run": None, "oracle": None}
    assert told["truth"]["esr"]["run"] == 0
    assert len(told["edges"]) == 1


def test_edges_come_in_order_with_their_evidence(told: dict[str, Any], sanitation: Sanitation) -> None:
    assert [edge["rank"] for edge in told["edges"]] == list(range(1, 21))
    plain = nx.Graph(sanitation.poisoned.edges.tolist())
    for row, edge in enumerate(told["edges"]):
        u, v = sanitation.removed[row]
        assert (edge["u"], edge["v"]) == (str(u), str(v))
        shared = len({*plain[u]} & {*plain[v]})
        assert f"{shared or 'no'} common neighbour" in edge["why"].lower()


def test_the_run_is_named(told: dict[str, Any]) -> None:
    assert (told["run"]["name"], told["run"]["input"]) == ("mine.npz", "data/mine.npz")


def test_it_is_plain_data(told: dict[str, Any]) -> None:
    assert json.loads(json.dumps(told, allow_nan=False))["run"]["removed"] == 30


def test_a_long_trace_is_thinned(sanitation: Sanitation) -> None:
    steps = np.arange(1, 5001)
    never = np.full(5000, math.nan)
    trace = summarized(
        replace(sanitation, trace={"round": steps, "removed": steps, "loss": 1 / steps, "never": never})
    )["trace"]
    assert (trace["rounds"], trace["over"]) == (5000, "edges")
    assert len(trace["xs"]) == 200
    assert (trace["xs"][0], trace["xs"][-1]) == (1, 5000)
    assert [column["name"] for column in trace["columns"]] == ["loss"]
    assert trace["columns"][0]["values"] == pytest.approx([1 / step for step in trace["xs"]], rel=1e-5)


def test_a_trace_without_removals_is_drawn_over_its_rounds(sanitation: Sanitation) -> None:
    trace = {"round": np.arange(1, 4), "estimated_planted": np.array([5.0, 7.0, 6.0])}
    shown = summarized(replace(sanitation, trace=trace))["trace"]
    assert (shown["over"], shown["xs"]) == ("rounds", [1, 2, 3])
    assert [column["values"] for column in shown["columns"]] == [[5.0, 7.0, 6.0]]

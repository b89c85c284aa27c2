"""The summary that a report is made of, against figures from elsewhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from focusedcleaner.attacks import Dice
from focusedcleaner.detectors import ClassDiv, View, mlp, reduced_attributes
from focusedcleaner.detectors.mixture import RIDGE
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import why
from focusedcleaner.graph import Graph, Split
from focusedcleaner.report import measures, summary
from focusedcleaner.runs import read_run, write_run
from focusedcleaner.sanitizers import FocusedCleaner, Sanitation, sanitizer
from focusedcleaner.scoring import score
from focusedcleaner.surrogate import Surrogate


@pytest.fixture(scope="module")
def clean() -> Graph:
    from focusedcleaner.datasets import synthetic

    return synthetic(num_nodes=150, seed=1)


@pytest.fixture(scope="module")
def sanitation(clean: Graph) -> Sanitation:
    return FocusedCleaner().sanitize(Dice().poison(clean, "20%", seed=0).graph, 30, seed=3)


@pytest.fixture(scope="module")
def told(sanitation: Sanitation, clean: Graph) -> dict[str, Any]:
    return summary(sanitation, truth=clean)


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
    data = measures.degree_bins(hub)
    assert sum(data["nodes"][0]) == largest + 1
    assert data["nodes"][0][-1] >= 1


def test_accuracy_is_the_surrogates(told: dict[str, Any], sanitation: Sanitation) -> None:
    assert told["before"]["accuracy"] == pytest.approx(sanitation.trace["validation_accuracy"][0])
    assert told["validated"] == len(sanitation.poisoned.split.val)  # type: ignore[union-attr]


def test_labels_of_test_nodes_are_not_looked_at(told: dict[str, Any], sanitation: Sanitation, clean: Graph) -> None:
    graph = sanitation.poisoned
    assert graph.labels is not None
    assert graph.split is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = np.random.default_rng(0).integers(0, 5, len(graph.split.test))
    other = summary(replace(sanitation, poisoned=replace(graph, labels=labels)), truth=clean)
    for side in ("before", "after"):
        assert {**other[side], "homophily": 0} == {**told[side], "homophily": 0}
    for part in ("victim_scores", "edges", "trace", "degrees", "classes", "truth"):
        assert other[part] == told[part]


def brute_force_energies(sanitation: Sanitation) -> list[Any]:
    """E under the mixture of the poisoned graph, Gaussian by Gaussian."""
    graphs = [graph.without_test_labels() for graph in (sanitation.poisoned, sanitation.graph)]
    reduced = reduced_attributes(graphs[0], dtype=torch.float64)
    views = []
    for graph in graphs:
        surrogate = Surrogate(graph)
        views.append(View(surrogate.structure, surrogate.fit().logits, reduced, 3))
    weights = ClassDiv().victims(views[0], {}).memory
    features = ClassDiv().features(views[0])
    membership = torch.softmax(mlp.apply(features, weights), 0).double().numpy()
    points = features.double().numpy().T
    energies = []
    for view in views:
        density = np.zeros(len(points))
        for share in membership:
            mean = share @ points / share.sum()
            spread = (points - mean).T @ ((points - mean) * share[:, None]) / share.sum() + RIDGE * np.eye(6)
            normal = multivariate_normal(mean, spread)
            density += share.mean() * normal.pdf(ClassDiv().features(view, like=views[0]).double().numpy().T)
        energies.append(-np.log(density))
    return energies


def test_victim_scores_have_one_yardstick(sanitation: Sanitation, told: dict[str, Any]) -> None:
    judged = measures.judge(sanitation.poisoned, sanitation.graph, seed=3)
    for ours, theirs in zip(judged.energies, brute_force_energies(sanitation), strict=True):
        usual = theirs < 30  # far out, single precision is all that the mixture has
        assert usual.mean() > 0.95
        assert np.allclose(ours[usual], theirs[usual], atol=0.02)
    scores = told["victim_scores"]
    assert [sum(nodes) for nodes in scores["nodes"]] == [150, 150]
    assert scores["above"] == [int((part > judged.threshold).sum()) for part in judged.energies]
    assert scores["above"][0] == 60  # τ = 0.6 of 150 nodes lie below


def test_classes_are_known_or_predicted(sanitation: Sanitation) -> None:
    graph = sanitation.poisoned
    assert graph.labels is not None
    assert graph.split is not None
    judged = measures.judge(graph, sanitation.graph)
    seen = np.concatenate([graph.split.train, graph.split.val])
    assert sorted(np.flatnonzero(judged.known)) == sorted(seen)
    assert (judged.classes[seen] == graph.labels[seen]).all()
    assert (judged.classes[graph.split.test] == graph.labels[graph.split.test]).mean() > 0.4


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
        summary(sanitation, truth=Graph(3, [[0, 1]]))


def test_an_untouched_graph_has_no_ratio(clean: Graph) -> None:
    told = summary(FocusedCleaner().sanitize(clean, 1), truth=clean)
    assert told["truth"]["cr"] == {"run": None, "oracle": None}
    assert told["truth"]["esr"]["run"] == 0
    assert len(told["edges"]) == 1


def test_edges_come_in_order_with_their_evidence(told: dict[str, Any], sanitation: Sanitation) -> None:
    assert [edge["rank"] for edge in told["edges"]] == list(range(1, 21))
    for row, edge in enumerate(told["edges"]):
        u, v = sanitation.removed[row]
        assert (edge["u"], edge["v"]) == (str(u), str(v))
        shared = len(
            {*nx.Graph(sanitation.poisoned.edges.tolist())[u]} & {*nx.Graph(sanitation.poisoned.edges.tolist())[v]}
        )
        assert f"{shared or 'no'} common neighbour" in edge["why"]


def test_a_run_that_was_read_says_the_same(
    told: dict[str, Any], sanitation: Sanitation, tmp_path: Any, clean: Graph
) -> None:
    write_run(sanitation, tmp_path / "RUN", source={"graph": "data/mine.npz"})
    again = summary(read_run(tmp_path / "RUN"), truth=clean)
    for part in ("before", "after", "degrees", "victim_scores", "truth", "how", "graph", "classes"):
        assert again[part] == told[part]
    assert [edge["why"] for edge in again["edges"]] == [edge["why"] for edge in told["edges"]]
    assert (again["run"]["name"], again["run"]["input"]) == ("mine.npz", "data/mine.npz")
    for mine, theirs in zip(again["trace"]["columns"], told["trace"]["columns"], strict=True):
        assert mine["values"] == pytest.approx(theirs["values"], rel=1e-6)


def test_it_is_plain_data(told: dict[str, Any]) -> None:
    assert json.loads(json.dumps(told, allow_nan=False))["run"]["removed"] == 30


def test_a_long_trace_is_thinned(sanitation: Sanitation) -> None:
    steps = np.arange(1, 5001)
    long = replace(
        sanitation, trace={"round": steps, "removed": steps, "loss": 1 / steps, "never": np.full(5000, math.nan)}
    )
    trace = summary(long)["trace"]
    assert trace["rounds"] == 5000
    assert len(trace["changed"]) == 200
    assert (trace["changed"][0], trace["changed"][-1]) == (1, 5000)
    assert [column["name"] for column in trace["columns"]] == ["loss"]
    assert trace["columns"][0]["values"] == pytest.approx([1 / step for step in trace["changed"]], rel=1e-5)


@pytest.mark.parametrize(
    ("name", "words"),
    [("cld", "disagree in an unusual way"), ("lp", "link predictor"), ("focused-none", "training nodes, and removed")],
)
def test_the_method_in_words(clean: Graph, name: str, words: str) -> None:
    assert words in summary(sanitizer(name).sanitize(clean, 2))["how"]


def test_what_is_known_of_the_ends_is_told() -> None:
    graph = Graph(4, [[0, 1], [2, 3]], labels=[0, 1, 1, 1], split=Split([0, 2], [1], [3]), class_names=("ants", "bees"))
    sure, unsure = np.array([0.9, 0.1]), np.array([0.2, 0.8])

    def words(edge: tuple[int, int], one: Any, other: Any) -> str:
        return why(graph, {"classes_u": np.array([one]), "classes_v": np.array([other])}, np.zeros(1), 0, edge)

    assert words((0, 1), sure, unsure) == "one end is ants, the other is bees"
    assert words((0, 1), sure, sure) == "one end is ants, the other is bees but looks like ants (90 %)"
    assert words((1, 2), unsure, unsure) == "both ends are bees"
    assert words((2, 3), unsure, sure) == "one end is bees, the other looks like ants (90 %)"
    assert words((3, 3), sure, sure) == "both ends look like ants"
    assert why(graph, {}, np.array([0.25]), 0) == "score 0.25"

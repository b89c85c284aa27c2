"""What surrounds every sanitation: notes about attributes, finite scores, and a reason where no edge was removed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest

import focusedcleaner as fc
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers import Agreement, EdgeScores, Filter, sanitizer
from focusedcleaner.sanitizers.checks import (
    FEWEST_CYCLES,
    attribute_notes,
    check_finite,
    components_and_bipartite,
    label_notes,
    unsuitable,
)
from tests.hostile.odd_graphs import ODD_GRAPHS, shaped


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(num_nodes=80, num_attributes=12, seed=7)


def with_age(graph: Graph, name: str = "age") -> Graph:
    assert graph.attributes is not None
    ages = np.random.default_rng(0).integers(18, 90, graph.num_nodes)
    names = (*(f"word {number}" for number in range(12)), name)
    joined = np.column_stack([graph.attributes.toarray(), ages])
    return replace(graph, attributes=joined, attribute_names=names)


def test_a_column_on_another_scale_is_named_and_scaled(graph: Graph) -> None:
    mixed = with_age(graph)
    with pytest.warns(
        InputWarning, match=r"different scales \(word 0 about 1, age about \d\d\): each column was scaled"
    ):
        found = Agreement().sanitize(mixed, 8)
    same = np.isin(found.removed, Agreement().sanitize(graph, 8).removed).all(axis=1).mean()
    assert same >= 0.5
    assert any("age about" in warning for warning in fc.check(mixed).warnings)


def test_an_edge_scorer_repeats_no_note(graph: Graph) -> None:
    mixed = with_age(graph)
    scores = sanitizer("maskgvae", rounds=1, partition_epochs=1, autoencoder_epochs=1).edge_scorer(mixed)(mixed)
    assert scores.max() == 1


def test_column_names_of_others_are_made_readable(graph: Graph) -> None:
    (note,) = attribute_notes(with_age(graph, "age\x1b[31m\n" + "x" * 100))
    assert "\x1b" not in note
    assert "\n" not in note
    assert len(note) < 150


def test_attributes_on_one_scale_need_no_note(graph: Graph) -> None:
    assert attribute_notes(graph) == []
    assert attribute_notes(replace(graph, attributes=None, attribute_names=None)) == []


@pytest.mark.parametrize("name", ["constant attributes", "zero attributes", "constant attributes of another value"])
def test_attributes_that_are_the_same_everywhere_are_not_used(name: str) -> None:
    odd = ODD_GRAPHS[name]()
    with pytest.warns(InputWarning, match="the attributes are the same at every node: they are not used"):
        found = Agreement().sanitize(odd, 5)
    assert found.removed.tolist() == Agreement().sanitize(replace(odd, attributes=None), 5).removed.tolist()
    assert "attribute_similarity" not in found.evidence


@dataclass(frozen=True)
class Diverging(Filter):
    name: ClassVar[str] = "diverging"

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        scores = np.arange(graph.num_edges, dtype=float)
        scores[-1] = np.inf
        return EdgeScores(scores)


def test_scores_that_are_not_finite_are_refused(graph: Graph) -> None:
    with pytest.raises(InputError, match=r"^diverging: the score of 1 of 5 edges is not finite: its training diverged"):
        Diverging().sanitize(graph, 5)
    with pytest.raises(InputError, match="the probability of 2 of 3 edges"):
        check_finite("x", score=np.zeros(3), probability=np.array([np.nan, 0, np.nan]))


def test_lp_spends_its_budget_where_the_predictor_doubts_no_edge() -> None:
    clique = shaped(nx.complete_graph(20))
    assert len(sanitizer("lp", edges_per_round=10).sanitize(clique, 20).removed) == 20


def test_a_method_without_a_candidate_says_why(graph: Graph) -> None:
    cleaner = sanitizer("cld", tau=1.0)  # no energy is above the largest
    with pytest.warns(InputWarning, match="cld removed no edge: its detector, classdiv, finds no victim; focused-none"):
        assert not len(cleaner.sanitize(graph, 5).removed)


@pytest.mark.parametrize(
    ("method", "setting"),
    [("self-attack", "trees"), ("maskgvae", "hidden"), ("agreement", "repeats"), ("cld", "epochs")],
)
def test_settings_that_would_never_end_are_refused(method: str, setting: str) -> None:
    with pytest.raises(InputError, match=rf"^{setting} must lie in \[\d, \d+\], not 999999$"):
        sanitizer(method, **{setting: "999999"})


# Graphs that the default method can't judge --------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_bipartite_as_networkx_says_where_it_is_no_chance(seed: int) -> None:
    kind = nx.algorithms.bipartite.random_graph if seed % 2 else nx.gnp_random_graph
    network = kind(14, 14, 0.5, seed=seed) if seed % 2 else kind(14, 0.5, seed=seed)
    components, bipartite = components_and_bipartite(Graph.from_pairs(len(network), list(network.edges)))
    assert components == nx.number_connected_components(network)
    assert bipartite == nx.is_bipartite(network) == bool(seed % 2)


def test_few_cycles_are_even_by_chance() -> None:
    forest = nx.random_labeled_tree(400, seed=0)
    ring = nx.cycle_graph(400)
    ladder = nx.ladder_graph(FEWEST_CYCLES)  # one independent cycle fewer than that
    longer = nx.ladder_graph(FEWEST_CYCLES + 1)
    found = [
        components_and_bipartite(Graph.from_pairs(len(one), list(one.edges)))[1]
        for one in (forest, ring, ladder, longer)
    ]
    assert found == [False, False, False, True]


@pytest.fixture(scope="module")
def judged() -> Graph:
    """A graph that the default method can judge: 600 edges, 60 labelled nodes of five classes."""
    return synthetic(num_nodes=300, seed=0)


def test_an_ordinary_graph_is_suitable(judged: Graph) -> None:
    assert unsuitable(judged) == ""
    assert unsuitable(replace(judged, attributes=None, attribute_names=None)) == ""
    assert unsuitable(judged.without_test_labels()) == ""


def test_why_a_graph_is_not_suitable(judged: Graph) -> None:
    reasons = {
        "too small: 499 edges, and at least 500 are needed": judged.without_edges(judged.edges[499:]),
        "every node has the same attributes: leave them out to judge the edges alone": replace(
            judged, attributes=np.ones((300, 4)), attribute_names=None
        ),
        "the graph is bipartite, such as users and items": replace(
            judged, edges=np.array([[user, item] for user in range(20) for item in range(20, 60)])
        ),
    }
    for reason, graph in reasons.items():
        assert unsuitable(graph) == reason


def test_few_labels_are_a_note(judged: Graph) -> None:
    split = judged.split
    assert split is not None
    few = judged.with_split(Split(split.train[:10], split.val[:5], split.test))
    assert len(few.known_labels) == 300
    assert label_notes(few, "cld") == ["only 15 labelled nodes: cld was not measured with fewer than 20"]
    assert label_notes(judged, "cld") == []

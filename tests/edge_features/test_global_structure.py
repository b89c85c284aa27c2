"""Global clues against dense matrices, loops over edges, other numberings and graphs with equal eigenvalues."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.global_structure import (
    DEGREE_PRIOR,
    Embedding,
    embed,
    global_structure,
    planted_ratio,
    predicted_classes,
)
from focusedcleaner.graph import FloatArray, Graph

CLUES = ["block_lift", "low_rank_link", "low_rank_cosine", "planted_ratio", "global_suspicion"]


@pytest.fixture
def bare() -> Graph:
    """200 nodes without attributes, with the test labels hidden."""
    graph = synthetic(num_nodes=200, num_classes=3, mean_degree=8, homophily=0.85, seed=2)
    return replace(graph, attributes=None).without_test_labels()


def dense_matrix(graph: Graph, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The matrix of `Embedding`, entry by entry, and the scales of the nodes."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    for (u, v), weight in zip(graph.edges, weights, strict=True):
        matrix[u, v] = matrix[v, u] = weight
    degrees = matrix.sum(axis=0)
    scale = (degrees + degrees.mean()) ** -0.5
    return scale[:, None] * matrix * scale, scale


@pytest.mark.parametrize("rank", [2, 3])
def test_the_embedding_spans_the_leading_eigenvectors(bare: Graph, rank: int) -> None:
    weights = np.random.default_rng(0).random(bare.num_edges)
    matrix, scale = dense_matrix(bare, weights)
    values, vectors = np.linalg.eigh(matrix)
    leading = np.argsort(-np.abs(values))[:rank]
    found = embed(bare, weights, rank)
    assert found.scale == pytest.approx(scale)
    assert found.values == pytest.approx(values[leading])
    projection = vectors[:, leading] @ vectors[:, leading].T
    assert found.vectors @ found.vectors.T == pytest.approx(projection, abs=1e-9)


def test_an_edge_does_not_support_its_own_link(bare: Graph) -> None:
    weights = np.random.default_rng(1).random(bare.num_edges)
    matrix, scale = dense_matrix(bare, weights)
    values, vectors = np.linalg.eigh(matrix)
    leading = np.argsort(-np.abs(values))[:10]
    projection = vectors[:, leading] @ vectors[:, leading].T
    lengths = np.sqrt(np.square(vectors[:, leading]) @ np.abs(values[leading]))
    links, cosines = Embedding(values[leading], vectors[:, leading], scale).links(bare, weights)
    for edge in range(0, bare.num_edges, 50):
        u, v = bare.edges[edge]
        without = matrix.copy()
        without[u, v] = without[v, u] = 0
        expected = ((without @ projection)[u, v] + (projection @ without)[u, v]) / 2
        assert links[edge] * scale[u] * scale[v] == pytest.approx(expected)
        assert cosines[edge] == pytest.approx(expected / (lengths[u] * lengths[v]))


def test_signs_and_rotations_do_not_matter(bare: Graph) -> None:
    found = embed(bare, np.ones(bare.num_edges), 3)
    turned = replace(found, vectors=-found.vectors)
    assert predicted_classes(bare, turned) == pytest.approx(predicted_classes(bare, found), abs=1e-6)
    one, other = (each.links(bare, np.ones(bare.num_edges)) for each in (found, turned))
    assert other[0].tolist() == one[0].tolist()
    assert other[1].tolist() == one[1].tolist()


def test_known_labels_are_kept_and_most_others_are_predicted(bare: Graph) -> None:
    labels = synthetic(num_nodes=200, num_classes=3, mean_degree=8, homophily=0.85, seed=2).labels
    assert bare.labels is not None
    classes = predicted_classes(bare, embed(bare, np.ones(bare.num_edges), 3))
    known = bare.labels >= 0
    assert classes.sum(axis=1) == pytest.approx(np.ones(200))
    assert (classes[known].argmax(axis=1) == bare.labels[known]).all()
    assert (classes.argmax(axis=1) == labels)[~known].mean() > 0.8


def test_block_lift_by_a_loop_over_edges(bare: Graph) -> None:
    classes = predicted_classes(bare, embed(bare, np.ones(bare.num_edges), 3))
    found = np.zeros((3, 3))
    for u, v in bare.edges:
        found += np.outer(classes[u], classes[v]) + np.outer(classes[v], classes[u])
    totals = sum(degree * row for degree, row in zip(bare.degrees, classes, strict=True))
    compatibility = (found + 1) / (np.outer(totals, totals) / totals.sum() + 1)
    expected = [np.log(classes[u] @ compatibility @ classes[v]) for u, v in bare.edges]
    assert global_structure(bare)["block_lift"] == pytest.approx(np.array(expected))


def test_an_unlikely_edge_has_a_larger_ratio(bare: Graph) -> None:
    """Between the same classes, an edge of two hubs is more genuine than one of two nodes with few edges."""
    classes = np.full((200, 3), 1 / 3)
    ratio = planted_ratio(bare, classes)
    ends = np.log(bare.degrees[bare.edges] - 1 + DEGREE_PRIOR[0]).sum(axis=1)
    assert np.corrcoef(ratio, ends)[0, 1] < -0.8


@pytest.mark.parametrize("name", ["dice", "random"])
def test_planted_edges_are_suspected(name: str) -> None:
    clean = replace(synthetic(num_nodes=400, num_classes=3, mean_degree=20, homophily=0.9, seed=4), attributes=None)
    poisoned = attack(name).poison(clean, 0.1).graph
    planted = ~clean.has_edges(poisoned.edges)
    suspicion = global_structure(poisoned.without_test_labels())["global_suspicion"]
    first = np.argsort(-suspicion, kind="stable")[: planted.sum()]
    assert planted[first].mean() > 4 * planted.mean()


def test_edges_between_classes_are_genuine_where_these_are_the_rule() -> None:
    """A graph whose edges mostly join different classes: the compatibilities are learnt, not assumed."""
    rng = np.random.default_rng(0)
    pairs = np.column_stack([rng.integers(0, 100, 1500), rng.integers(100, 200, 1500)])
    wrong = np.column_stack([rng.integers(0, 100, 60), rng.integers(0, 100, 60)])
    labels = np.repeat([0, 1], 100)
    labels[rng.random(200) < 0.8] = -1
    graph = Graph.from_pairs(200, np.concatenate([pairs, wrong[wrong[:, 0] != wrong[:, 1]]]), labels=labels)
    clues = global_structure(graph)
    within = (graph.edges < 100).all(axis=1)
    assert clues["block_lift"][within].mean() < -1
    assert clues["global_suspicion"][within].min() > np.median(clues["global_suspicion"][~within])


def test_attributes_are_not_looked_at(graph: Graph) -> None:
    seen = graph.without_test_labels()
    with_, without = global_structure(seen), global_structure(replace(seen, attributes=None))
    assert {name: column.tolist() for name, column in with_.items()} == {
        name: column.tolist() for name, column in without.items()
    }


def test_a_renumbered_graph_has_the_same_clues(bare: Graph) -> None:
    nodes = np.random.default_rng(5).permutation(bare.num_nodes)
    other = replace(bare.subgraph(nodes), names=None)
    place = np.argsort(nodes)
    row = other.edge_numbers(np.sort(place[bare.edges], axis=1))
    one, two = global_structure(bare), global_structure(other)
    assert list(one) == CLUES
    for name in CLUES:
        assert two[name][row] == pytest.approx(one[name], abs=1e-2)


@pytest.mark.parametrize(
    "pairs",
    [
        [(node, (node + 1) % 600) for node in range(600)],
        [(2 * pair, 2 * pair + 1) for pair in range(300)],
        [(0, leaf) for leaf in range(1, 600)],
        [(10 * hub, 10 * hub + leaf) for hub in range(60) for leaf in range(1, 10)],
        [(0, 1)],
    ],
    ids=["cycle", "matching", "star", "stars", "one edge"],
)
def test_equal_eigenvalues_give_the_same_finite_clues_at_every_call(pairs: list[tuple[int, int]]) -> None:
    labels = np.full(600, -1)
    labels[:100] = np.random.default_rng(0).integers(0, 3, 100)
    graph = Graph.from_pairs(600, np.array(pairs), labels=labels)
    one, two = global_structure(graph), global_structure(graph)
    for name in CLUES:
        assert np.isfinite(one[name]).all()
        assert one[name].tolist() == two[name].tolist()

"""SVD against the dense decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SVD
from focusedcleaner.sanitizers.filters import Filter


def scores_of(method: Filter, graph: Graph) -> np.ndarray:
    return method.score_edges(graph.without_test_labels(), 0).scores


@pytest.mark.parametrize("size", [100, 530])
def test_svd_matches_the_dense_one_at_the_edges(size: int) -> None:
    graph = synthetic(num_nodes=size, num_classes=4, mean_degree=6, seed=3).largest_component()
    u, v = graph.edges.T
    loops = graph.adjacency().toarray() + np.eye(graph.num_nodes)
    scale = loops.sum(1) ** -0.5
    plain, normalized = (
        np.linalg.svd(dense) for dense in (graph.adjacency().toarray(), scale[:, None] * loops * scale)
    )
    for rank in (1, 5, 20):
        expected = low_rank(*plain, rank)[0][u, v]
        found = SVD(rank=rank, normalized=False).score_edges(graph, 0).evidence["low_rank_weight"]
        assert found == pytest.approx(expected, abs=1e-8)
        weights, lengths = low_rank(*normalized, rank)
        found = SVD(rank=rank).score_edges(graph, 0).evidence["low_rank_weight"]
        assert found == pytest.approx(weights[u, v] / (lengths[u] * lengths[v]), abs=1e-6)


def low_rank(left: np.ndarray, values: np.ndarray, right: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """The approximation of that rank, and the square roots of the diagonal that it has with positive signs."""
    assert values[rank - 1] - values[rank] > 1e-9, "the approximation is not unique"
    scaled = left[:, :rank] * values[:rank]
    return scaled @ right[:rank], np.sqrt(np.einsum("ik,ik->i", scaled, left[:, :rank]))


def test_svd_of_full_rank_reproduces_every_edge() -> None:
    graph = synthetic(num_nodes=40, seed=1)
    weights = SVD(rank=1000, normalized=False).score_edges(graph, 0).evidence["low_rank_weight"]
    assert weights == pytest.approx(np.ones(graph.num_edges))

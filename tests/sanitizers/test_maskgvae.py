"""Mask-GVAE: its losses against dense formulas, its partition and its order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import MaskGVAE
from focusedcleaner.sanitizers.maskgvae import Autoencoder, NetworkInputs, Partition
from tests.strategies import labelled_graphs


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(num_nodes=200, num_classes=3, homophily=0.95, attribute_signal=0.5, mean_degree=6, seed=4)


@settings(deadline=None, max_examples=20)
@given(graph=labelled_graphs(), clusters=st.integers(2, 4), seed=st.integers(0, 100))
def test_the_min_cut_loss_matches_dense_matrices(graph: Graph, clusters: int, seed: int) -> None:
    inputs = NetworkInputs(graph, graph.edges)
    shares = torch.softmax(torch.randn(graph.num_nodes, clusters, generator=torch.Generator().manual_seed(seed)), 1)
    weighted = np.zeros((graph.num_nodes, graph.num_nodes))
    cosines = attribute_cosines(graph, graph.edges) if graph.features is not None else np.ones(graph.num_edges)
    for (u, v), weight in zip(graph.edges, cosines, strict=True):
        weighted[u, v] = weighted[v, u] = weight
    dense = shares.double().numpy()
    inside = np.diag(dense.T @ weighted @ dense)
    whole = np.diag(dense.T @ np.diag(weighted.sum(1)) @ dense)
    spread = np.square(clusters / graph.num_nodes * dense.T @ dense - np.eye(clusters)).sum()
    expected = -np.mean(inside / np.maximum(whole, 1e-12)) + 0.7 * spread
    assert float(Partition(inputs, clusters, 4, 0.7).loss(shares)) == pytest.approx(expected, abs=1e-5)


def test_the_partition_finds_the_classes(graph: Graph) -> None:
    """Labels that it has not seen: pairs of nodes of one cluster are mostly of one class."""
    torch.manual_seed(0)
    clusters = Partition(NetworkInputs(graph, graph.edges), 3, 32, 1.0).train_clusters(150, 0.01).numpy()
    assert graph.labels is not None
    assert sum(np.bincount(graph.labels[clusters == k]).max(initial=0) for k in range(3)) > 0.75 * graph.num_nodes


def test_the_autoencoder_learns_which_edges_stay_within(graph: Graph) -> None:
    assert graph.labels is not None
    inputs = NetworkInputs(graph, graph.edges)
    within = torch.tensor(graph.labels[graph.edges[:, 0]] == graph.labels[graph.edges[:, 1]])
    torch.manual_seed(0)
    likely = Autoencoder(inputs, within, 32, 8).train_probabilities(150, 0.01)
    assert likely[within].mean() > likely[~within].mean() + 0.3
    assert float(Autoencoder(inputs, within, 32, 8).weights[within].sum()) == pytest.approx(0.5)
    assert float(Autoencoder(inputs, within, 32, 8).weights.sum()) == pytest.approx(1.0)


def test_edges_between_clusters_go_first_and_the_least_likely_first(graph: Graph) -> None:
    found = MaskGVAE(rounds=1, partition_epochs=30, autoencoder_epochs=10).sanitize(graph, 60, seed=1)
    crosses = found.evidence["cluster_u"] != found.evidence["cluster_v"]
    assert found.scores == pytest.approx(crosses + 1 - found.evidence["link_probability"])
    assert (np.diff(found.scores) <= 0).all()
    assert found.trace["removed"].tolist() == [60]


def test_each_round_retrains(graph: Graph) -> None:
    found = MaskGVAE(rounds=3, partition_epochs=10, autoencoder_epochs=5).sanitize(graph, 31, seed=1)
    assert found.trace["removed"].tolist() == [11, 22, 31]
    once = MaskGVAE(rounds=1, partition_epochs=10, autoencoder_epochs=5).sanitize(graph, 31, seed=1)
    assert once.removed[:11].tolist() == found.removed[:11].tolist()
    assert once.removed.tolist() != found.removed.tolist()


def test_labels_are_not_used(graph: Graph) -> None:
    assert graph.labels is not None
    other = replace(graph, labels=(graph.labels + 1) % 3)
    cleaner = MaskGVAE(partition_epochs=5, autoencoder_epochs=5)
    assert cleaner.sanitize(graph, 20).removed.tolist() == cleaner.sanitize(other, 20).removed.tolist()


def test_the_global_random_state_is_unchanged(graph: Graph) -> None:
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    MaskGVAE(rounds=1, partition_epochs=2, autoencoder_epochs=2).sanitize(graph, 5)
    assert torch.rand(1) == expected

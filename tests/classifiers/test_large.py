"""The second form of training, for large graphs, against the full batch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from focusedcleaner.classifiers import (
    GCN,
    SGC,
    Classifier,
    Elastic,
    GNNGuard,
    LowRank,
    ProGNN,
    SimPGCN,
    base,
    classifier,
)
from focusedcleaner.classifiers import gcn as gcn_module
from focusedcleaner.classifiers import sgc as sgc_module
from focusedcleaner.classifiers.base import TwoLayers
from focusedcleaner.classifiers.gcn import sampled_scores
from focusedcleaner.classifiers.neighbour_sampler import NeighbourSampler
from focusedcleaner.classifiers.sgc import averaged_attributes
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.folder import open_folder
from focusedcleaner.io.folder_writer import write_folder
from tests.classifiers.dense import check_formula, features, hat, small
from tests.classifiers.test_gcn import dense_gcn
from tests.classifiers.test_sgc import dense_sgc
from tests.strategies import labelled_graphs


@pytest.fixture(scope="module")
def graph() -> Graph:
    return synthetic(400, 6.0, 3, 0.9, 60, attribute_signal=0.5, seed=1)


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs())
def test_a_batch_with_all_neighbours_has_the_logits_of_the_full_batch(graph: Graph) -> None:
    network = TwoLayers(GCN(), graph).eval()
    rng = np.random.default_rng(0)
    nodes = rng.permutation(graph.num_nodes)[:4]
    with torch.no_grad():
        sampled = sampled_scores(network, graph, nodes, NeighbourSampler(graph, graph.num_nodes), rng)
        torch.testing.assert_close(sampled, network(*network.inputs(graph))[nodes], rtol=1e-4, atol=1e-5)


def test_predictions_are_those_of_the_formula() -> None:
    check_formula(GCN(epochs=3, sampled=True, neighbours=2, batch_size=4), dense_gcn)
    check_formula(SGC(epochs=3, precomputed=True), dense_sgc)


def test_the_sampled_gcn_learns_as_well(graph: Graph) -> None:
    whole, sampled = (
        np.mean(
            [GCN(sampled=form, neighbours=4, batch_size=16).fit(graph, seed=seed).accuracy(graph) for seed in (0, 1)]
        )
        for form in (False, True)
    )
    assert sampled > whole - 0.03


def test_one_seed_one_sampled_result(graph: Graph) -> None:
    model = GCN(epochs=12, sampled=True, neighbours=3, batch_size=16)
    first, second = (model.fit(graph, seed=3).scores(graph) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, model.fit(graph, seed=4).scores(graph))


def test_sgc_is_trained_in_the_same_way(graph: Graph) -> None:
    first, second = (SGC(precomputed=form).fit(graph, seed=1) for form in (False, True))
    torch.testing.assert_close(first.scores(graph), second.scores(graph), rtol=1e-3, atol=1e-3)


def test_averaged_attributes() -> None:
    graph = small(0)
    nodes = torch.tensor([3, 0, 7])
    expected = (hat(graph) @ hat(graph) @ features(graph))[nodes]
    np.testing.assert_allclose(averaged_attributes(graph, 2, nodes), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("attributes", [True, False])
@pytest.mark.parametrize("model", [GCN(epochs=10), SGC(epochs=10)], ids=lambda model: model.name)
def test_large_graphs_are_recognized(
    graph: Graph, model: GCN | SGC, attributes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = graph if attributes else replace(graph, attributes=None)
    forced = replace(model, sampled=True) if isinstance(model, GCN) else replace(model, precomputed=True)
    expected = forced.fit(given).scores(given)
    for module in (gcn_module, sgc_module):
        monkeypatch.setattr(module, "LARGE", 500)
    assert torch.equal(model.fit(given).scores(given), expected)


def test_many_attributes_are_not_kept(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgc_module, "LARGE", 500)
    monkeypatch.setattr(sgc_module, "TABLE", 100)
    whole = SGC(epochs=5, precomputed=False).fit(graph).scores(graph)
    assert torch.equal(SGC(epochs=5).fit(graph).scores(graph), whole)


@pytest.mark.parametrize("model", [GCN(epochs=10, sampled=True), SGC(epochs=10, precomputed=True), GCN(epochs=10)])
def test_a_graph_folder_is_learnt_like_the_graph(graph: Graph, model: Classifier, tmp_path: Path) -> None:
    named = replace(graph, names=tuple(range(graph.num_nodes)))
    write_folder(tmp_path / "G", {}, named)
    folder = open_folder(tmp_path / "G")
    expected = model.fit(named, seed=1).predict(named)
    np.testing.assert_array_equal(model.fit(folder, seed=1).predict(folder), expected)


@pytest.mark.parametrize("model", [LowRank(), ProGNN(), SimPGCN()], ids=lambda model: model.name)
def test_who_compares_all_pairs_refuses_many_nodes(
    model: Classifier, graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "ALL_PAIRS", 399)
    message = f"{model.name} compares all pairs of nodes and takes at most 399 nodes, not 400: use gcn or sgc"
    with pytest.raises(InputError, match=message):
        model.fit(graph)


@pytest.mark.parametrize("name", ["elastic", "air", "rgcn", "median", "gnnguard", "prognn", "low-rank"])
def test_who_needs_too_much_memory_refuses(name: str, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "machine_memory", lambda: 1000)
    with pytest.raises(InputError, match=rf"{name} needs about \d+ GB of memory for this graph, and .* use gcn or sgc"):
        classifier(name).fit(graph)
    for scalable in ("gcn", "sgc", "mlp"):
        classifier(scalable, epochs=1).fit(graph)


def test_memory_grows_with_the_edges(graph: Graph) -> None:
    assert base.machine_memory() > 10**8
    fewer = replace(graph, edges=graph.edges[::2])
    for model in (Elastic(), GNNGuard()):
        assert model.bytes_held(graph) > model.bytes_held(fewer) > 0


def test_settings_for_large_graphs_count_if_they_are_set() -> None:
    """The settings are part of the keys of stored results."""
    assert set(SGC().settings()) - set(GCN().settings()) == {"hops"}
    assert set(GCN(sampled=True, neighbours=5).settings()) - set(GCN().settings()) == {"sampled", "neighbours"}
    for model in (GCN(sampled=False), GCN(batch_size=7), SGC(precomputed=True)):
        assert type(model)(**model.settings()) == model

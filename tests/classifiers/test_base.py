"""The guarantees of every classifier, whatever it computes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from focusedcleaner.classifiers import (
    CLASSIFIERS,
    GCN,
    MLP,
    RGCN,
    SGC,
    Air,
    Elastic,
    GNNGuard,
    LowRank,
    ProGNN,
    SimPGCN,
    classifier,
)
from focusedcleaner.classifiers.base import NetworkClassifier
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.convert import to_networkx, to_pyg

pytestmark = pytest.mark.slow

MODELS: list[type[NetworkClassifier]] = [method.kind for method in CLASSIFIERS]
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def weighted(graph: Graph, seed: int = 0) -> Graph:
    """The graph with attributes of random size, so that no two cosines are equal."""
    assert graph.attributes is not None
    rng = np.random.default_rng(seed)
    attributes = graph.attributes.copy()
    attributes.data = rng.uniform(0.5, 1.5, attributes.nnz)
    return replace(graph, attributes=attributes)


@pytest.fixture(scope="module")
def graph() -> Graph:
    return weighted(synthetic(150, 4.0, 3, 0.9, 60, attribute_signal=0.5, seed=1))


@every_model
def test_better_than_guessing(model: type[NetworkClassifier], graph: Graph) -> None:
    assert model(epochs=100).fit(graph).accuracy(graph) > 0.5


@pytest.mark.parametrize("convert", [to_pyg, to_networkx], ids=["PyG", "NetworkX"])
def test_graphs_of_other_libraries_are_accepted(graph: Graph, convert: Callable[[Graph], Any]) -> None:
    data = convert(graph)
    ours, theirs = (classifier("gcn", epochs=5).fit(given, seed=1) for given in (graph, data))
    np.testing.assert_array_equal(theirs.predict(data), ours.predict(graph))
    assert theirs.accuracy(data) == ours.accuracy(graph)


@every_model
def test_every_model_is_checked_against_its_formula(model: type[NetworkClassifier]) -> None:
    tests = "".join(file.read_text() for file in Path(__file__).parent.glob("test_*.py"))
    assert f"check_formula({model.__name__}(" in tests


@every_model
def test_one_seed_one_result(model: type[NetworkClassifier], graph: Graph) -> None:
    state = torch.random.get_rng_state()
    first, second = (model(epochs=8).fit(graph, seed=3).scores(graph) for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not torch.equal(first, model(epochs=8).fit(graph, seed=4).scores(graph))


@every_model
def test_renumbered_nodes_renumber_the_output(model: type[NetworkClassifier], graph: Graph) -> None:
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    fitted = model(epochs=8).fit(graph)
    renumbered = graph.subgraph(order)
    if model in (LowRank, ProGNN):
        with pytest.raises(InputError, match="predicts on no other"):
            fitted.predict(renumbered)
        return
    torch.testing.assert_close(fitted.scores(renumbered), fitted.scores(graph)[order], rtol=1e-4, atol=1e-4)


@every_model
def test_test_labels_are_not_seen(model: type[NetworkClassifier], graph: Graph) -> None:
    assert graph.split is not None
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = 2 - labels[graph.split.test]
    swapped = replace(graph, labels=labels)
    ours, theirs = (model(epochs=5).fit(which).scores(graph) for which in (graph, swapped))
    assert torch.equal(ours, theirs)


@every_model
def test_missing_and_rare_classes(model: type[NetworkClassifier], graph: Graph) -> None:
    """One class has no training node, another a single one; some training labels are unknown."""
    assert graph.labels is not None
    labels = graph.labels
    train = np.concatenate([np.flatnonzero(labels == 0)[:12], np.flatnonzero(labels == 1)[:1]])
    hidden = labels.copy()
    hidden[train[0]] = -1
    odd = replace(graph, labels=hidden, split=Split(train, [], np.setdiff1d(np.arange(graph.num_nodes), train)))
    scores = model(epochs=5).fit(odd).scores(odd)
    assert scores.shape == (graph.num_nodes, 3)
    assert scores.isfinite().all()


@every_model
def test_isolated_nodes_and_empty_rows(model: type[NetworkClassifier], graph: Graph) -> None:
    assert graph.attributes is not None
    assert graph.split is not None
    lonely = np.concatenate([graph.split.train[:2], graph.split.test[:3]])
    edges = graph.edges[~np.isin(graph.edges, lonely).any(axis=1)]
    bare = graph.attributes.tolil()
    bare[lonely[1:3]] = 0
    odd = replace(graph, edges=edges, attributes=sp.csr_array(bare))
    assert model(epochs=5).fit(odd).scores(odd).isfinite().all()


@every_model
def test_no_attributes(model: type[NetworkClassifier]) -> None:
    plain = synthetic(120, 6.0, 2, 0.95, 0, seed=2)
    fitted = model(epochs=60).fit(plain)
    assert fitted.scores(plain).isfinite().all()
    if model is not MLP:
        assert fitted.accuracy(plain) > 0.55


@every_model
def test_without_edges(model: type[NetworkClassifier], graph: Graph) -> None:
    bare = replace(graph, edges=np.empty((0, 2), dtype=np.int64))
    assert model(epochs=3).fit(bare).scores(bare).isfinite().all()


@every_model
def test_settings_are_json_and_rebuild_the_model(model: type[NetworkClassifier]) -> None:
    settings = json.loads(json.dumps(model(epochs=7).settings()))
    assert settings["epochs"] == 7
    assert model(**settings) == model(epochs=7)


@every_model
def test_mistakes_cost_one_line(model: type[NetworkClassifier], graph: Graph) -> None:
    with pytest.raises(InputError, match="not been fitted"):
        model().predict(graph)
    with pytest.raises(InputError, match="labels and training nodes"):
        model().fit(replace(graph, labels=None))
    fitted = model(epochs=1).fit(graph)
    assert graph.attributes is not None
    narrow = replace(graph, attributes=graph.attributes[:, :10])
    with pytest.raises(InputError, match="the model knows 60 attributes, but the graph has 10"):
        fitted.predict(narrow)
    for wrong in ({"hidden": 0}, {"dropout": 1.0}, {"rate": 0.0}, {"weight_decay": -1.0}, {"patience": 0}):
        with pytest.raises(InputError):
            model(**wrong)


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (SGC, {"hops": -1}),
        (RGCN, {"divergence": -1.0}),
        (SimPGCN, {"neighbours": 0}),
        (GNNGuard, {"memory": 1.5}),
        (Elastic, {"steps": -1}),
        (Air, {"smoothness": 0.0}),
        (LowRank, {"rank": 0}),
        (ProGNN, {"interval": 0}),
    ],
)
def test_own_settings_are_checked(model: type[NetworkClassifier], wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        model(**wrong)  # type: ignore[arg-type]


def test_the_best_validated_state_is_kept(graph: Graph) -> None:
    """With all the patience there is, the state kept validates at least as well as the last one."""
    assert graph.split is not None
    assert graph.labels is not None
    val, labels = graph.split.val, graph.labels

    def validation(fitted: NetworkClassifier) -> float:
        return float((fitted.predict(graph)[val] == labels[val]).mean())

    last = GCN(epochs=60).fit(graph.with_split(Split(graph.split.train, [], graph.split.test)))
    assert validation(GCN(epochs=60, patience=60).fit(graph)) >= validation(last)


def test_no_known_training_label(graph: Graph) -> None:
    assert graph.split is not None
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.split.train] = -1
    with pytest.raises(InputError, match="no training node has a known label"):
        GCN().fit(replace(graph, labels=labels))


def test_without_validation_the_last_state_is_kept(graph: Graph) -> None:
    """The validation nodes are not looked at: their labels may be any."""
    assert graph.split is not None
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[graph.split.val] = 2 - labels[graph.split.val]
    without = graph.with_split(Split(graph.split.train, [], graph.split.test))
    for model in (GCN, Elastic):
        last = model(epochs=12, validated=False).fit(graph).scores(graph)
        torch.testing.assert_close(last, model(epochs=12).fit(without).scores(graph))
        torch.testing.assert_close(
            last, model(epochs=12, validated=False).fit(replace(graph, labels=labels)).scores(graph)
        )

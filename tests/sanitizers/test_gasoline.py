"""GASOLINE against dense autograd of every pair, and its folds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io.convert import from_pyg, to_pyg
from focusedcleaner.pyg import Sanitize
from focusedcleaner.sanitizers import FocusedCleaner, Gasoline, GasolineD
from focusedcleaner.sanitizers.gasoline import fold_splits
from focusedcleaner.surrogate import Unrolled
from tests.strategies import labelled_graphs

INNER = Unrolled(steps=15, rate=0.5)


@pytest.fixture(scope="module")
def graph() -> Graph:
    """With names in order, so that the folds are drawn from the nodes in this one."""
    drawn = synthetic(num_nodes=40, num_classes=3, num_attributes=8, mean_degree=3, seed=2)
    return replace(drawn, names=tuple(range(40)))


def dense_slopes(graph: Graph, splits: list[Split]) -> Tensor:
    """∂L/∂A for all N² pairs of the sum of the folds' validation losses, by autograd through the momentum steps."""
    assert graph.features is not None
    adjacency = torch.tensor(graph.adjacency().toarray(), requires_grad=True)
    loops = adjacency + torch.eye(graph.num_nodes).double()
    scale = loops.sum(1).rsqrt()
    normalized = scale[:, None] * loops * scale
    rows = normalized @ normalized @ torch.tensor(graph.features.toarray())
    onehot = torch.nn.functional.one_hot(torch.tensor(graph.labels), graph.num_classes).double()
    loss = torch.zeros(()).double()
    for split in splits:
        train, val = torch.tensor(split.train), torch.tensor(split.val)
        weights = torch.zeros(rows.shape[1], graph.num_classes).double()
        velocity = torch.zeros_like(weights)
        for _ in range(INNER.steps):
            errors = (torch.softmax(rows[train] @ weights, 1) - onehot[train]) / len(train)
            velocity = INNER.momentum * velocity + rows[train].T @ errors
            weights = weights - INNER.rate * velocity
        logs = torch.log_softmax(rows[val] @ weights, 1)
        loss = loss - (logs * onehot[val]).sum() / len(val)
    (slopes,) = torch.autograd.grad(loss, adjacency)
    return slopes + slopes.T


def best_flip(graph: Graph, splits: list[Split], flipped: set[tuple[int, int]], *, inserts: bool) -> tuple[int, int]:
    slopes = dense_slopes(graph, splits).tolist()
    edges = {(int(u), int(v)) for u, v in graph.edges}
    gains = {}
    for u in range(graph.num_nodes):
        for v in range(u + 1, graph.num_nodes):
            if (u, v) in flipped:
                continue
            if (u, v) in edges and graph.degrees[[u, v]].min() > 1:
                gains[u, v] = slopes[u][v]
            elif (u, v) not in edges and inserts:
                gains[u, v] = -slopes[u][v]
    return max(gains, key=lambda pair: gains[pair])


@pytest.mark.parametrize("kind", [Gasoline, GasolineD])
@pytest.mark.parametrize("folds", [1, 3])
def test_flips_are_the_best_of_all_pairs(kind: type[Gasoline], folds: int, graph: Graph) -> None:
    found = kind(folds=folds, edges_per_round=1, inner=INNER).sanitize(graph, 6, seed=4)
    splits = fold_splits(graph, folds, 4)
    now, flipped = graph, set[tuple[int, int]]()
    for _ in range(6):
        u, v = best_flip(now, splits, flipped, inserts=kind.inserts)
        there = now.without_edges([[u, v]])
        now = there if there.num_edges < now.num_edges else now.with_edges([[u, v]])
        flipped.add((u, v))
    assert {tuple(pair) for pair in (*found.removed.tolist(), *found.added.tolist())} == flipped
    assert found.graph == now
    assert (len(found.added) > 0) == kind.inserts


def test_scores_are_slopes_of_the_loss(graph: Graph) -> None:
    found = Gasoline(folds=2, edges_per_round=20, inner=INNER).sanitize(graph, 20)
    slopes = dense_slopes(graph, fold_splits(graph, 2, 0)).numpy()
    assert found.added_scores == pytest.approx([-slopes[u, v] for u, v in found.added])
    assert found.scores == pytest.approx([slopes[u, v] for u, v in found.removed])
    assert (np.diff(found.added_scores) <= 0).all()


def test_gasoline_d_with_one_fold_is_the_unfocused_cleaner(graph: Graph) -> None:
    plain = FocusedCleaner("none", eta=0.0, validation_weight=1.0).sanitize(graph, 20)
    ours = GasolineD(folds=1).sanitize(graph, 20)
    assert ours.removed.tolist() == plain.removed.tolist()
    assert ours.scores == pytest.approx(plain.scores, rel=1e-6)
    assert ours.evidence["classes_u"] == pytest.approx(plain.evidence["classes_u"], rel=1e-6)


@settings(deadline=None, max_examples=25)
@given(graph=labelled_graphs(min_nodes=12), folds=st.integers(2, 4), seed=st.integers(0, 100))
def test_folds_partition_the_labelled_nodes(graph: Graph, folds: int, seed: int) -> None:
    assert graph.split is not None
    assert graph.labels is not None
    known = np.sort(np.concatenate([graph.split.train, graph.split.val]))
    if len(known) < folds:
        with pytest.raises(InputError, match=f"too few for {folds} folds"):
            fold_splits(graph, folds, seed)
        return
    splits = fold_splits(graph, folds, seed)
    assert np.sort(np.concatenate([split.val for split in splits])).tolist() == known.tolist()
    for split in splits:
        assert np.sort(np.concatenate([split.train, split.val])).tolist() == known.tolist()
        assert split.test.tolist() == graph.split.test.tolist()
    for label in range(graph.num_classes):
        sizes = [int((graph.labels[split.val] == label).sum()) for split in splits]
        assert max(sizes) - min(sizes) <= 1


def test_one_fold_needs_validation_nodes(graph: Graph) -> None:
    assert graph.split is not None
    split = Split(graph.split.train, [], np.concatenate([graph.split.val, graph.split.test]))
    with pytest.raises(InputError, match="the split has no validation node: with folds=1"):
        GasolineD(folds=1).sanitize(graph.with_split(split), 5)
    assert len(GasolineD(folds=2).sanitize(graph.with_split(split), 5).removed) == 5


def test_a_budget_for_flips_may_exceed_what_can_be_removed() -> None:
    path = Graph(5, [[0, 1], [1, 2], [2, 3], [3, 4]], np.eye(5), [0, 1, 0, 1, 0], Split([0, 1], [2, 3], [4]))
    with pytest.raises(InputError, match="at most 1 of 4 can be removed"):
        GasolineD(folds=1).sanitize(path, 4)
    found = Gasoline(folds=1).sanitize(path, 4)
    assert len(found.removed) + len(found.added) == 4


# The PyG transform ---------------------------------------------------------------------------------------------------


def test_the_transform_inserts_too(graph: Graph) -> None:
    data = to_pyg(graph)
    cleaned = Sanitize("gasoline", budget=10, folds=2)(data)
    expected = Gasoline(folds=2).sanitize(graph, 10)
    assert from_pyg(cleaned) == expected.graph
    assert cleaned.added_edge_index.tolist() == expected.added.T.tolist()
    data.edge_weight = torch.ones(data.num_edges)
    with pytest.raises(InputError, match="gasoline inserts edges, but the data's edges have attributes"):
        Sanitize("gasoline", budget=10)(data)


def test_flips_without_attributes(graph: Graph) -> None:
    found = Gasoline(folds=2).sanitize(replace(graph, attributes=None), 10)
    assert len(found.removed) + len(found.added) == 10

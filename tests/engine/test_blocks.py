"""Row blocks: the same results as in one piece, and the same digits for any number of threads."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.adjacency_rows import AdjacencyRows, block_starts
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine import Attributes, Structure, computing
from focusedcleaner.engine.blocks import EdgeWeights, FeatureBlock, RowBlock, row_blocks
from focusedcleaner.engine.parallel import map_blocks, map_parts
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.folder import open_folder
from focusedcleaner.io.folder_writer import write_folder
from focusedcleaner.sanitizers import sanitizer
from tests.strategies import labelled_graphs


@pytest.fixture
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> Graph:
    """A graph of about fifteen blocks."""
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 200)
    graph = synthetic(400, 5, 4, 0.8, 40, seed=3)
    assert len(graph.rows.starts) > 10
    return graph


def _matrix(graph: Graph, values: torch.Tensor) -> torch.Tensor:
    """Edge values as a symmetric matrix."""
    u, v = graph.edges.T
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes, dtype=values.dtype)
    matrix[u, v] = matrix[v, u] = values
    return matrix


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(), entries=st.integers(1, 30), seed=st.integers(0, 99))
def test_blocks_give_what_dense_matrices_give(graph: Graph, entries: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", entries)
        structure, attributes = Structure(graph), Attributes(graph)
    adjacency = torch.from_numpy(graph.adjacency().toarray())
    rng = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(graph.num_nodes, 3, generator=rng, dtype=torch.float64) for _ in range(2))
    scale = (adjacency.sum(1) + 1).rsqrt()
    propagation = scale[:, None] * (adjacency + torch.eye(graph.num_nodes)) * scale
    u, v = torch.from_numpy(graph.edges).T
    expected_at_edges = (left[u] * right[v]).sum(1) + (left[v] * right[u]).sum(1)
    values = torch.randn(graph.num_edges, generator=rng, dtype=torch.float64)
    sums = torch.zeros(graph.num_nodes, dtype=torch.float64).index_add_(0, u, values).index_add_(0, v, values)
    nodes = torch.randperm(graph.num_nodes, generator=rng)[: graph.num_nodes // 2]
    torch.testing.assert_close(structure.neighbour_sum(left), adjacency @ left)
    torch.testing.assert_close(structure.propagate(left), propagation @ left)
    torch.testing.assert_close(structure.propagate_to(nodes, left), (propagation @ left)[nodes])
    torch.testing.assert_close(structure.at_edges(left, right), expected_at_edges)
    torch.testing.assert_close(structure.edge_products(left, right), (left[u] * right[v]).sum(1))
    torch.testing.assert_close(structure.at_nodes(values), sums)
    torch.testing.assert_close(structure.total(values), values.sum())
    largest = torch.stack([(adjacency[i] * _matrix(graph, values)[i]).amax() for i in range(graph.num_nodes)])
    torch.testing.assert_close(structure.largest_at_nodes(values), largest.clamp_min(0))
    marked = left[:, 0] > 0
    for ends in (1, 2):
        assert (
            structure.edges_at(marked, ends).tolist()
            == (marked[u].int() + marked[v] >= ends).nonzero().ravel().tolist()
        )
    torch.testing.assert_close(structure.times_ends(values, sums), values * sums[u] * sums[v])
    torch.testing.assert_close(structure.plus_ends(values, sums), values + sums[u] + sums[v])
    if graph.features is not None:
        x = torch.from_numpy(graph.features.toarray())
        torch.testing.assert_close(attributes.dense(), x)
        torch.testing.assert_close(attributes.transposed_times(left), x.T @ left)
        torch.testing.assert_close(attributes.at_edges(structure), (x[u] * x[v]).sum(1))


@settings(deadline=None)
@given(degrees=st.lists(st.integers(0, 20), min_size=1, max_size=60))
def test_blocks_cover_all_rows_once_and_have_a_bounded_size(degrees: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 30)
        starts = block_starts(np.concatenate([[0], np.cumsum(degrees)]))
    assert starts[0] == 0
    assert starts[-1] == len(degrees)
    assert (np.diff(starts) > 0).all()
    costs = [sum(degrees[start:stop]) + stop - start for start, stop in itertools.pairwise(starts)]
    assert max(costs) <= 30 + 2 * (max(degrees) + 1)


def test_removed_edges_have_no_weight_in_any_block(many_blocks: Graph) -> None:
    structure = Structure(many_blocks)
    removed = torch.arange(0, many_blocks.num_edges, 3)
    structure.remove(removed)
    rest = Structure(many_blocks.without_edges(many_blocks.edges[removed.numpy()]))
    matrix = torch.randn(many_blocks.num_nodes, 2, dtype=torch.float64)
    torch.testing.assert_close(structure.propagate(matrix), rest.propagate(matrix))


@pytest.mark.parametrize("method", ["agreement", "cld", "lp", "focused-none"])
def test_threads_change_no_digit(many_blocks: Graph, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("detectors.classdiv.MANY_NODES", "detectors.classdiv.SAMPLED_NODES"):
        monkeypatch.setattr(f"focusedcleaner.{name}", 100)
    monkeypatch.setattr("focusedcleaner.detectors.linkpred.SAMPLED_EDGES", 100)
    monkeypatch.setattr("focusedcleaner.engine.parallel.PART", 64)
    for module in ("detectors.classdiv", "detectors.linkpred", "surrogate.features", "edge_features.class_regression"):
        monkeypatch.setattr(f"focusedcleaner.{module}.SMALL_PART", 16)
    cleaner = sanitizer(method, **({} if method == "agreement" else {"edges_per_round": 10}))
    one, several = (cleaner.sanitize(many_blocks, 40, threads=threads) for threads in (1, 3))
    assert len(one.removed) == 40
    assert one.removed.tolist() == several.removed.tolist()
    assert one.scores.tobytes() == several.scores.tobytes()
    assert all(one.evidence[name].tobytes() == several.evidence[name].tobytes() for name in one.evidence)


@pytest.mark.parametrize("method", ["agreement", "cld", "lp"])
def test_blocks_hardly_change_which_edges_go(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one round: over several, the last digits of a training, which differ between processors, too, add up."""
    graph = synthetic(400, 5, 4, 0.8, 40, seed=3)
    cleaner = sanitizer(method, **({} if method == "agreement" else {"edges_per_round": 80}))
    whole = cleaner.sanitize(graph, 80).removed
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 200)
    again = Graph(graph.num_nodes, graph.edges, graph.attributes, graph.labels, graph.split)
    by_blocks = cleaner.sanitize(again, 80).removed
    same = set(map(tuple, whole.tolist())) & set(map(tuple, by_blocks.tolist()))
    assert len(same) >= 60


def test_blocks_can_be_sent_to_another_process(many_blocks: Graph) -> None:
    weights = EdgeWeights(torch.rand(many_blocks.num_edges))
    matrix = torch.rand(many_blocks.num_nodes, 2)
    blocks = row_blocks(many_blocks.rows)
    copies = pickle.loads(pickle.dumps(blocks))
    for block, copy in zip(blocks, copies, strict=True):
        assert torch.equal(block.times(matrix, weights), copy.times(matrix, weights))


@pytest.mark.parametrize("unit", [False, True])
def test_blocks_of_a_folder_are_sent_as_their_place_with_their_rows(
    many_blocks: Graph, unit: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "graph", {}, many_blocks)
    graph = open_folder(tmp_path / "graph")
    blocks: list[RowBlock | FeatureBlock] = [*Structure(graph).blocks, *Attributes(graph, unit=unit).blocks]
    sent = pickle.dumps(blocks)
    assert len(sent) < 200 * len(blocks)
    monkeypatch.setattr("focusedcleaner.adjacency_rows.BLOCK_ENTRIES", 10**6)  # another process has its own
    weights, matrix = EdgeWeights(torch.rand(graph.num_edges)), torch.rand(graph.num_nodes, 2)
    columns = torch.rand(graph.num_attributes, 2, dtype=torch.float64)
    for block, copy in zip(blocks, pickle.loads(sent), strict=True):
        assert (block.start, block.stop, block.position) == (copy.start, copy.stop, copy.position)
        if isinstance(block, RowBlock):
            assert torch.equal(block.times(matrix, weights), copy.times(matrix, weights))
        else:
            assert torch.equal(block.times(columns), copy.times(columns))


def test_positions_share_the_entries_out_evenly(many_blocks: Graph) -> None:
    blocks = row_blocks(many_blocks.rows)
    for workers in (1, 2, 3):
        shares = [0] * workers
        for block in blocks:
            shares[int(block.position * workers)] += len(block.columns) + block.stop - block.start
        assert max(shares) - min(shares) <= 2 * 200
    assert [block.position for block in blocks] == sorted(block.position for block in blocks)


def test_an_adjacency_by_rows_is_that_of_the_graph(many_blocks: Graph) -> None:
    rows = AdjacencyRows.of(many_blocks.num_nodes, many_blocks.edges)
    node = np.repeat(np.arange(many_blocks.num_nodes), np.diff(rows.indptr))
    ends = np.sort(np.stack([node, rows.indices], axis=1), axis=1)
    assert (many_blocks.edges[rows.entry_edges] == ends).all()


def test_kernels_run_in_the_threads_that_were_asked_for() -> None:
    def threads_inside(_: int) -> int:
        return torch.get_num_threads()

    before = torch.get_num_threads()
    with computing(2):
        assert map_blocks(threads_inside, [1, 2, 3]) == [1, 1, 1]
        assert map_parts(lambda part: part + 1, [1, 2]) == [2, 3]
    assert torch.get_num_threads() == before
    with pytest.raises(InputError, match="at least 1, not 0"), computing(0):
        pass

"""Rows, nearest neighbours and eigenpairs of sparse matrices against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from focusedcleaner.engine import sparse
from focusedcleaner.engine.sparse import (
    filled,
    leading_eigenpairs,
    leading_subspace,
    nearest_neighbours,
    product_blocks,
    row_products,
    unit_profiles,
    unit_rows,
)
from focusedcleaner.graph import Graph


def small() -> Graph:
    """A random graph with attributes of random size; node 1 has none."""
    rng = np.random.default_rng(4)
    attributes = rng.uniform(0.5, 1.5, (14, 9)) * (rng.random((14, 9)) < 0.5)
    attributes[1] = 0
    return Graph.from_pairs(14, rng.integers(0, 13, (28, 2)), attributes=sp.csr_array(attributes))


def cosine(values: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(values, axis=1, keepdims=True)
    unit = values / np.where(length > 0, length, 1)
    return np.asarray(unit @ unit.T)


@pytest.mark.parametrize("batch", [3, 50_000])
def test_similarities(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_BATCH", batch)
    graph = small()
    assert graph.features is not None
    alike = cosine(graph.features.toarray())
    units = unit_profiles(graph)
    np.testing.assert_allclose(row_products(units, units, graph.edges), alike[tuple(graph.edges.T)])
    pairs, values = nearest_neighbours(units, 2)
    np.testing.assert_allclose(values, alike[tuple(pairs.T)])
    np.fill_diagonal(alike, 0)
    expected = [np.sort(row)[::-1][:2] for row in alike]
    np.testing.assert_allclose(values, np.concatenate([row[row > 0] for row in expected]))
    assert row_products(units, units, graph.edges[:0]).shape == (0,)


@pytest.mark.parametrize("entries", [10, 20_000_000])
def test_long_rows_are_looked_up_with_the_same_digits(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    dense = rng.random((40, 300)) * (rng.random((40, 300)) < 0.1)
    dense[:2] = rng.random((2, 300))
    left, right = sp.csr_array(dense), sp.csr_array(dense[::-1] * (dense[::-1] > 0.05))
    pairs = np.concatenate([rng.integers(0, 40, (200, 2)), [[0, 38], [0, 39], [1, 0]]])
    expected = left[pairs[:, 0]].multiply(right[pairs[:, 1]]).sum(axis=1)
    monkeypatch.setattr(sparse, "_BATCH_ENTRIES", entries)
    monkeypatch.setattr(sparse, "_LONG", 50)
    monkeypatch.setattr(sparse, "_UNEVEN", 2)
    assert np.array_equal(row_products(left, right, pairs), expected)
    assert np.array_equal(row_products(sp.csr_array((40, 300)), right, pairs), np.zeros(len(pairs)))
    unsorted = sp.csr_array(sp.eye_array(40, format="csr") @ right)
    unsorted.indices[: unsorted.indptr[1]] = unsorted.indices[: unsorted.indptr[1]][::-1].copy()
    unsorted.data[: unsorted.indptr[1]] = unsorted.data[: unsorted.indptr[1]][::-1].copy()
    unsorted.has_sorted_indices = False
    np.testing.assert_allclose(row_products(left, unsorted, pairs), expected)


@pytest.mark.parametrize("cached", [1, 700, 4_000_000])
def test_products_with_fuller_and_with_dense_rows(cached: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_CACHED", cached)
    rng = np.random.default_rng(0)
    few = rng.random((40, 300)) * (rng.random((40, 300)) < 0.03)
    many = rng.random((30, 300)) * (rng.random((30, 300)) < 0.5)
    few[3], many[4] = 0, 0
    pairs = np.stack([rng.integers(0, 40, 500), rng.integers(0, 30, 500)], axis=1)
    expected = (few[pairs[:, 0]] * many[pairs[:, 1]]).sum(axis=1)
    left, right = sp.csr_array(few), sp.csr_array(many)
    assert right.nnz > sparse._FULLER * left.nnz
    for one, other in ((left, right), (few, many)):
        np.testing.assert_allclose(row_products(one, other, pairs), expected)
        assert row_products(one, other, pairs[:0]).shape == (0,)
    assert isinstance(filled(right), np.ndarray)
    assert filled(left) is left


def test_rows_of_a_product_are_split_by_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_BATCH_ENTRIES", 12)
    full, rows = sp.csr_array(np.ones((5, 5))), np.array([4, 2, 1, 0])
    blocks = product_blocks(full, full, rows)
    assert np.concatenate(blocks).tolist() == rows.tolist()
    assert [len(block) for block in blocks] == [2, 2]
    assert len(product_blocks(sp.csr_array((5, 5)), full, rows)) == 1


def test_profiles_without_attributes_are_rows_of_the_adjacency() -> None:
    graph = Graph(3, [[0, 1]])
    np.testing.assert_allclose(unit_profiles(graph).toarray(), [[0.5**0.5] * 2 + [0]] * 2 + [[0, 0, 1]])


def test_ties_go_to_the_smaller_number() -> None:
    units = unit_rows(sp.csr_array(np.ones((5, 2))))
    assert nearest_neighbours(units, 2)[0].tolist() == [
        *([0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1], [3, 0], [3, 1], [4, 0], [4, 1])
    ]


def test_leading_eigenvalues_of_a_larger_matrix() -> None:
    rng = np.random.default_rng(0)
    matrix = Graph.from_pairs(600, rng.integers(0, 600, (2000, 2))).adjacency()
    values, vectors = leading_eigenpairs(matrix, 5)
    exact = np.linalg.eigvalsh(matrix.toarray())
    np.testing.assert_allclose(np.abs(values), np.sort(np.abs(exact))[::-1][:5], rtol=1e-6)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-6)


def test_a_subspace_iteration_finds_the_leading_eigenpairs() -> None:
    rng = np.random.default_rng(0)
    matrix = Graph.from_pairs(600, np.minimum(rng.integers(0, 600, (4000, 2)), 400)).adjacency()
    for exact, found in zip(leading_eigenpairs(matrix, 2), leading_subspace(matrix, 2), strict=True):
        np.testing.assert_allclose(np.abs(found), np.abs(exact), atol=1e-3)

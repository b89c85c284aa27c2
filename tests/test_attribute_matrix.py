"""Attributes on one scale: units, shifts and extreme numbers change nothing, 0/1 attributes stay as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from focusedcleaner import attribute_matrix
from focusedcleaner.attribute_matrix import LARGEST, AttributeMatrix, scaled
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split

whole = arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 6)), elements=st.integers(-40, 40).map(float))
anything = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 6)),
    elements=st.floats(allow_nan=False, allow_infinity=False, width=64),
)


def dense(matrix: np.ndarray) -> np.ndarray | None:
    features = scaled(sp.csr_array(matrix))
    return None if features is None else features.toarray()


def same(one: np.ndarray | None, other: np.ndarray | None) -> bool:
    return one is other is None or (one is not None and other is not None and np.array_equal(one, other))


@settings(deadline=None)
@given(matrix=whole, seed=st.integers(0, 99))
def test_units_change_no_bit(matrix: np.ndarray, seed: int) -> None:
    units = np.random.default_rng(seed).choice([1.0, 60.0, 1000.0, 3600.0, 2.0**-40], matrix.shape[1])
    assert same(dense(matrix * units), dense(matrix))


@settings(deadline=None)
@given(matrix=whole.filter(lambda matrix: len(matrix) > 2), shift=st.integers(-1000, 1000))
def test_a_dense_column_may_be_shifted(matrix: np.ndarray, shift: int) -> None:
    matrix[:, 0] = np.where(matrix[:, 0] + shift == 0, 1, matrix[:, 0])
    matrix[:, 0] = np.where(matrix[:, 0] == 0, 41, matrix[:, 0])
    matrix[:2, 0] = 41, 42  # not constant, and without a zero before or after
    if (matrix[:, 0] + shift == 0).any():
        return
    moved = matrix.copy()
    moved[:, 0] += shift
    assert same(dense(moved), dense(matrix))


@settings(deadline=None)
@given(matrix=anything, seed=st.integers(0, 99))
def test_the_order_of_the_nodes_changes_no_bit(matrix: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(matrix))
    features = dense(matrix)
    assert same(dense(matrix[order]), None if features is None else features[order])


@settings(deadline=None)
@given(matrix=anything)
def test_features_of_any_finite_attributes_are_finite_and_bounded(matrix: np.ndarray) -> None:
    before = matrix.copy()
    features = dense(matrix)
    assert np.array_equal(matrix, before)
    if features is None:
        assert (matrix == matrix[0]).all() or np.ptp(matrix / np.abs(matrix).max(), axis=0).max() < 1e-300
        return
    assert np.isfinite(features).all()
    assert np.abs(features).max() <= LARGEST
    assert np.abs(features).max() > 0


@settings(deadline=None, max_examples=50)
@given(
    matrix=arrays(np.float64, (7, 4), elements=st.sampled_from([0.0, 1.0])), scale=st.sampled_from([1e-300, 7, 1e300])
)
def test_one_value_a_column_becomes_0_and_1(matrix: np.ndarray, scale: float) -> None:
    assert same(dense(matrix * scale), dense(matrix))
    features = dense(matrix)
    assert (features is None) == (matrix == matrix[0]).all()
    tells = (matrix != matrix[0]).any(axis=0)  # constant columns become 0
    assert features is None or np.array_equal(features[:, features.any(axis=0)], matrix[:, tells])


def test_0_1_attributes_are_the_same_object() -> None:
    graph = synthetic(60, seed=0)
    assert graph.features is graph.attributes


def test_features_are_computed_once_for_all_graphs_with_these_attributes() -> None:
    graph = replace(synthetic(60, seed=0), attributes=np.random.default_rng(0).random((60, 3)), attribute_names=None)
    other = graph.without_edges(graph.edges[:3]).with_split(Split([0], [1], [2]))
    assert other.attributes is graph.attributes
    assert other.features is graph.features


@pytest.mark.parametrize("constant", [1.0, -3.0, 1e300])
@pytest.mark.parametrize("other", [[0, 1, 1], [0, 5, 9]])
def test_a_constant_column_becomes_0(constant: float, other: list[float]) -> None:
    features = dense(np.column_stack([other, np.full(3, constant)]))
    assert features is not None
    assert features[:, 0].any()
    assert not features[:, 1].any()


def test_sparse_and_dense_columns() -> None:
    matrix = np.zeros((8, 3))
    matrix[:3, 0] = 10, 20, 40  # sparse: divided by 20
    matrix[:, 1] = [18, 30, 35, 40, 41, 50, 62, 1e9]  # dense: centred at 40, divided by 62 − 30
    matrix[:, 2] = 5  # constant: dropped
    features = dense(matrix)
    assert features is not None
    np.testing.assert_array_equal(features[:, 0], [0.5, 1, 2, 0, 0, 0, 0, 0])
    np.testing.assert_array_equal(features[:, 1], [*((matrix[:7, 1] - 40) / 32), LARGEST])
    np.testing.assert_array_equal(features[:, 2], 0)


def test_a_claim_of_many_columns_costs_nothing() -> None:
    wide = sp.coo_array(([1.0, 1.0, 3.0], ([0, 1, 2], [5, 10**9, 7])), shape=(3, 2 * 10**9)).tocsr()
    graph = Graph(3, [[0, 1], [1, 2]], attributes=wide)
    assert graph.num_attributes == 2 * 10**9
    assert graph.features is not None
    np.testing.assert_array_equal(graph.features.toarray(), [[1, 0, 0], [0, 0, 1], [0, 1, 0]])


def test_frozen_attributes_are_a_checked_copy() -> None:
    own = np.array([[1.0, 0.0], [0.0, 2.0]])
    matrix = AttributeMatrix.frozen(own, 2)
    own[0, 0] = 9
    assert matrix.toarray().tolist() == [[1, 0], [0, 2]]
    assert AttributeMatrix.frozen(matrix, 2) is matrix
    assert AttributeMatrix.frozen(matrix[[1, 0]], 2).toarray().tolist() == [[0, 2], [1, 0]]
    with pytest.raises(ValueError, match="read-only"):
        matrix.data[0] = 3
    with pytest.raises(InputError, match="there are attributes for 2 nodes, but the graph has 3"):
        AttributeMatrix.frozen(matrix, 3)


@given(st.integers(0, 2**32 - 1))
def test_large_matrices_are_scaled_part_by_part_to_the_same_digits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes, columns = int(rng.integers(2, 30)), int(rng.integers(1, 8))
    values = rng.normal(size=(nodes, columns)) * 10.0 ** rng.integers(-5, 5, columns)
    values[rng.random(values.shape) < rng.random(columns)] = 0
    values[:, rng.random(columns) < 0.3] = np.round(values[:, :1] * 0 + rng.integers(0, 3, (nodes, 1)))
    whole = AttributeMatrix.frozen(values, nodes)
    expected, scales = whole.features, whole.column_scales
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(attribute_matrix, "PART", 7)
        parts = AttributeMatrix.frozen(values, nodes)
        assert (parts.features is None) == (expected is None)
        if parts.features is not None and expected is not None:
            assert np.array_equal(parts.features.toarray(), expected.toarray())
        assert all(map(np.array_equal, parts.column_scales, scales))

"""Raw matrices, weights and labels become a simple graph, or are refused."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.io.convert import from_scipy


def test_a_raw_matrix_is_made_simple_with_one_warning_that_counts() -> None:
    matrix = sp.coo_array(([2.0, 1, 1, 1, 0, 1], ([0, 1, 1, 2, 3, 3], [1, 2, 2, 2, 0, 1])), shape=(4, 4))
    with pytest.warns(InputWarning) as caught:
        graph = from_scipy(matrix)
    assert graph.edges.tolist() == [[0, 1], [1, 2], [1, 3]]
    assert [str(warning.message) for warning in caught] == [
        "the adjacency: 3 edges were given in one direction only and were made undirected, "
        "1 self-loop, 1 repeated edge and 1 weight-0 edge were dropped, 1 weight other than 1 was not used"
    ]


@pytest.mark.parametrize(("weight", "message"), [(-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf")])
def test_impossible_weights_are_refused(weight: float, message: str) -> None:
    with pytest.raises(InputError, match=f"edge 0–1 has weight {message}: weights must be finite and not negative"):
        from_scipy(sp.csr_array(np.array([[0, weight], [0, 0]])))


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [(np.ones((2, 3)), "square, not 2 × 3"), (np.zeros((0, 0)), "empty"), (np.ones((2, 2), complex), "real number")],
)
def test_invalid_adjacency_matrices_are_refused(adjacency: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_scipy(adjacency)


def test_labels_may_be_whole_floats_and_nothing_else() -> None:
    empty = sp.csr_array((3, 3))
    assert from_scipy(empty, labels=[1.0, np.nan, 0.0]).labels.tolist() == [1, -1, 0]  # type: ignore[union-attr]
    assert from_scipy(empty, labels=[[1], [1], [0]]).labels.tolist() == [1, 1, 0]  # type: ignore[union-attr]
    for wrong, message in (
        ([0.5, 0, 0], "0.5 is not a whole"),
        (["a"] * 3, "class number"),
        ([np.inf, 0, 0], "inf is not"),
    ):
        with pytest.raises(InputError, match=message):
            from_scipy(empty, labels=wrong)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0, 1], [1, 1], [1, 0]], r"1 node has several classes \(multi-label\): give one class per node"),
        ([[0, 1], [2, 0], [1, 0]], r"labels of shape \(3, 2\) must be one-hot"),
        ([[0.5, 0.5], [1, 0], [1, 0]], "must be one-hot"),
    ],
)
def test_rows_that_are_not_one_hot_are_refused(labels: list[list[float]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        from_scipy(sp.csr_array((3, 3)), labels=labels)


def test_one_hot_rows_without_a_1_are_unknown() -> None:
    graph = from_scipy(sp.csr_array((4, 4)), labels=np.array([[0, 1], [0, 0], [np.nan, np.nan], [1, 0]]))
    assert graph.labels is not None
    assert graph.labels.tolist() == [1, -1, -1, 0]

"""Edges in a sparse adj_t are read, selected, inserted and weighted as those in an edge_index are."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.io.pyg_edges import insert_edges, matrix_shape, read_edges, select_edges, weight_edges
from tests.io.helpers import relaxed

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # PyG's own use of torch
    from torch_geometric.data import Data

SIZE = 5


class SparseTensor:
    """The part of torch_sparse's class that is used."""

    def __init__(self, row: Any, col: Any, value: Any, sparse_sizes: tuple[int, int]) -> None:
        self.entries, self.sizes = (row, col, value), sparse_sizes

    def coo(self) -> tuple[Any, Any, Any]:
        return self.entries

    def sparse_sizes(self) -> tuple[int, int]:
        return self.sizes


LAYOUTS = {"coo": torch.sparse_coo, "csr": torch.sparse_csr, "csc": torch.sparse_csc}


def matrix(pairs: list[tuple[int, int]], values: list[float], form: str) -> Any:
    """The transposed adjacency: a row per target."""
    sources, targets = torch.tensor(pairs).reshape(-1, 2).T
    if form == "SparseTensor":
        return SparseTensor(targets, sources, torch.tensor(values), (SIZE, SIZE))
    positions = torch.stack([targets, sources])
    listed = torch.sparse_coo_tensor(positions, torch.tensor(values), (SIZE, SIZE), check_invariants=True).coalesce()
    if form == "coo":
        return listed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch calls these layouts a beta
        return listed.to_sparse(layout=LAYOUTS[form])


def edges_of(stored: Any) -> dict[tuple[int, int], float]:
    ends, weights = read_edges(stored)
    return dict(zip(map(tuple, ends.T.tolist()), weights.tolist(), strict=True))


FORMS = [*LAYOUTS, "SparseTensor"]
some_pairs = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), unique=True, min_size=1)


@relaxed
@given(data=st.data(), pairs=some_pairs, form=st.sampled_from(FORMS))
def test_a_matrix_of_any_form_is_read_and_edited(data: st.DataObject, pairs: list[Any], form: str) -> None:
    values = data.draw(st.lists(st.sampled_from([1.0, 0.5, 2.0]), min_size=len(pairs), max_size=len(pairs)))
    stored = Data(adj_t=matrix(pairs, values, form))
    before = edges_of(stored)
    assert before == dict(zip(pairs, values, strict=True))
    assert matrix_shape(stored) == (SIZE, SIZE)
    ends, _ = read_edges(stored)
    kept = np.array(data.draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs))), dtype=bool)
    stored.edge_attr = torch.from_numpy(ends.T.copy())
    select_edges(stored, ["edge_attr"], kept)
    assert edges_of(stored) == {pair: before[pair] for pair in map(tuple, ends.T[kept].tolist())}
    assert stored.edge_attr.tolist() == read_edges(stored)[0].T.tolist()
    factors = np.linspace(0, 1, int(kept.sum()))
    expected = dict(zip(edges_of(stored), factors * read_edges(stored)[1], strict=True))
    weight_edges(stored, factors)
    assert edges_of(stored) == pytest.approx(expected)
    if form == "SparseTensor":
        assert isinstance(stored.adj_t, SparseTensor)
    else:
        assert stored.adj_t.layout == LAYOUTS[form]
    lacking = [(u, v) for u in range(SIZE) for v in range(u) if not {(u, v), (v, u)} & set(pairs)]
    if lacking:
        expected = {**edges_of(stored), lacking[0]: 1.0, lacking[0][::-1]: 1.0}
        insert_edges(stored, np.array(lacking[:1]))
        assert edges_of(stored) == pytest.approx(expected)


def test_an_uncoalesced_matrix_keeps_its_repeated_edges() -> None:
    positions = torch.tensor([[1, 0, 1], [0, 1, 0]])
    stored = Data(
        adj_t=torch.sparse_coo_tensor(positions, torch.tensor([1.0, 2.0, 3.0]), (2, 2), check_invariants=True)
    )
    assert read_edges(stored)[0].tolist() == [[0, 1, 0], [1, 0, 1]]
    select_edges(stored, [], np.array([True, False, True]))
    assert read_edges(stored)[1].tolist() == [1.0, 3.0]


def test_edge_weights_of_an_index_are_multiplied_in_their_own_type() -> None:
    index = torch.tensor([[0, 1], [1, 0]])
    for given_weights, dtype in ((None, torch.float32), ([2, 4], torch.float32), ([2.0, 4.0], torch.float64)):
        stored = Data(edge_index=index)
        if given_weights is not None:
            stored.edge_weight = torch.tensor(given_weights, dtype=torch.float64 if dtype == torch.float64 else None)
        weight_edges(stored, np.array([0.5, 0.25]))
        assert stored.edge_weight.dtype == dtype
        assert stored.edge_weight.tolist() == ([0.5, 0.25] if given_weights is None else [1.0, 1.0])


def test_a_column_of_weights_stays_a_column() -> None:
    stored = Data(edge_index=torch.tensor([[0, 1], [1, 0]]), edge_weight=torch.ones(2, 1))
    weight_edges(stored, np.array([0.5, 0.25]))
    assert stored.edge_weight.tolist() == [[0.5], [0.25]]


@pytest.mark.parametrize("wrong", [torch.eye(3), "matrix"])
def test_what_is_no_sparse_matrix_is_refused(wrong: Any) -> None:
    with pytest.raises(InputError, match="adj_t must be a sparse matrix"):
        read_edges({"adj_t": wrong})
    with pytest.raises(InputError, match="no edge_index and no adj_t"):
        read_edges({})

"""A graph's edges and attributes as sparse operators on dense node matrices, and edges that an attack flips."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.engine.blocks import EdgeWeights, FeatureBlock, RowBlock, feature_blocks, row_blocks
from focusedcleaner.engine.parallel import by_rows, joined, map_blocks, map_parts, map_rows, summed
from focusedcleaner.engine.sparse import csr_tensor, product_blocks, row_products, to_torch, unit_rows
from focusedcleaner.graph import BoolArray, FloatArray, Graph, IntArray, pairs_of_keys, unique_keys

COLUMNS = 16
"""Columns of X that are dense at a time, in large graphs: no more memory than for so many classes."""
NARROW = 512
"""Attributes up to which dense columns are faster than sparse rows, in large graphs."""
EDGES = 2**18
"""Edges whose ends' attributes are multiplied at once."""


class Pairs:
    """Undirected pairs of nodes (2 × P, each once and in either direction) as a symmetric sparse matrix of ones."""

    def __init__(self, num_nodes: int, ends: np.ndarray, *, dtype: torch.dtype) -> None:
        self.ends = torch.tensor(ends)
        rows, columns = np.concatenate([ends, ends[::-1]], axis=1)
        order = np.argsort(rows * num_nodes + columns, kind="stable")
        self.place = torch.tensor(np.argsort(order).reshape(2, -1))
        """2 × P: the index of both directions of a pair among the matrix's values."""
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=num_nodes))])
        ones = sp.csr_array((np.ones(len(order)), columns[order], indptr), shape=(num_nodes, num_nodes))
        self.matrix = to_torch(ones, dtype)

    def dots(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left_u·right_v + left_v·right_u for every pair (u, v), P values."""
        entries = torch.sparse.sampled_addmm(self.matrix, left, right.T, beta=0.0).values()
        return entries[self.place[0]] + entries[self.place[1]]

    def weighted(self, weights: Tensor) -> Tensor:
        """Return the symmetric matrix that has one of P weights at each pair, N × N in CSR form."""
        values = torch.empty_like(self.matrix.values(), dtype=weights.dtype)
        values[self.place] = weights
        return csr_tensor(self.matrix.crow_indices(), self.matrix.col_indices(), values, tuple(self.matrix.shape))


class Structure:
    """The edges of a graph, some of which may have been removed, as an operator on node matrices.

    Â = D^-½ (A + I) D^-½ with d = degree + 1. Removed edges stay in the pattern with weight 0, so edge numbers never
    change. Products are computed block by block (`parallel`).

    >>> structure = Structure(Graph(3, [[0, 1], [1, 2]]))
    >>> structure.neighbour_sum(torch.ones(3, 1, dtype=torch.float64)).ravel()
    tensor([1., 2., 1.], dtype=torch.float64)
    """

    def __init__(self, graph: Graph, *, dtype: torch.dtype = torch.float64) -> None:
        self.num_nodes, self.num_edges = graph.num_nodes, graph.num_edges
        self.dtype, self.rows = dtype, graph.rows
        self.blocks = row_blocks(graph.rows)
        self.starts = [*(block.start for block in self.blocks), self.num_nodes]
        """The first node of each block, and N."""
        self.edge_starts = [*(block.first_edge for block in self.blocks), self.num_edges]
        """The first edge of each block, and E."""
        self.ends = torch.from_numpy(graph.edges).T
        """2 × E: the smaller and the larger end of each edge."""
        self.alive = torch.ones(self.num_edges, dtype=torch.bool)
        self.present = EdgeWeights(torch.ones(self.num_edges, dtype=dtype))
        """1 for every edge, 0 for removed ones."""
        self.degrees = torch.tensor(graph.degrees, dtype=dtype)
        self.touched = torch.zeros(self.num_nodes, 1, dtype=dtype)
        """N × 1: 1 at the ends of edges removed since the last call of `take_touched`."""

    def remove(self, edges: Tensor) -> None:
        """Remove edges by their numbers."""
        self.alive[edges] = False
        self.present = EdgeWeights(self.alive.to(self.dtype))
        ends = self.ends[:, edges].ravel()
        self.degrees.index_add_(0, ends, -torch.ones_like(self.degrees[ends]))
        self.touched[ends] = 1.0

    @property
    def scale(self) -> Tensor:
        """d^-½, N × 1."""
        return (self.degrees + 1).rsqrt().unsqueeze(1)

    def neighbour_sum(self, matrix: Tensor, weights: EdgeWeights | None = None) -> Tensor:
        """Return A·M, or the same with these weights instead of 1 for every edge that remains."""
        return map_rows(_times, self.blocks, self.starts, matrix, weights or self.present)

    def average(self, matrix: Tensor, sizes: Tensor, weights: EdgeWeights) -> Tensor:
        """Return D⁻¹(A + I)·M for a weighted A, where D is given by N × 1 ``sizes``."""
        return map_rows(_average, self.blocks, self.starts, matrix, sizes, weights)

    def propagate(self, matrix: Tensor) -> Tensor:
        """Return Â·M."""
        scale = self.scale
        return map_rows(_propagate, self.blocks, self.starts, by_rows(torch.mul, matrix, scale), scale, self.present)

    def propagate_to(self, nodes: Tensor, matrix: Tensor) -> Tensor:
        """Return the rows of Â·M for ``nodes``."""
        scale, order = self.scale, None
        if not (nodes[1:] >= nodes[:-1]).all():
            order = torch.argsort(nodes, stable=True)
            nodes = nodes[order]
        cuts = [0, *torch.searchsorted(nodes, torch.tensor(self.starts[1:-1])).tolist(), len(nodes)]
        chosen = [(block, nodes[i:j]) for block, (i, j) in zip(self.blocks, pairwise(cuts), strict=True) if i < j]
        starts = [*(i for i, j in pairwise(cuts) if i < j), len(nodes)]
        scaled = by_rows(torch.mul, matrix, scale)
        rows = map_rows(_propagate_to, chosen, starts, scaled, scale, self.present)
        return rows if order is None else rows[torch.argsort(order)]

    def at_edges(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left_u·right_v + left_v·right_u for every edge (u, v), E values; removed edges included."""
        return map_rows(_at_edges, self.blocks, self.edge_starts, left, right)

    def edge_products(self, left: Tensor, right: Tensor) -> Tensor:
        """Return left_u·right_v for every edge (u, v), u < v, E values."""
        return map_rows(_edge_products, self.blocks, self.edge_starts, left, right)

    def at_nodes(self, values: Tensor) -> Tensor:
        """Sum E edge values over the remaining edges at each node, N values."""
        remaining = EdgeWeights(by_rows(_where_alive, self.alive, values))
        return map_rows(_row_sums, self.blocks, self.starts, remaining)

    def largest_at_nodes(self, values: Tensor) -> Tensor:
        """The largest of E edge values among the remaining edges at each node, N values; at least 0."""
        return map_rows(_row_maxima, self.blocks, self.starts, by_rows(_where_alive, self.alive, values))

    def total(self, values: Tensor) -> Tensor:
        """Sum E edge values over the remaining edges, one value."""
        return summed(map_blocks(_total, self.blocks, values, self.alive))

    def edges_at(self, mask: Tensor, ends: int) -> Tensor:
        """Return the numbers of the remaining edges with at least so many ``ends`` among the marked nodes."""
        return joined(map_blocks(_edges_at, self.blocks, mask, ends, self.alive))

    def times_ends(self, values: Tensor, factors: Tensor) -> Tensor:
        """Multiply E edge values by the factors of both ends (N factors)."""
        return map_rows(_times_ends, self.blocks, self.edge_starts, values, factors)

    def plus_ends(self, values: Tensor, terms: Tensor) -> Tensor:
        """Add the terms of both ends (N terms) to E edge values."""
        return map_rows(_plus_ends, self.blocks, self.edge_starts, values, terms)

    def rows_of_two_hops(self, nodes: np.ndarray) -> sp.csr_array:
        """Return the rows of Â² for ``nodes``, n × N and sparse; a row does not depend on which others are computed."""
        neighbours, scale = self._neighbours(), self.scale.ravel().numpy()
        ones = np.ones(len(nodes))
        own = sp.csr_array((ones, nodes, np.arange(len(nodes) + 1)), shape=(len(nodes), self.num_nodes))
        one_hop = _scaled(neighbours[nodes] + own, None, scale * scale)
        return _scaled(one_hop @ neighbours + one_hop, scale[nodes], scale)

    def rows_of_one_hop(self, nodes: np.ndarray) -> sp.csr_array:
        """Return the rows of Â for ``nodes``, n × N and sparse."""
        scale = self.scale.ravel().numpy()
        loops = sp.eye_array(self.num_nodes, format="csr")
        return _scaled(sp.csr_array(self._neighbours() + loops)[nodes], scale[nodes], scale)

    def two_hop_blocks(self, nodes: np.ndarray) -> list[np.ndarray]:
        """Split nodes into parts whose `rows_of_two_hops` fit into memory: one part, except around hubs."""
        neighbours = self._neighbours()
        return product_blocks(neighbours, neighbours, nodes)

    def _neighbours(self) -> sp.csr_array:
        values = joined([block.values(self.present) for block in self.blocks]).numpy()
        parts = values, self.rows.indices, self.rows.indptr
        return sp.csr_array(parts, shape=(self.num_nodes, self.num_nodes))

    def take_touched(self) -> Tensor:
        """Mark the nodes whose row of Â² has changed since the last call, N booleans: those within two hops of a
        removed edge."""
        near = self.touched
        for _ in range(2):
            near = near + self.neighbour_sum(near)
        self.touched = torch.zeros_like(self.touched)
        return near.squeeze(1) > 0


def _times(block: RowBlock, matrix: Tensor, weights: EdgeWeights) -> Tensor:
    return block.times(matrix, weights)


def _average(block: RowBlock, matrix: Tensor, sizes: Tensor, weights: EdgeWeights) -> Tensor:
    own = slice(block.start, block.stop)
    return block.times(matrix, weights).add_(matrix[own]).div_(sizes[own])


def _propagate(block: RowBlock, scaled: Tensor, scale: Tensor, present: EdgeWeights) -> Tensor:
    own = slice(block.start, block.stop)
    return block.times(scaled, present).add_(scaled[own]).mul_(scale[own])


def _propagate_to(part: tuple[RowBlock, Tensor], scaled: Tensor, scale: Tensor, present: EdgeWeights) -> Tensor:
    block, nodes = part
    return scale[nodes] * (block.matrix_of(nodes, present) @ scaled + scaled[nodes])


def _at_edges(block: RowBlock, left: Tensor, right: Tensor) -> Tensor:
    own = slice(block.start, block.stop)
    return block.edge_products(left[own], right) + block.edge_products(right[own], left)


def _edge_products(block: RowBlock, left: Tensor, right: Tensor) -> Tensor:
    return block.edge_products(left[block.start : block.stop], right)


def _times_ends(block: RowBlock, values: Tensor, factors: Tensor) -> Tensor:
    u, v = block.ends
    return block.of_edges(values) * factors[u] * factors[v]


def _plus_ends(block: RowBlock, values: Tensor, terms: Tensor) -> Tensor:
    u, v = block.ends
    return block.of_edges(values) + terms[u] + terms[v]


def _total(block: RowBlock, values: Tensor, alive: Tensor) -> Tensor:
    return block.of_edges(values)[block.of_edges(alive)].sum()


def _edges_at(block: RowBlock, mask: Tensor, ends: int, alive: Tensor) -> Tensor:
    u, v = block.ends
    marked = mask[u].to(torch.int8) + mask[v]
    return torch.nonzero((marked >= ends) & block.of_edges(alive)).squeeze(1) + block.first_edge


def _row_sums(block: RowBlock, weights: EdgeWeights) -> Tensor:
    return block.row_sums(weights)


def _row_maxima(block: RowBlock, values: Tensor) -> Tensor:
    return block.row_maxima(values)


def _where_alive(alive: Tensor, values: Tensor) -> Tensor:
    return torch.where(alive, values, 0.0)


def _scaled(matrix: sp.csr_array, rows: np.ndarray | None, columns: np.ndarray) -> sp.csr_array:
    """Return diag(rows)·matrix·diag(columns), computed in place."""
    matrix.data *= columns[matrix.indices]
    if rows is not None:
        matrix.data *= np.repeat(rows, np.diff(matrix.indptr))
    return matrix


class MutableEdges:
    """The edges of a graph while an attack flips them, and the pairs that have been flipped.

    >>> edges = MutableEdges(Graph(4, [[0, 1], [1, 2], [2, 3]]))
    >>> edges.flip(0, 3)
    >>> edges.flip(1, 2)
    >>> edges.edges.tolist(), edges.degrees.tolist()
    ([[0, 1], [0, 3], [2, 3]], [2, 1, 1, 2])
    """

    def __init__(self, graph: Graph) -> None:
        self.num_nodes = graph.num_nodes
        self.keys = graph.edge_keys
        """Sorted keys of the current edges (`graph.pair_keys`)."""
        self.degrees = graph.degrees.copy()
        self.flipped = np.empty(0, dtype=np.int64)
        """Sorted keys of the flipped pairs."""

    def flip(self, u: int, v: int) -> None:
        """Insert the edge (u, v), u < v, or remove it if it exists."""
        key = u * self.num_nodes + v
        position = int(np.searchsorted(self.keys, key))
        if position < len(self.keys) and self.keys[position] == key:
            self.keys = np.delete(self.keys, position)
            self.degrees[[u, v]] -= 1
        else:
            self.keys = np.insert(self.keys, position, key)
            self.degrees[[u, v]] += 1
        self.flipped = np.insert(self.flipped, np.searchsorted(self.flipped, key), key)

    @property
    def edges(self) -> IntArray:
        """E × 2, sorted."""
        return pairs_of_keys(self.keys, self.num_nodes)

    def structure(self) -> Structure:
        """Return the current edges as a `Structure`."""
        return Structure(Graph(self.num_nodes, self.edges))

    def not_insertable(self) -> IntArray:
        """Return the pairs that have an edge or were flipped before, P × 2, sorted."""
        return pairs_of_keys(unique_keys(self.keys, self.flipped), self.num_nodes)

    def removable(self) -> BoolArray:
        """Mark the edges that may be removed: not inserted by the attack, and no end would be isolated."""
        return (self.degrees[self.edges] > 1).all(axis=1) & ~np.isin(self.keys, self.flipped)


class Attributes:
    """X as a sparse operator, its rows scaled to length 1 if ``unit``; the identity where a graph has no attributes."""

    def __init__(self, graph: Graph, *, unit: bool = False, dtype: torch.dtype = torch.float64) -> None:
        self.matrix, self.dtype = graph.features, dtype
        stored = getattr(self.matrix, "stored", None)
        if unit and self.matrix is not None:
            self.matrix = unit_rows(self.matrix)
        self.num_columns = graph.num_nodes if self.matrix is None else int(self.matrix.shape[1])
        mean_square = 1.0 if self.matrix is None else float(np.square(self.matrix.data).sum()) / graph.num_nodes
        self.mean_square = mean_square or 1.0
        """The mean of ‖x_i‖², the unit of penalties on W."""
        place = None if stored is None else (stored, unit)
        self.blocks = [] if self.matrix is None else feature_blocks(self.matrix, dtype, place)
        self.starts = [*(block.start for block in self.blocks), graph.num_nodes]
        """The first node of each block, and N."""

    def times(self, weights: Tensor) -> Tensor:
        """Return X·W, N × columns of W."""
        return weights if self.matrix is None else map_rows(_feature_times, self.blocks, self.starts, weights)

    def transposed_times(self, values: Tensor) -> Tensor:
        """Return Xᵀ·G, F × columns of G."""
        if self.matrix is None:
            return values
        return summed(map_blocks(_feature_transposed_times, self.blocks, values))

    def dense(self) -> Tensor:
        """Return X as a dense tensor, N × F."""
        return self.times(torch.eye(self.num_columns, dtype=self.dtype))

    def columns(self) -> Iterator[Tensor]:
        """Yield X as dense tensors of a few columns each, N × `COLUMNS` at most."""
        for columns in torch.eye(self.num_columns, dtype=self.dtype).split(COLUMNS, 1):
            yield self.times(columns.contiguous())

    def at_edges(self, structure: Structure) -> Tensor:
        """Return x_u·x_v of every edge (u, v), E values; 0 without attributes."""
        if self.matrix is None:
            return torch.zeros(structure.num_edges, dtype=self.dtype)
        if len(structure.blocks) > 1 and self.num_columns <= NARROW:
            return summed([structure.edge_products(columns, columns) for columns in self.columns()])
        edges = structure.rows.edges
        parts = np.split(edges, range(EDGES, len(edges), EDGES))
        return torch.from_numpy(np.concatenate(map_parts(_row_products, parts, self.matrix))).to(self.dtype)

    def two_hop_rows(self, structure: Structure, nodes: np.ndarray) -> Tensor:
        """Return the rows of Â²X for few ``nodes`` as a dense tensor, n × F.

        (Â²)X for most graphs; Â(ÂX) where the nodes' rows of Â² would be too long, and a part after the other where X
        is the identity.
        """
        blocks = structure.two_hop_blocks(nodes)
        if self.matrix is None:
            rows = [structure.rows_of_two_hops(block).toarray() for block in blocks]
            return torch.from_numpy(np.concatenate(rows)).to(self.dtype)
        if len(blocks) == 1:
            product = structure.rows_of_two_hops(nodes) @ self.matrix
        else:
            one_hop = structure.rows_of_one_hop(np.arange(structure.num_nodes)) @ self.matrix
            product = structure.rows_of_one_hop(nodes) @ one_hop
        return torch.from_numpy(product.toarray()).to(self.dtype)


def _row_products(pairs: IntArray, matrix: sp.csr_array) -> FloatArray:
    return row_products(matrix, matrix, pairs)


def _feature_times(block: FeatureBlock, weights: Tensor) -> Tensor:
    return block.times(weights)


def _feature_transposed_times(block: FeatureBlock, values: Tensor) -> Tensor:
    return block.transposed_times(values[block.start : block.stop])

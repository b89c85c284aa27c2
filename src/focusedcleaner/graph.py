"""The undirected attributed graph that every method takes, its split, and integer keys for node pairs."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from focusedcleaner.adjacency_rows import AdjacencyRows, StoredNames
from focusedcleaner.attribute_matrix import AttributeMatrix
from focusedcleaner.errors import InputError
from focusedcleaner.node_order import NodeOrder, order_by_name, order_by_structure

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
_T = TypeVar("_T", bound=np.generic)

UNKNOWN = -1
"""The label of a node whose class is unknown."""

PARTS = ("train", "val", "test")
"""The three parts of a split."""

SPARE_CLASSES = 1_000
"""A graph has at most so many classes more than nodes: models hold a column per class."""


def pair_keys(pairs: IntArray, num_nodes: int) -> IntArray:
    """One number per pair, u·N + v, for set operations on pairs (P × 2); sorted pairs have sorted keys.

    >>> pair_keys(np.array([[0, 1], [1, 2]]), 3)
    array([1, 5])
    """
    return pairs[:, 0] * num_nodes + pairs[:, 1]


def pairs_of_keys(keys: IntArray, num_nodes: int) -> IntArray:
    """The pairs (P × 2) of these keys; inverts `pair_keys`.

    >>> pairs_of_keys(np.array([1, 5]), 3)
    array([[0, 1],
           [1, 2]])
    """
    return np.stack(np.divmod(keys, num_nodes), axis=1)


def unique_keys(*parts: IntArray) -> IntArray:
    """The different keys of one or more lists, sorted; `np.unique` hashes numbers, which takes ten times as long.

    >>> unique_keys(np.array([5, 1]), np.array([1, 3]))
    array([1, 3, 5])
    """
    keys = np.sort(np.concatenate(parts))
    return keys[np.diff(keys, prepend=keys[:1] - 1) > 0]


def no_pairs() -> IntArray:
    """An empty list of pairs, 0 × 2."""
    return np.empty((0, 2), dtype=np.int64)


def _frozen(array: NDArray[_T]) -> NDArray[_T]:
    array.flags.writeable = False
    return array


def _integers(values: ArrayLike, what: str) -> IntArray:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise InputError(f"{what} must be whole numbers, not {array.dtype}")
    return np.array(array, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Split:
    """Training, validation and test nodes: three disjoint lists of node numbers.

    >>> Split([0, 3], [1], [2, 4]).train
    array([0, 3])
    """

    train: IntArray
    """Nodes whose labels a method learns from."""
    val: IntArray
    """Nodes whose labels choose settings and stop a training."""
    test: IntArray
    """Nodes whose labels no sanitizer and no training sees."""

    if TYPE_CHECKING:  # the constructor takes anything array-like

        def __init__(self, train: ArrayLike, val: ArrayLike, test: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        for part in PARTS:
            nodes = _integers(getattr(self, part), f"the split's {part} list")
            if nodes.ndim != 1:
                raise InputError(f"the split's {part} list must be flat")
            object.__setattr__(self, part, _frozen(np.sort(nodes)))
        nodes, counts = np.unique(np.concatenate(self.parts), return_counts=True)
        if len(nodes) and nodes[0] < 0:
            raise InputError(f"the split names node {nodes[0]}: node numbers start at 0")
        if (counts > 1).any():
            raise InputError(f"the split names node {nodes[counts > 1][0]} twice: its lists must not overlap")

    @property
    def parts(self) -> tuple[IntArray, IntArray, IntArray]:
        """The three lists, in the order of `PARTS`."""
        return self.train, self.val, self.test

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Split) and all(map(np.array_equal, self.parts, other.parts))

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def random(cls, labels: ArrayLike, *, seed: int = 0, train: float = 0.1, val: float = 0.1) -> Self:
        """Draw a stratified split; nodes that are neither for training nor for validation are test nodes.

        If some labels are unknown (−1), the labelled nodes are divided between training and validation alone, in the
        proportion ``train`` to ``val``, and all other nodes are test nodes.

        >>> split = Split.random([0] * 50 + [1] * 50, seed=1)
        >>> len(split.train), len(split.val), len(split.test)
        (10, 10, 80)
        """
        classes = _integers(labels, "labels")
        if not (train > 0 and val >= 0 and train + val <= 1):
            raise InputError(f"a split of {train:g} for training and {val:g} for validation is not possible")
        labelled = np.flatnonzero(classes != UNKNOWN)
        if len(labelled) < len(classes):
            train, val = train / (train + val), val / (train + val)
        shuffled = np.random.default_rng(seed).permutation(labelled)
        in_train = _stratified(classes[shuffled], train)
        rest = shuffled[~in_train]
        in_val = _stratified(classes[rest], val / (1 - train) if train < 1 else 0.0)
        tested = np.ones(len(classes), dtype=bool)
        tested[shuffled[in_train]] = tested[rest[in_val]] = False
        return cls(shuffled[in_train], rest[in_val], np.flatnonzero(tested))


def _stratified(labels: IntArray, share: float) -> BoolArray:
    """Pick round(share · n) positions, each class by its share, rounded by largest remainders."""
    _, class_of, counts = np.unique(labels, return_inverse=True, return_counts=True)
    quota = counts * share
    take = np.floor(quota).astype(int)
    missing = round(len(labels) * share) - take.sum()
    # Classes without a node come first: a class without a training node can't be learnt.
    order = np.lexsort((-(quota - take), take > 0))
    take[order[:missing]] += 1
    rank = np.empty(len(labels), dtype=int)
    for number, count in enumerate(counts):
        rank[class_of == number] = np.arange(count)
    return rank < take[class_of]


@dataclass(frozen=True, eq=False)
class Graph:
    """An immutable undirected graph without self-loops and parallel edges, with node attributes and labels.

    Args:
        num_nodes: N; nodes are numbered 0 … N−1.
        edges: E × 2 node numbers, each edge once, the smaller number first, sorted.
        attributes: N × F sparse and finite, in any units, or None. Methods use `features`.
        labels: N class numbers, −1 where unknown, or None.
        split: training, validation and test nodes, or None.
        names: N node ids of the user's own, or None where they are the node numbers.
        class_names: the names of the classes, in the order of their numbers.
        attribute_names: F names of the attributes.
        notes: where the graph came from, for people.

    Arrays are copied and made read-only. `from_pairs` takes edges in any order and direction.

    >>> path = Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 1])
    >>> path.num_edges, path.degrees
    (2, array([1, 2, 1]))
    """

    num_nodes: int
    edges: IntArray
    attributes: sp.csr_array | None = None
    labels: IntArray | None = None
    split: Split | None = None
    names: tuple[Hashable, ...] | StoredNames | None = None
    class_names: tuple[str, ...] | None = None
    attribute_names: tuple[str, ...] | None = None
    notes: Mapping[str, str] = field(default_factory=dict)
    stored: AdjacencyRows | None = None
    """The adjacency in a graph folder, if the edges are those of one: checked and in canonical order already."""

    if TYPE_CHECKING:  # the constructor takes anything array-like

        def __init__(
            self,
            num_nodes: int,
            edges: ArrayLike,
            attributes: sp.csr_array | ArrayLike | None = None,
            labels: ArrayLike | None = None,
            split: Split | None = None,
            names: Sequence[Hashable] | None = None,
            class_names: Sequence[str] | None = None,
            attribute_names: Sequence[str] | None = None,
            notes: Mapping[str, str] = ...,
            stored: AdjacencyRows | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.num_nodes < 1:
            raise InputError("the graph is empty: it has no nodes")
        if self.stored is None or self.stored.edges is not self.edges or self.stored.num_nodes != self.num_nodes:
            object.__setattr__(self, "stored", None)  # the edges have been replaced
            self._check_edges()
        if self.attributes is not None:
            object.__setattr__(self, "attributes", AttributeMatrix.frozen(self.attributes, self.num_nodes))
        if self.labels is not None:
            labels = _integers(self.labels, "labels")
            if labels.shape != (self.num_nodes,):
                raise InputError(f"there are {labels.size} labels for {self.num_nodes} nodes")
            if labels.min() < UNKNOWN:
                raise InputError(f"label {labels.min()} is negative; an unknown label is {UNKNOWN}")
            object.__setattr__(self, "labels", _frozen(labels))
        if self.split is not None:
            check_range(np.concatenate(self.split.parts), self.num_nodes, "the split")
        for part, size in (("names", self.num_nodes), ("class_names", None), ("attribute_names", self.num_attributes)):
            if (names := getattr(self, part)) is not None:
                if not isinstance(names, StoredNames):
                    object.__setattr__(self, part, tuple(names))
                if size is not None and len(names) != size:
                    raise InputError(f"there are {len(names)} {part.replace('_', ' ')} where {size} are needed")
        if isinstance(self.names, tuple) and len(set(self.names)) < self.num_nodes:
            raise InputError("two nodes have the same name")
        largest = int(self.known_labels.max(initial=-1))
        if self.class_names is not None and len(self.class_names) <= largest:
            raise InputError(f"there are {len(self.class_names)} class names, but a label is {largest}")
        if self.num_classes > self.num_nodes + SPARE_CLASSES:
            count = f"{self.num_classes:,} classes for {self.num_nodes:,} nodes"
            raise InputError(f"there are {count}: number the classes 0, 1, 2, … without gaps")

    def _check_edges(self) -> None:
        edges = _integers(self.edges, "edges").reshape(-1, 2)
        check_range(edges, self.num_nodes, "an edge")
        if (edges[:, 0] >= edges[:, 1]).any() or (np.diff(pair_keys(edges, self.num_nodes)) <= 0).any():
            raise InputError("edges must be unique, sorted and have the smaller node first: use Graph.from_pairs")
        object.__setattr__(self, "edges", _frozen(edges))

    @property
    def num_edges(self) -> int:
        """E, each edge counted once."""
        return len(self.edges)

    @property
    def num_attributes(self) -> int:
        """F; 0 without attributes."""
        return 0 if self.attributes is None else int(self.attributes.shape[1])

    @property
    def features(self) -> sp.csr_array | None:
        """The attributes as every method sees them: on one scale (`attribute_matrix.scaled`), N × at most F.

        None where there are no attributes, or none that tells two nodes apart.
        """
        return None if self.attributes is None else self.attributes.features

    @property
    def known_labels(self) -> IntArray:
        """The labels that are known, in node order."""
        return np.empty(0, dtype=np.int64) if self.labels is None else self.labels[self.labels != UNKNOWN]

    @property
    def has_several_classes(self) -> bool:
        """Whether nodes of at least two classes are known."""
        known = self.known_labels
        return bool(len(known)) and bool(known.min() < known.max())

    @property
    def num_classes(self) -> int:
        """The number of class names or, without any, one more than the largest known label."""
        return len(self.class_names) if self.class_names is not None else int(self.known_labels.max(initial=-1)) + 1

    @cached_property
    def degrees(self) -> IntArray:
        """N numbers of neighbours."""
        if self.stored is not None:
            return _frozen(np.diff(self.stored.indptr))
        return _frozen(np.bincount(self.edges.ravel(), minlength=self.num_nodes))

    @cached_property
    def rows(self) -> AdjacencyRows:
        """The adjacency by rows."""
        return self.stored or AdjacencyRows.of(self.num_nodes, self.edges)

    @cached_property
    def edge_keys(self) -> IntArray:
        """The sorted `pair_keys` of the edges."""
        return _frozen(pair_keys(self.edges, self.num_nodes))

    def has_edges(self, pairs: IntArray) -> BoolArray:
        """Which of P pairs u < v (P × 2) are edges of this graph.

        >>> Graph(3, [[0, 1]]).has_edges(np.array([[0, 1], [1, 2]]))
        array([ True, False])
        """
        keys = pair_keys(pairs, self.num_nodes)
        places = np.searchsorted(self.edge_keys, keys)
        inside = places < self.num_edges
        inside[inside] = self.edge_keys[places[inside]] == keys[inside]
        return inside

    def edge_numbers(self, pairs: IntArray) -> IntArray:
        """The positions in `edges` of P pairs u < v that are edges of this graph.

        >>> Graph(3, [[0, 1], [1, 2]]).edge_numbers(np.array([[1, 2]]))
        array([1])
        """
        return np.searchsorted(self.edge_keys, pair_keys(pairs, self.num_nodes))

    @cached_property
    def homophily(self) -> float:
        """The share of edges within a class, among the edges with two known labels; NaN if there are none."""
        if self.labels is None:
            return float("nan")
        ends = self.labels[self.edges]
        known = (ends != UNKNOWN).all(axis=1)
        return float((ends[known, 0] == ends[known, 1]).mean()) if known.any() else float("nan")

    def adjacency(self) -> sp.csr_array:
        """The symmetric 0/1 adjacency matrix, N × N."""
        parts = np.ones(2 * self.num_edges), self.rows.indices.copy(), self.rows.indptr.copy()
        return sp.csr_array(parts, shape=(self.num_nodes, self.num_nodes))

    def name(self, node: int) -> Hashable:
        """The user's id of a node."""
        return int(node) if self.names is None else self.names[node]

    def names_of(self, nodes: IntArray) -> tuple[Hashable, ...] | StoredNames:
        """The user's ids of some nodes."""
        if self.names is None:
            return StoredNames(nodes)
        names = self.names
        return names.take(nodes) if isinstance(names, StoredNames) else tuple(names[node] for node in nodes)

    def fingerprint(self) -> str:
        """A SHA-256 of edges, attributes, labels and split: equal for equal graphs on any machine.

        Of a graph folder, the checksum of its arrays stands for edges and attributes.
        """
        digest = hashlib.sha256(f"{self.num_nodes} {self.num_attributes} {self.num_classes}".encode())
        arrays: list[NDArray[Any] | None] = [self.edges, self.labels]
        if self.stored is not None and self.stored.checksum is not None:
            digest.update(self.stored.checksum.encode())
            arrays = [self.labels]
        elif (matrix := self.attributes) is not None:
            arrays += [matrix.indptr.astype("<i8"), matrix.indices.astype("<i8"), matrix.data]
        if self.split is not None:
            arrays += self.split.parts
        for array in arrays:
            digest.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
            digest.update(b"|")
        return digest.hexdigest()

    def __repr__(self) -> str:
        return (
            f"Graph({self.num_nodes:,} nodes, {self.num_edges:,} edges, {self.num_classes} classes, "
            f"{self.num_attributes:,} attributes)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Graph) and all(
            _equal(getattr(self, part.name), getattr(other, part.name))
            for part in fields(self)
            if part.name not in ("notes", "stored")
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_pairs(cls, num_nodes: int, pairs: ArrayLike, **parts: Any) -> Self:
        """Build a graph from pairs in any order and direction; repeated pairs and self-loops are dropped.

        >>> Graph.from_pairs(3, [[2, 1], [1, 2], [0, 1], [1, 1]]).edges
        array([[0, 1],
               [1, 2]])
        """
        array = _integers(pairs, "edges").reshape(-1, 2)
        array = array[array[:, 0] != array[:, 1]]
        check_range(array, num_nodes, "an edge")
        keys = unique_keys(pair_keys(np.sort(array, axis=1), num_nodes))
        return cls(num_nodes, pairs_of_keys(keys, num_nodes), **parts)

    def with_edges(self, pairs: ArrayLike) -> Self:
        """The graph with these edges added; edges that it already has are ignored."""
        added = _integers(pairs, "edges").reshape(-1, 2)
        if not len(added):
            return self
        joined = type(self).from_pairs(self.num_nodes, np.concatenate([self.edges, added]))
        return replace(self, edges=joined.edges)

    def without_edges(self, pairs: ArrayLike) -> Self:
        """The graph without these edges; edges that it does not have are ignored."""
        removed = type(self).from_pairs(self.num_nodes, pairs).edges
        kept = np.ones(self.num_edges, dtype=bool)
        kept[self.edge_numbers(removed[self.has_edges(removed)])] = False
        return replace(self, edges=self.edges[kept])

    def added_edges(self, before: Graph) -> IntArray:
        """The edges that this graph has and ``before`` does not (E′ × 2)."""
        if before.num_nodes != self.num_nodes:
            raise InputError(f"the graphs have {before.num_nodes} and {self.num_nodes} nodes: they can't be compared")
        return self.edges[~before.has_edges(self.edges)]

    def check_labelled(self, who: str) -> None:
        """Raise an `InputError` if no model can be trained on this graph; ``who`` needs the labels: "a sanitizer"."""
        if self.labels is None or not len(self.known_labels):
            raise InputError(
                f"the graph has no labels: {who} needs the classes of a few nodes (--nodes, a table with id and label)"
            )
        if self.split is None:
            raise InputError("the graph has no split: say which nodes are for training, validation and testing")
        if not len(self.split.train):
            raise InputError("the split has no training node")
        for part, nodes in (("training", self.split.train), ("validation", self.split.val)):
            unlabelled = nodes[self.labels[nodes] == UNKNOWN]
            if len(unlabelled):
                raise InputError(f"{part} node {self.name(unlabelled[0])} has no label ({len(unlabelled)} such nodes)")
        if len(np.unique(self.labels[self.split.train])) < 2:
            raise InputError("the training nodes are all of one class: at least two are needed")

    def with_drawn_split(self, seed: int, *, hide: bool = True) -> Self:
        """The graph with a random split where it has none and has labels to draw from; otherwise as it is.

        Where every label is known, 80 % are for testing and so hidden from methods, as benchmarks do; without ``hide``
        none is: a tenth of the nodes train and all others validate. Where only some are known, they are divided between
        training and validation.
        """
        if self.split is not None or self.labels is None or not len(self.known_labels):
            return self
        nodes = self.canonical_order.nodes
        shares = {} if hide or len(self.known_labels) < self.num_nodes else {"train": 0.1, "val": 0.9}
        drawn = Split.random(self.labels[nodes], seed=seed, **shares)
        return self.with_split(Split(*(nodes[part] for part in drawn.parts)))

    def with_split(self, split: Split | None) -> Self:
        """The same graph with another split, or without one."""
        return replace(self, split=split)

    def as_seen_by_defender(self) -> Self:
        """The graph `without_test_labels`; without any labels where there is no split that says which are known."""
        return self.unlabelled() if self.labels is None or self.split is None else self.without_test_labels()

    def unlabelled(self) -> Self:
        """The graph without labels and split."""
        return replace(self, labels=None, class_names=None, split=None)

    def without_test_labels(self) -> Self:
        """The graph with the labels of training and validation nodes only, as a defender sees it."""
        if self.labels is None or self.split is None:
            raise InputError("the graph needs labels and a split")
        labels = np.full(self.num_nodes, UNKNOWN)
        known = np.concatenate([self.split.train, self.split.val])
        labels[known] = self.labels[known]
        class_names = self.class_names or tuple(str(number) for number in range(self.num_classes))
        return replace(self, labels=labels, class_names=class_names)

    @cached_property
    def canonical_order(self) -> NodeOrder:
        """The nodes sorted by name or, without names, by structure: the same for any numbering of the same graph."""
        if self.stored is not None:
            return NodeOrder(np.arange(self.num_nodes))
        if self._names_count:
            names = self.names or ()
            return NodeOrder(names.order() if isinstance(names, StoredNames) else order_by_name(names))
        codes = np.full(self.num_nodes, UNKNOWN) if self.labels is None else self.labels.copy()
        for number, part in enumerate(() if self.split is None else self.split.parts, start=1):
            codes[part] += number * (self.num_classes + 1)
        return NodeOrder(order_by_structure(self.edges, self.features, codes))

    def in_canonical_order(self) -> Self:
        """The graph with its nodes renumbered by `canonical_order`; nodes without names get their places as names."""
        if self.stored is not None:
            return self
        nodes = self.canonical_order.nodes
        if not self._names_count:
            return replace(self.subgraph(nodes), names=StoredNames(np.arange(self.num_nodes)))
        return self if np.array_equal(nodes, np.arange(self.num_nodes)) else self.subgraph(nodes)

    @cached_property
    def _names_count(self) -> bool:
        """Whether nodes have names. The numbers 0 … N−1 in another order are what renumbering leaves without names."""
        if isinstance(self.names, StoredNames):
            ids = self.names.numbers
            if ids is None or ids.min() != 0 or ids.max() != self.num_nodes - 1:
                return True
            return np.array_equal(ids, np.arange(self.num_nodes))
        numbers = tuple(range(self.num_nodes))
        return self.names is not None and (self.names == numbers or set(self.names) != set(numbers))

    def subgraph(self, nodes: Sequence[int] | IntArray) -> Self:
        """The subgraph induced by these nodes, renumbered in the order given; the split is restricted to them."""
        kept = _integers(nodes, "nodes")
        number = np.full(self.num_nodes, -1)
        number[kept] = np.arange(len(kept))
        edges = number[self.edges]
        split = None
        if self.split is not None:
            split = Split(*(nodes[nodes >= 0] for nodes in (number[part] for part in self.split.parts)))
        return replace(
            self,
            num_nodes=len(kept),
            edges=Graph.from_pairs(len(kept), edges[(edges >= 0).all(axis=1)]).edges,
            attributes=None if self.attributes is None else self.attributes[kept],
            labels=None if self.labels is None else self.labels[kept],
            split=split,
            names=self.names_of(kept),
        )

    def largest_component(self) -> Self:
        """The subgraph of the largest connected component, its nodes in their old order."""
        _, component = sp.csgraph.connected_components(self.adjacency(), directed=False)
        sizes = np.bincount(component)
        return self if len(sizes) == 1 else self.subgraph(np.flatnonzero(component == sizes.argmax()))


def check_range(numbers: IntArray, size: int, who: str, what: str = "node") -> None:
    """Refuse numbers outside 0 … size−1; ``who`` names them in the message, ``what`` is one of them."""
    wrong = numbers[(numbers < 0) | (numbers >= size)]
    if len(wrong):
        raise InputError(f"{who} names {what} {wrong[0]}, but {what}s are numbered 0 to {size - 1}")


def _equal(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    if isinstance(one, sp.csr_array) and isinstance(other, sp.csr_array):
        return one.shape == other.shape and (one != other).nnz == 0
    return one == other

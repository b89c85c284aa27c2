"""Synthetic attributed graphs of chosen size, homophily and difficulty."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split, pair_keys, pairs_of_keys

_PROPENSITY_ROUNDS = 20
_NUMBER = (int, float, np.integer, np.floating)


def synthetic(
    num_nodes: int = 1000,
    mean_degree: float = 4.0,
    num_classes: int = 5,
    homophily: float = 0.8,
    num_attributes: int = 200,
    *,
    words_per_node: float = 15.0,
    attribute_signal: float = 0.2,
    degree_exponent: float = 3.0,
    seed: int = 0,
    with_split: bool = True,
) -> Graph:
    """Draw a degree-corrected stochastic block model whose nodes carry bags of words.

    Classes are equally large. Node i has a propensity θᵢ with density ∝ θ^−γ. An edge is within a class with
    probability h, exactly round(h·E) times among E = round(N·d / 2); P(i, j) ∝ θᵢ·θⱼ within each kind of pairs.
    A word of a node is, with probability s, one of the F/C words that its class prefers, else any word by a
    Zipf-like background. Nodes may be isolated; `Graph.largest_component` leaves them out.

    Args:
        num_nodes: N.
        mean_degree: d; the graph has exactly round(N·d / 2) edges.
        num_classes: C, each with N/C nodes up to rounding, at least one.
        homophily: h, the share of edges within a class.
        num_attributes: F; 0 for a graph without attributes.
        words_per_node: the mean number of words drawn per node, at least one; repeated words count once.
        attribute_signal: s, how informative the words are of the class, from 0 to 1.
        degree_exponent: γ > 2; larger values give more equal degrees, infinity a plain block model.
        seed: the random seed. Edges and labels don't depend on the settings of the attributes.
        with_split: whether to add a stratified 10 / 10 / 80 % split.

    >>> graph = synthetic(100, seed=7)
    >>> graph
    Graph(100 nodes, 200 edges, 5 classes, 200 attributes)
    >>> graph.homophily
    0.8
    """
    _check_whole(
        num_nodes=(num_nodes, 1), num_classes=(num_classes, 1), num_attributes=(num_attributes, 0), seed=(seed, 0)
    )
    if num_classes > num_nodes:
        raise InputError(f"{num_classes} classes need at least as many nodes, not {num_nodes}")
    _check_real(mean_degree=(mean_degree, 0.0, num_nodes - 1.0), homophily=(homophily, 0.0, 1.0))
    _check_real(attribute_signal=(attribute_signal, 0.0, 1.0), words_per_node=(words_per_node, 0.0, 1e6))
    _check_real(degree_exponent=(degree_exponent, math.nextafter(2.0, 3.0), math.inf))
    for_labels, for_edges, for_words = np.random.default_rng(seed).spawn(3)
    labels = for_labels.permutation(np.arange(num_nodes) % num_classes)
    edges = _draw_edges(labels, mean_degree, homophily, degree_exponent, for_edges)
    words = _draw_words(labels, num_attributes, words_per_node, attribute_signal, for_words) if num_attributes else None
    return Graph(
        num_nodes,
        edges,
        attributes=words,
        labels=labels,
        split=Split.random(labels, seed=seed) if with_split else None,
        class_names=tuple(str(number) for number in range(num_classes)),
        notes={"source": f"synthetic, seed {seed}"},
    )


def _check_whole(**settings: tuple[object, int]) -> None:
    for name, (value, least) in settings.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


def _check_real(**settings: tuple[object, float, float]) -> None:
    for name, (value, least, most) in settings.items():
        if isinstance(value, bool) or not isinstance(value, _NUMBER) or not least <= value <= most:
            raise InputError(f"{name} must be between {least:g} and {most:g}, not {value!r}")


def _draw_edges(
    labels: IntArray, mean_degree: float, homophily: float, exponent: float, rng: np.random.Generator
) -> IntArray:
    """Draw round(N·d / 2) edges, round(h·E) of them within a class (E × 2, sorted)."""
    num_nodes = len(labels)
    sizes = np.bincount(labels)
    pairs_within = int((sizes * (sizes - 1) // 2).sum())
    pairs_between = num_nodes * (num_nodes - 1) // 2 - pairs_within
    wanted = round(num_nodes * mean_degree / 2)
    within = round(homophily * wanted)
    if within > pairs_within or wanted - within > pairs_between:
        raise InputError(
            f"{within:,} edges within classes and {wanted - within:,} between are asked for, but {num_nodes:,} nodes "
            f"in {len(sizes)} classes have only {pairs_within:,} and {pairs_between:,} such pairs: "
            "change homophily, mean_degree or num_classes"
        )
    line = _Line(labels, _propensities(num_nodes, mean_degree, exponent, rng))
    keys_within = _draw_kind(line, within, pairs_within, True, rng)
    keys_between = _draw_kind(line, wanted - within, pairs_between, False, rng)
    return pairs_of_keys(np.sort(np.concatenate([keys_within, keys_between])), num_nodes)


def _propensities(num_nodes: int, mean_degree: float, exponent: float, rng: np.random.Generator) -> FloatArray:
    """Pareto draws with density ∝ θ^−γ, cut where a node's expected degree would exceed √(N·d)."""
    # With γ = ∞ the power is −0, and all draws are 1. Generator.random is below 1, so 1 − u is never 0.
    theta: FloatArray = (1 - rng.random(num_nodes)) ** (-1 / (exponent - 1))
    return np.minimum(theta, theta.mean() * max(1.0, math.sqrt(num_nodes / max(mean_degree, 1e-9))))


class _Line:
    """Intervals of the nodes on a line, class by class, each as long as the node's propensity."""

    def __init__(self, labels: IntArray, theta: FloatArray) -> None:
        self.nodes = np.argsort(labels, kind="stable")
        self.ends = np.cumsum(theta[self.nodes])
        last = np.cumsum(np.bincount(labels)) - 1
        self.labels = labels
        self.class_ends = self.ends[last]
        self.class_starts = np.concatenate([[0.0], self.class_ends[:-1]])

    def node_at(self, position: FloatArray) -> IntArray:
        return self.nodes[np.minimum(np.searchsorted(self.ends, position, side="right"), len(self.nodes) - 1)]

    def pairs(self, count: int, within: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Draw pairs by propensity: one end among all nodes, the other inside or outside its class."""
        total = self.ends[-1]
        first = self.node_at(rng.random(count) * total)
        start, end = self.class_starts[self.labels[first]], self.class_ends[self.labels[first]]
        share = rng.random(count)
        # Outside: the rest of the line, cyclically from the end of the class.
        position = start + share * (end - start) if within else (end + share * (total - (end - start))) % total
        return first, self.node_at(position)


def _draw_kind(line: _Line, wanted: int, possible: int, within: bool, rng: np.random.Generator) -> IntArray:
    """Draw distinct edges of one kind, as `pair_keys`, until there are as many as wanted.

    After some rounds, when pairs of high propensity are used up, the last edges are drawn uniformly.
    """
    num_nodes = len(line.labels)
    keys = np.empty(0, dtype=np.int64)
    rounds = 0
    while (missing := wanted - len(keys)) > 0:
        if rounds == _PROPENSITY_ROUNDS:
            line = _Line(line.labels, np.ones(num_nodes))
        # A share of (possible − drawn) / possible of all pairs is still new; the batch allows for that, with a margin.
        batch = math.ceil(1.1 * missing * possible / (possible - len(keys))) + 32
        u, v = line.pairs(batch, within, rng)
        # Rounding can move a position on the line across a class's border.
        valid = (u != v) & ((line.labels[u] == line.labels[v]) == within)
        pairs = np.stack([np.minimum(u, v), np.maximum(u, v)], axis=1)[valid]
        drawn = np.concatenate([keys, pair_keys(pairs, num_nodes)])
        _, first = np.unique(drawn, return_index=True)
        keys = drawn[np.sort(first)[:wanted]]
        rounds += 1
    return keys


def _draw_words(
    labels: IntArray, num_attributes: int, words_per_node: float, signal: float, rng: np.random.Generator
) -> sp.csr_array:
    """Draw each node's words (N × F, binary)."""
    num_nodes, num_classes = len(labels), int(labels.max()) + 1
    counts = np.maximum(rng.poisson(words_per_node, num_nodes), 1)
    ends = np.concatenate([[0], np.cumsum(counts)])
    order = rng.permutation(num_attributes)
    per_class = max(1, num_attributes // num_classes)
    preferred = order[np.arange(num_classes * per_class) % num_attributes].reshape(num_classes, per_class)
    popularity = np.cumsum(1 / np.arange(10, 10 + num_attributes))
    background = np.searchsorted(popularity, rng.random(ends[-1]) * popularity[-1], side="right")
    # A second permutation, so that the popular words are not those of the first class.
    words = rng.permutation(num_attributes)[np.minimum(background, num_attributes - 1)]
    topical = rng.random(ends[-1]) < signal
    classes = np.repeat(labels, counts)[topical]
    words[topical] = preferred[classes, rng.integers(per_class, size=len(classes))]
    matrix = sp.csr_array((np.ones(len(words)), words, ends), shape=(num_nodes, num_attributes))
    matrix.sum_duplicates()
    matrix.data[:] = 1.0
    return matrix

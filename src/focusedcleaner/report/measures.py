"""What can be measured of a graph before and after, with the same yardsticks for every method.

Nothing here sees the truth or the label of a test node: graphs come in as the defender sees them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from focusedcleaner.detectors import ClassDiv, View, mlp, reduced_attributes
from focusedcleaner.detectors.mixture import Mixture, Monomials
from focusedcleaner.engine import one_thread
from focusedcleaner.graph import UNKNOWN, BoolArray, FloatArray, Graph, IntArray
from focusedcleaner.sanitizers.focused import SINGLE_PRECISION_FROM
from focusedcleaner.surrogate import Surrogate


@dataclass(frozen=True)
class Judgement:
    """What the surrogate and ClassDiv say of a poisoned graph and of the same graph cleaned."""

    accuracy: tuple[float, float]
    """The surrogate's on validation nodes, before and after; NaN where nobody validates."""
    validated: int
    """How many nodes that is measured on."""
    energies: tuple[FloatArray, FloatArray]
    """The victim score E of every node, before and after (N values each)."""
    threshold: float
    """Above which a node of the poisoned graph counts as a victim."""
    classes: IntArray
    """N class numbers: known ones, and for all others what the surrogate predicts on the cleaned graph."""
    known: BoolArray


def judge(poisoned: Graph, cleaned: Graph, *, seed: int = 0) -> Judgement:
    """Train the surrogate on both graphs, and ClassDiv's mixture on the poisoned one, which then judges both.

    Args:
        poisoned: with labels and a split; the labels of test nodes are not looked at.
        cleaned: the same nodes with other edges.
        seed: of the mixture's training.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, seed=0)
    >>> same = judge(graph, graph)
    >>> bool(np.allclose(*same.energies)), same.accuracy[0] == same.accuracy[1]
    (True, True)
    """
    with one_thread(), torch.no_grad():
        graphs = [graph.without_test_labels() for graph in (poisoned, cleaned)]
        precision = torch.float64 if poisoned.num_edges < SINGLE_PRECISION_FROM else torch.float32
        reduced = reduced_attributes(graphs[0], dtype=precision)
        views = []
        for graph in graphs:
            surrogate = Surrogate(graph, dtype=precision)
            views.append(View(surrogate.structure, surrogate.fit().logits, reduced, seed))
        detector = ClassDiv()
        victims = detector.victims(views[0], {})
        seen = graphs[0]
        assert seen.labels is not None
        known = seen.labels != UNKNOWN
        predicted = [view.logits.argmax(1).numpy() for view in views]
        return Judgement(
            accuracy=(_accuracy(seen, predicted[0]), _accuracy(seen, predicted[1])),
            validated=0 if seen.split is None else len(seen.split.val),
            energies=_energies(detector, views[0], views[1], victims.memory),
            threshold=victims.threshold,
            classes=np.where(known, seen.labels, predicted[1]),
            known=known,
        )


def _accuracy(graph: Graph, predicted: IntArray) -> float:
    if graph.split is None or graph.labels is None or not len(graph.split.val):
        return math.nan
    nodes = graph.split.val
    return float((predicted[nodes] == graph.labels[nodes]).mean())


def _energies(detector: ClassDiv, before: View, after: View, weights: Any) -> tuple[FloatArray, FloatArray]:
    """E of both views under the mixture that the first one makes.

    The nodes of the second view join the first's with no membership in any Gaussian: they get a density and don't
    change it. Only the Gaussians' shares φ are halved, as they are shares of twice as many nodes: log 2 in E.
    """
    first, second = detector.features(before), detector.features(after, like=before)
    membership = torch.softmax(mlp.apply(first, weights), 0)
    nobody = torch.zeros(len(membership), second.shape[1])
    joined: Tensor = Mixture.of(Monomials(torch.cat([first, second], 1)), torch.cat([membership, nobody], 1)).energies()
    one, other = (joined.double() - math.log(2)).split([first.shape[1], second.shape[1]])
    return one.numpy(), other.numpy()


def structure(graph: Graph) -> dict[str, Any]:
    """What the edges alone say: their number, components, degrees, and how many join nodes of one class.

    >>> structure(Graph(4, [[0, 1], [1, 2]], labels=[0, 0, 1, -1]))["homophily"]
    0.5
    """
    number, component = sp.csgraph.connected_components(graph.adjacency(), directed=False)
    labelled = 0 if graph.labels is None else int((graph.labels[graph.edges] != UNKNOWN).all(axis=1).sum())
    return {
        "edges": graph.num_edges,
        "homophily": graph.homophily,
        "labelled_edges": labelled,
        "components": int(number),
        "largest_component": int(np.bincount(component).max()),
        "isolated": int((graph.degrees == 0).sum()),
        "mean_degree": float(graph.degrees.mean()),
        "largest_degree": int(graph.degrees.max()),
    }


def degree_bins(*graphs: Graph) -> dict[str, Any]:
    """How many nodes of each graph have a degree of 0, 1, … 5, 6–7, 8–15, 16–31, and so on.

    >>> degree_bins(Graph(4, [[0, 1], [1, 2]]))
    {'bins': ['0', '1', '2'], 'nodes': [[1, 2, 1]]}
    """
    largest = max(int(graph.degrees.max()) for graph in graphs)
    borders = [*range(7), 8]
    while borders[-1] <= largest:
        borders.append(2 * borders[-1])
    borders = borders[: next(place for place, border in enumerate(borders) if border > largest) + 1]
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(borders)]
    counts = [np.histogram(graph.degrees, borders)[0].tolist() for graph in graphs]
    return {"bins": names, "nodes": counts}


def histogram(before: FloatArray, after: FloatArray, threshold: float, *, bins: int = 32) -> dict[str, Any]:
    """The victim scores of both graphs in equal bins; the outermost ones take in the tails beyond 0.5 % and 99.5 %."""
    both = np.concatenate([before, after])
    low, high = (float(value) for value in np.quantile(both, [0.005, 0.995]))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    borders = np.linspace(low, high, bins + 1)
    counts = [np.histogram(np.clip(part, low, high), borders)[0].tolist() for part in (before, after)]
    return {
        "borders": borders.tolist(),
        "nodes": counts,
        "threshold": threshold,
        "above": [int((part > threshold).sum()) for part in (before, after)],
    }

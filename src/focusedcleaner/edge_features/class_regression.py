"""Logistic regression of a node's class on its attributes and on their average around it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.engine.structure import Attributes, Structure
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.surrogate.features import Preconditioner, PrimalFeatures
from focusedcleaner.surrogate.inner import Implicit

TOLERANCE = 1e-2
"""Norm of the gradient at which training stops, relative to that at W = 0: a closer optimum ranks edges no better."""
CONSTANT = 3.0
"""Value of the constant column, whose weights are the offsets: the larger it is, the less they are penalized."""


class ClassRegression:
    """p = softmax([x | P²x | 3]·W) with P = D⁻¹(A + I), trained on the nodes with known labels of one graph.

    x are the attributes, scaled to length 1, or the identity where there are none. W minimizes the sum of the known
    nodes' cross-entropies + ‖W‖²/2c, where c is ``inverse_decay``. P²x is never formed.
    """

    def __init__(
        self,
        graph: Graph,
        inverse_decay: float,
        *,
        structure: Structure | None = None,
        attributes: Attributes | None = None,
    ) -> None:
        assert graph.labels is not None
        self.graph, self.known = graph, np.flatnonzero(graph.labels >= 0)
        self.present, place = np.unique(graph.labels[self.known], return_inverse=True)
        self.structure = structure or Structure(graph)
        self.attributes = attributes or Attributes(graph, unit=True)
        onehot = torch.nn.functional.one_hot(torch.from_numpy(place), len(self.present))
        self.onehot = onehot.T.to(self.attributes.dtype).contiguous()
        self.training = Implicit(1 / (inverse_decay * len(self.known) * self.attributes.mean_square), TOLERANCE)

    def fit(self, weights: FloatArray, start: Tensor | None = None) -> tuple[FloatArray, Tensor]:
        """Train with E edge weights, from the W of other weights if given.

        Return p of every node (N × C), one-hot where the label is known, and W, from which the next training can start.
        """
        features = _Averages(
            self.structure,
            self.attributes,
            torch.from_numpy(self.known),
            torch.from_numpy(weights).to(self.attributes.dtype),
        )
        w = self.training.fit(features, self.onehot, start).coordinates
        probabilities = torch.softmax(features.all_logits(w).double(), 1).numpy()
        return with_known_labels(self.graph, self.present, probabilities), w


def class_distributions(graph: Graph, inverse_decay: float) -> FloatArray:
    """Predict the class distribution of each node by a `ClassRegression`, N × C; one-hot where the label is known."""
    distributions, _ = ClassRegression(graph, inverse_decay).fit(np.ones(graph.num_edges))
    return distributions


def with_known_labels(graph: Graph, classes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Spread the columns of ``probabilities`` over all C classes, and replace known nodes by their one-hot label."""
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    distributions = np.zeros((graph.num_nodes, graph.num_classes))
    distributions[:, classes] = probabilities
    distributions[known] = 0.0
    distributions[known, graph.labels[known]] = 1.0
    return distributions


class _Averages(PrimalFeatures):
    """[x | P²x | 3] of the known nodes; the coordinates are W^T itself."""

    def __init__(self, structure: Structure, attributes: Attributes, known: Tensor, weights: Tensor) -> None:
        super().__init__(torch.empty(0, dtype=attributes.dtype), attributes)
        self.known = known
        self.neighbours = structure.pairs.weighted(weights)
        self.sizes = 1 + self.neighbours @ torch.ones(structure.num_nodes, 1, dtype=attributes.dtype)

    def zeros(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, 2 * self.attributes.num_columns + 1)

    def all_logits(self, a: Tensor) -> Tensor:
        """Return the logits of all nodes, N × C."""
        own, around = self.attributes.times(_side_by_side(a[:, :-1])).chunk(2, 1)
        for _ in range(2):
            around = (self.neighbours @ around + around) / self.sizes
        return own + around + CONSTANT * a[:, -1]

    def logits(self, a: Tensor) -> Tensor:
        return self.all_logits(a)[self.known].T.contiguous()

    def transposed_times(self, errors: Tensor) -> Tensor:
        own = around = errors.new_zeros(len(self.sizes), len(errors)).index_copy_(0, self.known, errors.T)
        for _ in range(2):
            around = around / self.sizes
            around = self.neighbours @ around + around
        parts = self.attributes.transposed_times(torch.cat([own, around], 1)).chunk(2, 1)
        return torch.cat([*(part.T for part in parts), CONSTANT * errors.sum(1, keepdim=True)], 1)

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        return lambda right: (right, self.logits(right))


def _side_by_side(a: Tensor) -> Tensor:
    """Return the weights of both halves of the columns beside each other: C × 2F becomes F × 2C."""
    return torch.cat([part.T for part in a.chunk(2, 1)], 1).contiguous()

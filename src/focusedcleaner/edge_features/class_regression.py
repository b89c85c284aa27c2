"""Logistic regression of a node's class on its attributes and on their average around it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.engine.parallel import SMALL_PART, beside, by_rows, rows_of
from focusedcleaner.engine.structure import Attributes, Structure
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.surrogate.features import DENSE_LIMIT, Preconditioner, PrimalFeatures
from focusedcleaner.surrogate.inner import Implicit

SINGLE_PRECISION_FROM = 300_000
"""Edges from which single precision is used: node matrices exceed the CPU caches, and memory bandwidth dominates."""
NARROW = 16
"""Attributes per class up to which the regression's matrix is formed, in graphs of several blocks."""
TOLERANCE = 1e-2
"""Norm of the gradient at which training stops, relative to that at W = 0: a closer optimum ranks edges no better."""
CONSTANT = 3.0
"""Value of the constant column, whose weights are the offsets: the larger it is, the less they are penalized."""


def is_narrow(structure: Structure, attributes: Attributes, num_classes: int) -> bool:
    """Whether a model's matrix of averaged attributes is formed: faster than to average at each step of its training,
    where a graph has several blocks and few attributes."""
    return len(structure.blocks) > 1 and attributes.num_columns <= NARROW * num_classes


def surrogate_form(structure: Structure, attributes: Attributes, num_classes: int) -> str:
    """Return the form of a surrogate that is trained once (`focusedcleaner.surrogate.features`)."""
    return "primal" if is_narrow(structure, attributes, num_classes) else "sparse"


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
        dtype = torch.float64 if graph.num_edges < SINGLE_PRECISION_FROM else torch.float32
        self.structure = structure or Structure(graph, dtype=dtype)
        self.attributes = attributes or Attributes(graph, unit=True, dtype=dtype)
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
        dense = is_narrow(self.structure, self.attributes, len(self.present)) and features.size <= DENSE_LIMIT
        w = self.training.fit(features.dense() if dense else features, self.onehot, start).coordinates
        probabilities = by_rows(_softmax, features.all_logits(w)).numpy()
        return with_known_labels(self.graph, self.present, probabilities), w


def class_distributions(graph: Graph, inverse_decay: float) -> FloatArray:
    """Predict the class distribution of each node by a `ClassRegression`, N × C; one-hot where the label is known."""
    distributions, _ = ClassRegression(graph, inverse_decay).fit(np.ones(graph.num_edges))
    return distributions


def with_known_labels(graph: Graph, classes: IntArray, probabilities: FloatArray) -> FloatArray:
    """Spread the columns of ``probabilities`` over all C classes, and replace known nodes by their one-hot label."""
    assert graph.labels is not None
    known = np.flatnonzero(graph.labels >= 0)
    distributions = probabilities
    if len(classes) < graph.num_classes:
        distributions = np.zeros((graph.num_nodes, graph.num_classes), dtype=probabilities.dtype)
        distributions[:, classes] = probabilities
    distributions[known] = 0.0
    distributions[known, graph.labels[known]] = 1.0
    return distributions


class _Averages(PrimalFeatures):
    """[x | P²x | 3] of the known nodes; the coordinates are W^T itself."""

    def __init__(self, structure: Structure, attributes: Attributes, known: Tensor, weights: Tensor) -> None:
        super().__init__(torch.empty(0, dtype=attributes.dtype), attributes)
        self.known, self.structure, self.edge_weights = known, structure, EdgeWeights(weights)
        self.sizes = 1 + self._neighbour_sum(torch.ones(structure.num_nodes, 1, dtype=attributes.dtype))

    def _neighbour_sum(self, matrix: Tensor) -> Tensor:
        return self.structure.neighbour_sum(matrix, self.edge_weights)

    def zeros(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, 2 * self.attributes.num_columns + 1)

    @property
    def size(self) -> int:
        """The number of entries of the `dense` matrix."""
        return len(self.known) * (2 * self.attributes.num_columns + 1)

    def dense(self) -> PrimalFeatures:
        """Form the matrix, a few columns after the other: faster than to propagate at each step of a training."""
        own, around = [], []
        for x in self.attributes.columns():
            own.append(rows_of(x, self.known))
            around.append(rows_of(self._average(x), self.known))
        constant = torch.full((len(self.known), 1), CONSTANT, dtype=self.attributes.dtype)
        return _DenseAverages(beside(*own, *around, constant), self.attributes, SMALL_PART)

    def _average(self, matrix: Tensor) -> Tensor:
        """Return P²·M."""
        for _ in range(2):
            matrix = self.structure.average(matrix, self.sizes, self.edge_weights)
        return matrix

    def all_logits(self, a: Tensor) -> Tensor:
        """Return the logits of all nodes, N × C."""
        own, around = self.attributes.times(_side_by_side(a[:, :-1])).chunk(2, 1)
        return by_rows(lambda own, around: own + around + CONSTANT * a[:, -1], own, self._average(around.contiguous()))

    def logits(self, a: Tensor) -> Tensor:
        return self.all_logits(a)[self.known].T.contiguous()

    def transposed_times(self, errors: Tensor) -> Tensor:
        own = around = errors.new_zeros(len(self.sizes), len(errors)).index_copy_(0, self.known, errors.T)
        for _ in range(2):
            around = around / self.sizes
            around = self._neighbour_sum(around) + around
        parts = self.attributes.transposed_times(torch.cat([own, around], 1)).chunk(2, 1)
        return torch.cat([*(part.T for part in parts), CONSTANT * errors.sum(1, keepdim=True)], 1)

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        return lambda right: (right, self.logits(right))


class _DenseAverages(PrimalFeatures):
    """`_Averages` as a dense matrix."""

    def zeros(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, self.rows.shape[1])


def _softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits.double(), 1)


def _side_by_side(a: Tensor) -> Tensor:
    """Return the weights of both halves of the columns beside each other: C × 2F becomes F × 2C."""
    return torch.cat([part.T for part in a.chunk(2, 1)], 1).contiguous()

"""The surrogate model: trained on a structure, and differentiated with respect to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from focusedcleaner.engine.parallel import by_rows
from focusedcleaner.engine.structure import Attributes, Structure
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.surrogate.features import Features, TrainingFeatures
from focusedcleaner.surrogate.inner import Implicit, InnerTraining, Solution
from focusedcleaner.surrogate.metagradient import PairGradient, two_hop_gradient


@dataclass(frozen=True)
class Fitted:
    """The surrogate trained on the current structure."""

    features: Features
    solution: Solution
    xw: Tensor
    """P = X·W, N × C."""
    logits: Tensor
    """Z = Â²XW, N × C."""

    @property
    def probabilities(self) -> Tensor:
        """S = softmax(Z), N × C."""
        return torch.softmax(self.logits, 1)


class Surrogate:
    """S = softmax(Â²XW) with W trained on the training nodes (Eq. 6b–6c).

    Args:
        graph: with labels for its training nodes; X is the identity if it has no attributes.
        inner: the training of W: `Implicit` (the default), `Unrolled` or `TwoLayer`.
        form: "dual", "primal" or "sparse" (see `features`); chosen by size if None.
        structure: that of the graph, if there is one already.
        attributes: those of the graph, if they are converted already.

    >>> from focusedcleaner.graph import Split
    >>> graph = Graph(4, [[0, 1], [1, 2], [2, 3]], labels=[0, 0, 1, 1], split=Split([0, 3], [1], [2]))
    >>> surrogate = Surrogate(graph)
    >>> surrogate.fit().probabilities.argmax(1)
    tensor([0, 0, 1, 1])
    """

    def __init__(
        self,
        graph: Graph,
        *,
        inner: InnerTraining | None = None,
        form: str | None = None,
        structure: Structure | None = None,
        attributes: Attributes | None = None,
        dtype: torch.dtype = torch.float64,
    ) -> None:
        if graph.labels is None or graph.split is None or not len(graph.split.train):
            raise InputError("the surrogate needs a graph with labels and training nodes")
        self.inner = Implicit() if inner is None else inner
        self.structure = structure or Structure(graph, dtype=dtype)
        self.attributes = attributes or Attributes(graph, dtype=dtype)
        self.train = torch.tensor(graph.split.train)
        self.features = TrainingFeatures(self.structure, self.attributes, self.train, form)
        labels = torch.tensor(graph.labels[graph.split.train])
        self.onehot = torch.nn.functional.one_hot(labels, graph.num_classes).to(dtype).T.contiguous()

    def move_to(self, structure: Structure, touched: Sequence[int]) -> None:
        """Switch to another structure over the same nodes that differs only in edges between the touched nodes."""
        structure.touched[list(touched)] = 1.0
        self.structure = self.features.structure = structure

    def fit(self, start: Tensor | None = None, seed: int = 0) -> Fitted:
        """Train on the current structure, from the coordinates of an earlier solution if given; ``seed`` is for a
        training from random weights."""
        features = self.features.now()
        solution = self.inner.fit(features, self.onehot, start, seed)
        xw = self.attributes.times(solution.weights)
        logits = self.structure.propagate(self.structure.propagate(xw))
        return Fitted(features, solution, xw, logits)

    def meta_gradient(self, fitted: Fitted, signal: Tensor) -> PairGradient:
        """Return ∂loss/∂Â for ``signal`` = ∂loss/∂Z (N × C), directly and through the training of W."""
        outer = self.attributes.transposed_times(self.structure.propagate(self.structure.propagate(signal)))
        own, others = signal, []
        for errors, xw in self.inner.feature_gradient(fitted.features, self.onehot, fitted.solution, outer):
            if xw is None:
                own = by_rows(torch.clone, own).index_add_(0, self.train, errors)
            else:
                spread = signal.new_zeros(self.structure.num_nodes, errors.shape[1])
                others.append((spread.index_copy_(0, self.train, errors), xw))
        return two_hop_gradient(self.structure, [(own, fitted.xw), *others])

"""SGC: logistic regression on propagated attributes."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from focusedcleaner.classifiers.base import Affine, Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded


class _SGCNetwork(Network):
    def __init__(self, model: SGC, graph: Graph) -> None:
        super().__init__(model, graph)
        self.layer = Affine(self.columns, graph.num_classes)

    def forward(self, x: Operator, propagate: Operator) -> Tensor:
        scores = x(self.layer.weight)
        for _ in range(self.model.hops):
            scores = propagate(scores)
        return scores + self.layer.bias


@dataclass
class SGC(NetworkClassifier):
    """Logistic regression on attributes averaged over K hops:

        S = Â^K·X·W + b,  Â = D^-½ (A + I) D^-½,

    computed from the right, so that Â^K·X is never formed. Wu, Zhang, Souza, Fifty, Yu, Weinberger: "Simplifying Graph
    Convolutional Networks", ICML 2019 (https://arxiv.org/abs/1902.07153). `hidden` and `dropout` are not used.

    Args:
        hops: K.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> SGC().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name = "sgc"
    network = _SGCNetwork

    hops: int = bounded(2, "[0, 1000]")

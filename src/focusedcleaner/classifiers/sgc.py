"""SGC: a graph convolution with nothing nonlinear left in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


@dataclass
class SGC(NetworkClassifier):
    """Logistic regression on attributes that were averaged over K hops:

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

    name: ClassVar[str] = "sgc"

    hops: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hops < 0:
            raise InputError(f"hops must be 0 or above, not {self.hops}")

    def network(self, graph: Graph) -> Network:
        return _SGCNetwork(Affine(num_columns(graph), graph.num_classes), self.hops)


class _SGCNetwork(Network):
    def __init__(self, layer: Affine, hops: int) -> None:
        super().__init__()
        self.layer, self.hops = layer, hops

    def prepare(self, graph: Graph) -> tuple[Operator, Operator]:
        return propagation(graph), attributes_for(graph, self.layer)

    def forward(self, inputs: tuple[Operator, Operator]) -> Tensor:
        propagate, features = inputs
        scores = features(self.layer.weight)
        for _ in range(self.hops):
            scores = propagate(scores)
        return scores + self.layer.bias

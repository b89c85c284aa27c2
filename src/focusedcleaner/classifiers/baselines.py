"""The models that robust classifiers are compared with: GCN, SGC and MLP."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from focusedcleaner.classifiers.base import Affine, Network, NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded


@dataclass
class GCN(NetworkClassifier):
    """Two graph convolutions with a ReLU between them:

        S = Â·dropout(ReLU(Â·X·W₁ + b₁))·W₂ + b₂,  Â = D^-½ (A + I) D^-½,

    trained by the cross-entropy of softmax(S) on the training nodes. Attributes are not normalized. Kipf, Welling:
    "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017 (https://arxiv.org/abs/1609.02907).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> GCN().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name = "gcn"
    network = TwoLayers


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

    hops: int = bounded(2, "[0, inf)")


class _MLPNetwork(TwoLayers):
    def forward(self, x: Operator, operators: Operator) -> Tensor:
        return self.perceptron(x)


@dataclass
class MLP(NetworkClassifier):
    """Two layers on the attributes, without the graph:

        S = dropout(ReLU(X·W₁ + b₁))·W₂ + b₂.

    If the graph has no attributes, X = I, and the model can only guess the classes of nodes outside its training set.
    The multilayer perceptron: Rumelhart, Hinton, Williams: "Learning Representations by Back-Propagating Errors",
    Nature 1986 (https://doi.org/10.1038/323533a0).

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, attribute_signal=0.8, seed=0)
    >>> MLP().fit(graph, seed=0).accuracy(graph) > 0.5
    True
    """

    name = "mlp"
    network = _MLPNetwork

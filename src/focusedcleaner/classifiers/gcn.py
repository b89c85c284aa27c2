"""GCN: graph convolutions, the baseline of all other models."""

from __future__ import annotations

from dataclasses import dataclass

from focusedcleaner.classifiers.base import NetworkClassifier, TwoLayers


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

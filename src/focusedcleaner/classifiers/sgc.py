"""SGC: logistic regression on propagated attributes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from focusedcleaner.classifiers.base import Affine, BestState, Network, known_nodes
from focusedcleaner.classifiers.large import LARGE, LargeGraphClassifier, Product
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

TABLE = 2**28
"""Numbers in the averaged attributes of all nodes that train or validate, at most; they are kept in memory."""


class _SGCNetwork(Network):
    def __init__(self, model: SGC, graph: Graph) -> None:
        super().__init__(model, graph)
        self.layer = Affine(self.columns, graph.num_classes)

    def forward(self, x: Product, propagate: Product) -> Tensor:
        scores = x(self.layer.weight)
        for _ in range(self.model.hops):
            scores = propagate(scores)
        return scores + self.layer.bias


@dataclass
class SGC(LargeGraphClassifier):
    """Logistic regression on attributes averaged over K hops:

        S = Â^K·X·W + b,  Â = D^-½ (A + I) D^-½,

    computed from the right, so that Â^K·X is never formed. Wu, Zhang, Souza, Fifty, Yu, Weinberger: "Simplifying Graph
    Convolutional Networks", ICML 2019 (https://arxiv.org/abs/1902.07153). `hidden` and `dropout` are not used.

    On large graphs with few attributes, the rows of Â^K·X that train or validate are computed once, a few columns at a
    time; the training is the same, up to rounding.

    Args:
        hops: K.
        precomputed: whether to compute these rows first; by default beyond `LARGE` edges if there are at most `TABLE`
            numbers in them.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> SGC().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name = "sgc"
    network = _SGCNetwork
    for_large = ("precomputed",)

    hops: int = bounded(2, "[0, 1000]")
    precomputed: bool | None = None

    def _takes_as_large(self, graph: Graph) -> bool:
        if self.precomputed is not None:
            return self.precomputed
        columns = graph.num_nodes if graph.features is None else int(graph.features.shape[1])
        rows = 0 if graph.split is None else len(graph.split.train) + len(graph.split.val)
        return graph.num_edges > LARGE and rows * columns <= TABLE

    def _fit_large(self, network: Network, graph: Graph, seed: int) -> None:
        assert isinstance(network, _SGCNetwork)
        train, val, labels = known_nodes(graph)
        rows = averaged_attributes(graph, self.hops, torch.cat([train, val]))
        of_train, of_val = rows[: len(train)], rows[len(train) :]
        optimizer = torch.optim.Adam(network.groups(self.weight_decay), lr=self.rate)
        best = BestState(network, self.patience)
        for _ in range(self.epochs):
            optimizer.zero_grad()
            cross_entropy(network.layer(of_train), labels[train]).backward()
            optimizer.step()
            with torch.no_grad():
                if len(val) and best.is_settled(network.layer(of_val), labels[val]):
                    break
        best.restore()


def averaged_attributes(graph: Graph, hops: int, nodes: Tensor) -> Tensor:
    """Return the rows of Â^K·X for some nodes, n × F, a few columns of all nodes at a time."""
    structure, attributes = Structure(graph, dtype=torch.float32), Attributes(graph, dtype=torch.float32)
    parts = []
    for columns in attributes.columns():
        for _ in range(hops):
            columns = structure.propagate(columns)
        parts.append(columns[nodes])
    return torch.cat(parts, dim=1)

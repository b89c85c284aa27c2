"""GCN: graph convolutions, the baseline of all other models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from focusedcleaner.classifiers.base import BestState, Network, TwoLayers, known_nodes
from focusedcleaner.classifiers.large import LARGE, LargeGraphClassifier, row_block_products
from focusedcleaner.classifiers.neighbour_sampler import NeighbourSampler
from focusedcleaner.engine.operators import Operator
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.settings import bounded

VALIDATED = 10
"""Updates between two validations in sampled training."""


@dataclass
class GCN(LargeGraphClassifier):
    """Two graph convolutions with a ReLU between them:

        S = Â·dropout(ReLU(Â·X·W₁ + b₁))·W₂ + b₂,  Â = D^-½ (A + I) D^-½,

    trained by the cross-entropy of softmax(S) on the training nodes. Attributes are not normalized. Kipf, Welling:
    "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017 (https://arxiv.org/abs/1609.02907).

    On large graphs an epoch is one update on a batch of training nodes, and each Â is replaced by an estimate from a
    few neighbours of each node (`NeighbourSampler`). Every tenth update is validated, with all neighbours.

    Args:
        sampled: whether to train on batches with sampled neighbours; by default beyond `LARGE` edges.
        batch_size: training nodes in a batch.
        neighbours: sampled neighbours of a node in each layer.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> GCN().fit(graph, seed=0).accuracy(graph) > 0.7
    True
    """

    name = "gcn"
    network = TwoLayers
    for_large = ("sampled", "batch_size", "neighbours")

    sampled: bool | None = None
    batch_size: int = bounded(2048, "[1, 10000000]")
    neighbours: int = bounded(15, "[1, 10000000]")

    def _takes_as_large(self, graph: Graph) -> bool:
        return graph.num_edges > LARGE if self.sampled is None else self.sampled

    def _fit_large(self, network: Network, graph: Graph, seed: int) -> None:
        assert isinstance(network, TwoLayers)
        train, val, labels = known_nodes(graph)
        rng, exact = np.random.default_rng(seed), row_block_products(graph)
        batches = _batches(train.numpy(), self.batch_size, rng)
        sampler = NeighbourSampler(graph, self.neighbours)
        optimizer = torch.optim.Adam(network.groups(self.weight_decay), lr=self.rate)
        best = BestState(network, self.patience)
        for update in range(1, self.epochs + 1):
            network.train()
            optimizer.zero_grad()
            batch = next(batches)
            cross_entropy(sampled_scores(network, graph, batch, sampler, rng), labels[batch]).backward()
            optimizer.step()
            if len(val) and (update % VALIDATED == 0 or update == self.epochs):
                network.eval()
                with torch.no_grad():
                    scores = network(*exact)[val]
                if best.is_settled(scores, labels[val], VALIDATED):
                    break
        best.restore()


def sampled_scores(
    network: TwoLayers, graph: Graph, nodes: IntArray, sampler: NeighbourSampler, rng: np.random.Generator
) -> Tensor:
    """Return an estimate of the logits of n different nodes, n × C, from sampled neighbours in both layers."""
    hidden, second = sampler.sample(nodes, rng)
    inputs, first = sampler.sample(hidden, rng)
    return network.output(network.hidden(_attribute_rows(graph, inputs), Operator(first)), Operator(second))


def _attribute_rows(graph: Graph, nodes: IntArray) -> Operator:
    """Some rows of X, or of the identity where the graph has no attributes."""
    if graph.features is not None:
        return Operator(graph.features[nodes])
    shape = len(nodes), graph.num_nodes
    return Operator(sp.csr_array((np.ones(len(nodes)), nodes, np.arange(len(nodes) + 1)), shape=shape))


def _batches(nodes: IntArray, size: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """Yield batches of nodes without end, each node once before any of them comes again."""
    while True:
        shuffled = rng.permutation(nodes)
        yield from np.array_split(shuffled, -(-len(nodes) // size))

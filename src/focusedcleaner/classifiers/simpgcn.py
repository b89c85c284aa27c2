"""SimPGCN: GCN on the graph and on the kNN graph of the attributes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import dropout, mse_loss

from focusedcleaner.classifiers.base import Affine, NetworkClassifier, TwoLayers
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.engine.sparse import nearest_neighbours, row_products, unit_profiles
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

Operators = tuple[Operator, Operator, Tensor, Tensor]
"""Both propagations, and the pairs of the second task with their cosines."""


class _SimPNetwork(TwoLayers):
    def __init__(self, model: SimPGCN, graph: Graph) -> None:
        super().__init__(model, graph)
        self.first_gate, self.second_gate = Affine(self.columns, 2), Affine(model.hidden, 2)
        """Columns of each: w_s and w_K."""
        for gate in (self.first_gate, self.second_gate):
            torch.nn.init.zeros_(gate.bias)
            torch.nn.init.xavier_uniform_(gate.weight)
        self.task = Affine(model.hidden, 1)
        self._task_loss: Tensor | float = 0.0

    def operators(self, graph: Graph) -> Operators:
        units = unit_profiles(graph)
        pairs, _ = nearest_neighbours(units, self.model.neighbours)
        similar = Graph.from_pairs(graph.num_nodes, pairs)
        chosen = self._task_pairs(pairs, graph.num_nodes)
        values = torch.tensor(row_products(units, units, chosen), dtype=torch.float32)
        return propagation(graph), propagation(similar), torch.tensor(chosen).T, values

    def _task_pairs(self, similar: np.ndarray, num_nodes: int) -> np.ndarray:
        """Return each node's most similar nodes, and as many random ones, nearly all of which are dissimilar."""
        half = max(self.model.task_pairs // 2, 1)
        first = np.concatenate([[True], np.diff(similar[:, 0]) > 0]) if len(similar) else np.empty(0, dtype=bool)
        place = np.arange(len(similar)) - np.maximum.accumulate(np.where(first, np.arange(len(similar)), 0))
        near = similar[place < half]
        drawn = np.random.default_rng(0).integers(0, num_nodes, (num_nodes, half))
        far = np.stack([np.repeat(np.arange(num_nodes), half), drawn.ravel()], axis=1)
        return np.concatenate([near, far[far[:, 0] != far[:, 1]]])

    def forward(self, x: Operator, operators: Operators) -> Tensor:
        _, _, (u, v), cosines = operators
        gate = x(self.first_gate.weight) + self.first_gate.bias
        hidden = self._mix(operators, gate, x(self.first.weight)) + self.first.bias
        hidden = dropout(hidden, self.model.dropout, self.training)
        if self.training:
            self._task_loss = mse_loss(self.task((hidden[u] - hidden[v]).abs()).ravel(), cosines)
        return self._mix(operators, self.second_gate(hidden), hidden @ self.second.weight) + self.second.bias

    def _mix(self, operators: Operators, gate: Tensor, values: Tensor) -> Tensor:
        return mix(operators[0], operators[1], gate, values, self.model.loop_weight)

    def penalty(self) -> Tensor | float:
        return self.model.task_weight * self._task_loss


@dataclass
class SimPGCN(NetworkClassifier):
    """Each node mixes its neighbours with the k nodes of most similar attributes, by a learnt share s:

        P = diag(s)·Â + diag(1 − s)·Â_f + γ·diag(H·w_K + b_K),  s = σ(H·w_s + b_s),
        H₁ = dropout(P·X·W₁ + b₁),  S = P·H₁·W₂ + b₂,

    where Â_f is the normalized kNN graph by cosine (an edge if either node is among the other's k) and H the layer's
    input; each layer has its own w and b. As in the published program, there is no ReLU: with one, the second share
    goes to 0 or 1 by the seed. A second task adds λ·mean (f(|H₁ᵢ − H₁ⱼ|) − cosᵢⱼ)² to the loss, with f linear, over
    each node's most and least similar nodes. If a graph has no attributes, the rows of A + I are compared. Jin,
    Derr, Wang, Ma, Liu, Tang: "Node Similarity Preserving Graph Convolutional Networks", WSDM 2021
    (https://arxiv.org/abs/2011.09643).

    Args:
        neighbours: k.
        loop_weight: γ.
        task_weight: λ.
        task_pairs: pairs per node in the second task, half of them similar and half not.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> SimPGCN().fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name = "simpgcn"
    network = _SimPNetwork
    compares_pairs = True

    hidden: int = bounded(64, "[1, 10000]")
    neighbours: int = bounded(20, "[1, 10000]")
    loop_weight: float = bounded(0.1, "[0, inf)")
    task_weight: float = bounded(5.0, "[0, inf)")
    task_pairs: int = bounded(6, "[1, 1000]")


def mix(graph: Operator, similar: Operator, gate: Tensor, values: Tensor, loop_weight: float) -> Tensor:
    """Return P·V; the columns of the gate are the logits of s and the loops K."""
    share = torch.sigmoid(gate[:, :1])
    return share * graph(values) + (1 - share) * similar(values) + loop_weight * gate[:, 1:] * values

"""SimPGCN: keeps similar nodes similar, by a second graph made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import dropout

from focusedcleaner.classifiers.layers import Affine, attributes_for, num_columns
from focusedcleaner.classifiers.training import Network, NetworkClassifier
from focusedcleaner.engine.operators import Operator, propagation
from focusedcleaner.engine.sparse import nearest_neighbours, row_products, unit_profiles
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


@dataclass(frozen=True)
class Inputs:
    """Both graphs, the attributes, and pairs of nodes whose similarity is to be told."""

    graph: Operator
    similar: Operator
    features: Operator
    pairs: Tensor
    cosines: Tensor


@dataclass
class SimPGCN(NetworkClassifier):
    """Each node mixes, by a share s that it learns, its graph's neighbours with the k nodes of most similar attributes:

        P = diag(s)·Â + diag(1 − s)·Â_f + γ·diag(H·w_K + b_K),  s = σ(H·w_s + b_s),
        H₁ = ReLU(P·X·W₁ + b₁),  S = P·dropout(H₁)·W₂ + b₂,

    where Â_f is the normalized kNN graph by cosine (an edge where either is among the other's k), H the layer's input,
    w and b of each layer its own. A second task is learnt beside: λ·mean (f(H₁ᵢ − H₁ⱼ) − cosᵢⱼ)² with f linear, over
    each node's most and least similar nodes. Where a graph has no attributes, the rows of A + I are compared. Jin,
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

    name: ClassVar[str] = "simpgcn"

    neighbours: int = 20
    loop_weight: float = 0.1
    task_weight: float = 5.0
    task_pairs: int = 6

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.neighbours, self.task_pairs) < 1 or not min(self.loop_weight, self.task_weight) >= 0:
            raise InputError("SimPGCN's neighbours and pairs must be 1 or above, its weights 0 or above")

    def network(self, graph: Graph) -> Network:
        return SimPNetwork(self, num_columns(graph), graph.num_classes)


class SimPNetwork(Network):
    """The two layers, their shares and loops, and the second task's f."""

    def __init__(self, how: SimPGCN, columns: int, classes: int) -> None:
        super().__init__()
        self.how = how
        self.first, self.second = Affine(columns, how.hidden), Affine(how.hidden, classes)
        self.first_gate, self.second_gate = Affine(columns, 2), Affine(how.hidden, 2)
        """Columns of each: w_s and w_K."""
        for gate in (self.first_gate, self.second_gate):
            torch.nn.init.zeros_(gate.bias)
            torch.nn.init.xavier_uniform_(gate.weight)
        self.task = Affine(how.hidden, 1)
        self._task_loss: Tensor | float = 0.0

    def prepare(self, graph: Graph) -> Inputs:
        units = unit_profiles(graph)
        pairs, _ = nearest_neighbours(units, self.how.neighbours)
        similar = Graph.from_pairs(graph.num_nodes, pairs)
        chosen = self._task_pairs(pairs, graph.num_nodes)
        values = torch.tensor(row_products(units, units, chosen), dtype=torch.float32)
        features = attributes_for(graph, self.first)
        return Inputs(propagation(graph), propagation(similar), features, torch.tensor(chosen).T, values)

    def _task_pairs(self, similar: np.ndarray, num_nodes: int) -> np.ndarray:
        """Each node's most similar nodes, and as many drawn at random: nearly all pairs share next to nothing."""
        half = max(self.how.task_pairs // 2, 1)
        first = np.concatenate([[True], np.diff(similar[:, 0]) > 0]) if len(similar) else np.empty(0, dtype=bool)
        place = np.arange(len(similar)) - np.maximum.accumulate(np.where(first, np.arange(len(similar)), 0))
        near = similar[place < half]
        drawn = np.random.default_rng(0).integers(0, num_nodes, (num_nodes, half))
        far = np.stack([np.repeat(np.arange(num_nodes), half), drawn.ravel()], axis=1)
        return np.concatenate([near, far[far[:, 0] != far[:, 1]]])

    def forward(self, inputs: Inputs) -> Tensor:
        gate = inputs.features(self.first_gate.weight) + self.first_gate.bias
        hidden = torch.relu(self._mix(inputs, gate, inputs.features(self.first.weight)) + self.first.bias)
        if self.training:
            self._task_loss = self._second_task(hidden, inputs)
        hidden = dropout(hidden, self.how.dropout, self.training)
        return self._mix(inputs, self.second_gate(hidden), hidden @ self.second.weight) + self.second.bias

    def _mix(self, inputs: Inputs, gate: Tensor, values: Tensor) -> Tensor:
        return mix(inputs.graph, inputs.similar, gate, values, self.how.loop_weight)

    def _second_task(self, hidden: Tensor, inputs: Inputs) -> Tensor:
        told = self.task(hidden[inputs.pairs[0]] - hidden[inputs.pairs[1]]).ravel()
        return torch.nn.functional.mse_loss(told, inputs.cosines)

    def penalty(self) -> Tensor | float:
        return self.how.task_weight * self._task_loss


def mix(graph: Operator, similar: Operator, gate: Tensor, values: Tensor, loop_weight: float) -> Tensor:
    """P·V; the gate's columns are the logits of s and the loops K."""
    share = torch.sigmoid(gate[:, :1])
    return share * graph(values) + (1 - share) * similar(values) + loop_weight * gate[:, 1:] * values

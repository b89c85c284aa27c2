"""The GCN that PRBCD and GRBCD attack, in two forms: on a merged list of edges, and for large graphs on blocks of rows.

PyG merges the block of pairs with all edges, by sorting both, several times at every step. On a large graph the pairs
of the block are a second, small graph instead: with w its weights, negative at edges that exist,

    A'·H = A·H + W·H,  d' = d + W·1,  ∂L/∂w_uv = g_u·h_v + g_v·h_u  where g = ∂L/∂(W·H),

and each product is one of the `Structure` of either graph.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout

from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.engine.operators import attributes
from focusedcleaner.graph import Graph

EPOCHS, RATE, DECAY, DROPPED = 200, 0.01, 5e-4, 0.5
"""Training of the victim."""


class Victim(nn.Module):
    """A two-layer GCN with edge weights, which holds the attributes as a sparse matrix."""

    def __init__(self, graph: Graph, hidden: int) -> None:
        super().__init__()
        columns = graph.num_nodes if graph.features is None else int(graph.features.shape[1])
        self.num_nodes = graph.num_nodes
        self.first = nn.Parameter(nn.init.xavier_uniform_(torch.empty(columns, hidden)))
        self.second = nn.Linear(hidden, graph.num_classes)
        self._hold(graph)

    def _hold(self, graph: Graph) -> None:
        self.attributes = Attributes(graph, dtype=torch.float32)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the logits, N × C; ``x`` is not used."""
        from torch_geometric.nn.conv.gcn_conv import gcn_norm  # takes seconds to import

        ends, weights = gcn_norm(edge_index, edge_weight, self.num_nodes, dtype=torch.float32)

        def propagate(values: Tensor) -> Tensor:
            return torch.zeros_like(values).index_add(0, ends[1], weights.unsqueeze(1) * values[ends[0]])

        hidden = torch.relu(propagate(self.attributes.times(self.first)))
        return propagate(self.second(dropout(hidden, DROPPED, self.training)))

    def fit(self, graph: Graph, edges: Tensor) -> Tensor:
        """Train, and return the classes to attack: labels of training nodes, predictions for the others."""
        assert graph.split is not None
        assert graph.labels is not None
        train, labels = torch.from_numpy(graph.split.train.copy()), torch.from_numpy(graph.labels.copy())
        optimizer = torch.optim.Adam(self.parameters(), lr=RATE, weight_decay=DECAY)
        unused = torch.zeros(graph.num_nodes, 1)
        for _ in range(EPOCHS):
            optimizer.zero_grad()
            cross_entropy(self(unused, edges)[train], labels[train]).backward()
            optimizer.step()
        self.eval().requires_grad_(False)
        predicted: Tensor = self(unused, edges).argmax(1)
        predicted[train] = labels[train]
        return predicted


class BlockVictim(Victim):
    """The same GCN on a large graph; of a perturbed graph it takes the pairs of the block and their weights."""

    def _hold(self, graph: Graph) -> None:
        self.inputs = attributes(graph)
        self.graph = graph
        self.structure = Structure(graph, dtype=torch.float32)
        self._pairs: tuple[Tensor, Structure, Tensor] | None = None
        self._projected: Tensor | None = None

    def flip(self, graph: Graph) -> None:
        """Go on with a graph in which pairs were flipped."""
        self.graph, self._pairs = graph, None
        self.structure = Structure(graph, dtype=torch.float32)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        """Return the logits, N × C; with weights, ``edge_index`` are the pairs of the block, sorted."""
        one = torch.ones(self.num_nodes, 1)
        if edge_weight is None:
            product: Any = _CleanProduct.apply
            parts: tuple[Any, ...] = (self.structure,)
        else:
            block, sign = self._block(edge_index)
            product, parts = _PerturbedProduct.apply, (sign * edge_weight, self.structure, block)
        scale = (product(one, *parts) + 1).rsqrt()

        def propagate(values: Tensor) -> Tensor:
            scaled = scale * values
            return scale * (product(scaled, *parts) + scaled)

        hidden = torch.relu(propagate(self._inputs_times_weights()))
        return propagate(self.second(dropout(hidden, DROPPED, self.training)))

    def _inputs_times_weights(self) -> Tensor:
        if self.training:
            return self.inputs(self.first)
        if self._projected is None:  # once: the weights are fixed during the attack
            self._projected = self.inputs(self.first)
        return self._projected

    def _block(self, pairs: Tensor) -> tuple[Structure, Tensor]:
        """The pairs as a graph, and −1 at those that are edges, 1 at the others; the last block is kept."""
        if self._pairs is None or self._pairs[0] is not pairs:
            block = Graph(self.num_nodes, pairs.T.numpy())
            sign = 1.0 - 2.0 * torch.from_numpy(self.graph.has_edges(block.edges)).float()
            self._pairs = pairs, Structure(block, dtype=torch.float32), sign
        return self._pairs[1:]


class _CleanProduct(torch.autograd.Function):
    """A·H."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, structure: Structure) -> Tensor:
        ctx.structure = structure
        return structure.neighbour_sum(values)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.structure.neighbour_sum(gradients[0].contiguous()), None


class _PerturbedProduct(torch.autograd.Function):
    """A·H + W·H, with gradients for H and for the weights of W."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weights: Tensor, structure: Structure, block: Structure) -> Tensor:
        ctx.save_for_backward(values)
        ctx.parts = structure, block, EdgeWeights(weights)
        return structure.neighbour_sum(values) + block.neighbour_sum(values, ctx.parts[2])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        (values,), (structure, block, weights) = ctx.saved_tensors, ctx.parts
        gradient = gradients[0].contiguous()
        to_values = to_weights = None
        if ctx.needs_input_grad[0]:
            to_values = structure.neighbour_sum(gradient) + block.neighbour_sum(gradient, weights)
        if ctx.needs_input_grad[1]:
            to_weights = block.at_edges(gradient, values)
        return to_values, to_weights, None, None

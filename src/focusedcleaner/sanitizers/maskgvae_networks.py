"""The two networks of Mask-GVAE: a partition by min-cut, and an autoencoder of edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.engine.operators import Operator, attributes, propagation
from focusedcleaner.graph import Graph, IntArray


class Surroundings:
    """What both networks need of a graph with some of its edges (E × 2)."""

    def __init__(self, graph: Graph, edges: IntArray) -> None:
        self.num_nodes = graph.num_nodes
        self.ends = torch.tensor(edges.T)
        self.attributes = attributes(graph)
        self.propagate = propagation(Graph(graph.num_nodes, edges))
        similar = np.ones(len(edges)) if graph.attributes is None else np.maximum(attribute_cosines(graph, edges), 0.0)
        both_ways = np.concatenate([edges, edges[:, ::-1]]).T
        shape = graph.num_nodes, graph.num_nodes
        weighted = sp.coo_array((np.concatenate([similar, similar]), tuple(both_ways)), shape=shape).tocsr()
        self.weighted = Operator(weighted, symmetric=True)
        """A′."""
        self.strengths = torch.tensor(weighted.sum(axis=1), dtype=torch.float32).unsqueeze(1)
        """The row sums of A′, N × 1."""


class Encoder(nn.Module):
    """Â·ReLU(Â·X·W₁)·W₂, N × outputs."""

    def __init__(self, around: Surroundings, hidden: int, outputs: int) -> None:
        super().__init__()
        self.around = around
        self.first = nn.Linear(around.attributes.shape[1], hidden, bias=False)
        self.second = nn.Linear(hidden, outputs, bias=False)

    def forward(self) -> Tensor:
        images = self.around.attributes(self.first.weight.T.contiguous())
        hidden = torch.relu(self.around.propagate(images))
        return self.around.propagate(self.second(hidden))


class Partition(nn.Module):
    """C = softmax(MLP(GCN(A, X))), trained by the relaxed normalized min-cut.

    Args:
        around: the graph.
        clusters: K.
        hidden: width of the hidden layers.
        orthogonality: the weight r of ‖(K/N)·CᵀC − I‖².
    """

    def __init__(self, around: Surroundings, clusters: int, hidden: int, orthogonality: float) -> None:
        super().__init__()
        self.around, self.clusters, self.orthogonality = around, clusters, orthogonality
        self.encoder = Encoder(around, hidden, hidden)
        self.head = nn.Linear(hidden, clusters)

    def forward(self) -> Tensor:
        return torch.softmax(self.head(torch.relu(self.encoder())), 1)

    def loss(self, shares: Tensor) -> Tensor:
        """−(1/K)·Σ_k (CᵀA′C)_kk / (CᵀD′C)_kk + r·‖(K/N)·CᵀC − I‖² for C, N × K."""
        inside = (shares * self.around.weighted(shares)).sum(0)
        whole = (shares * self.around.strengths * shares).sum(0)
        sizes = shares.T @ shares * (self.clusters / self.around.num_nodes)
        spread = (sizes - torch.eye(self.clusters)).square().sum()
        return -(inside / whole.clamp_min(1e-12)).mean() + self.orthogonality * spread

    def learn(self, epochs: int, rate: float) -> Tensor:
        """Train; the cluster of every node."""
        optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        for _ in range(epochs):
            optimizer.zero_grad()
            self.loss(self()).backward()
            optimizer.step()
        with torch.no_grad():
            clusters: Tensor = self().argmax(1)
        return clusters


class Autoencoder(nn.Module):
    """p = σ(w·(z_u ∘ z_v) + b), z ~ N(μ, σ²), trained to tell the edges within clusters from the others.

    Args:
        around: the graph.
        within: for each edge whether its ends are in one cluster.
        hidden: width of the hidden layer.
        latent: width of z.
    """

    def __init__(self, around: Surroundings, within: Tensor, hidden: int, latent: int) -> None:
        super().__init__()
        self.around, self.within, self.latent = around, within, latent
        self.encoder = Encoder(around, hidden, 2 * latent)
        self.decoder = nn.Linear(latent, 1)
        sides = torch.stack([within.sum(), (~within).sum()]).float().clamp_min(1)
        self.weights = torch.where(within, 0.5 / sides[0], 0.5 / sides[1])

    def logits(self, latent: Tensor) -> Tensor:
        u, v = self.around.ends
        return self.decoder(latent[u] * latent[v]).squeeze(1)

    def loss(self) -> Tensor:
        """The balanced cross-entropy of the edges and the divergence of z from N(0, 1), a mean over nodes."""
        mean, log_scale = self.encoder().split(self.latent, 1)
        latent = mean + torch.randn_like(mean) * log_scale.exp()
        target = self.within.float()
        fit = binary_cross_entropy_with_logits(self.logits(latent), target, self.weights, reduction="sum")
        divergence = 0.5 * (mean.square() + (2 * log_scale).exp() - 1 - 2 * log_scale).sum(1).mean()
        return fit + divergence / self.around.num_nodes

    def learn(self, epochs: int, rate: float) -> Tensor:
        """Train; how likely each edge is at the mean of z."""
        optimizer = torch.optim.Adam(self.parameters(), lr=rate)
        for _ in range(epochs):
            optimizer.zero_grad()
            self.loss().backward()
            optimizer.step()
        with torch.no_grad():
            mean = self.encoder()[:, : self.latent]
            return torch.sigmoid(self.logits(mean))

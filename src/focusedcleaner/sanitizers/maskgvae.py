"""Mask-GVAE: removes edges between learned clusters that a graph autoencoder finds unlikely."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from focusedcleaner.edge_features.class_agreement import attribute_cosines
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.engine.operators import Operator, attributes, propagation
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers.iterative import Cleaning, IterativeSanitizer, Journal, round_seed
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class MaskGVAE(IterativeSanitizer):
    """Removes edges between clusters, those first to which an autoencoder assigns the lowest probability:

        min_C −(1/K)·Σ_k (CᵀA′C)_kk / (CᵀD′C)_kk + r·‖(K/N)·CᵀC − I‖²,  C = softmax(MLP(GCN(A, X))),
        A′_uv = A_uv·cos(x_u, x_v),  D′ its row sums,
        p_uv = σ(w·(z_u ∘ z_v)),  z ~ N(GCN_μ(A, X), GCN_σ(A, X)²),  score(u, v) = [c_u ≠ c_v] + 1 − p_uv.

    The autoencoder is trained to tell edges within a cluster (1) from edges between clusters (0), both classes with
    weight ½, plus the usual KL divergence from N(0, 1). Both networks are retrained every round. Labels are not used;
    without attributes X is the identity and A′ = A.

    Li, Liu, Zhang, Wang, Wen, Pan, Cheng: "Mask-GVAE: Blind Denoising Graphs via Partition", WWW 2021
    (https://arxiv.org/abs/2102.04228), with the partition of Bianchi, Grattarola, Alippi, ICML 2020.

    Args:
        rounds: the number of rounds in which the budget is spent.
        clusters: K; None for the number of classes.
        orthogonality: r.
        hidden: width of all hidden layers.
        latent: width of z.
        rate: Adam's learning rate.
        partition_epochs: epochs of the partition's training in each round.
        autoencoder_epochs: epochs of the autoencoder's training in each round.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = MaskGVAE(partition_epochs=20, autoencoder_epochs=20).sanitize(synthetic(num_nodes=200, seed=0), 20)
    >>> len(sanitation.removed), "link_probability" in sanitation.evidence
    (20, True)
    """

    name: ClassVar[str] = "maskgvae"

    rounds: int = bounded(2, "[1, 1000]")
    clusters: int | None = bounded(None, "[2, 10000]")
    orthogonality: float = bounded(0.3, "[0, inf)")
    hidden: int = bounded(64, "[1, 10000]")
    latent: int = bounded(16, "[1, 10000]")
    rate: float = bounded(1e-2, "(0, inf)")
    partition_epochs: int = bounded(100, "[1, 100000]")
    autoencoder_epochs: int = bounded(20, "[1, 100000]")

    def per_round(self, budget: int) -> int:
        return math.ceil(budget / self.rounds)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, budget, seed)


class _Cleaning(Cleaning):
    """The rounds of `MaskGVAE`."""

    def __init__(self, cleaner: MaskGVAE, graph: Graph, budget: int, seed: int) -> None:
        super().__init__(cleaner, graph, budget, seed)
        self.remaining = np.ones(graph.num_edges, dtype=bool)

    def replay(self, journal: Journal) -> None:
        self.remaining[list(journal.removed)] = False

    def round(self, journal: Journal, size: int) -> Journal:
        numbers = np.flatnonzero(self.remaining)
        edges = self.graph.edges[numbers]
        clusters, probability = self._clusters_and_probabilities(edges, round_seed(self.seed, journal.rounds))
        crosses = clusters[edges[:, 0]] != clusters[edges[:, 1]]
        scores = crosses + 1.0 - probability
        degrees = np.bincount(edges.ravel(), minlength=self.graph.num_nodes)
        chosen = without_isolating(np.argsort(-scores, kind="stable"), edges, degrees, size)
        self.remaining[numbers[chosen]] = False
        evidence = {
            "link_probability": probability[chosen].tolist(),
            "cluster_u": clusters[edges[chosen, 0]].tolist(),
            "cluster_v": clusters[edges[chosen, 1]].tolist(),
        }
        trace = {"crossing": int(crosses.sum()), "clusters": len(np.unique(clusters))}
        return journal.plus(numbers[chosen].tolist(), scores[chosen].tolist(), evidence, trace, {})

    def _clusters_and_probabilities(self, edges: IntArray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Train both networks; return the cluster of every node and the probability of every edge."""
        settings = self.cleaner
        inputs = NetworkInputs(self.graph, edges)
        num_clusters = settings.clusters or max(self.graph.num_classes, 2)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            partition = Partition(inputs, num_clusters, settings.hidden, settings.orthogonality)
            clusters = partition.train_clusters(settings.partition_epochs, settings.rate)
            within = clusters[inputs.ends[0]] == clusters[inputs.ends[1]]
            autoencoder = Autoencoder(inputs, within, settings.hidden, settings.latent)
            probability = autoencoder.train_probabilities(settings.autoencoder_epochs, settings.rate)
        return clusters.numpy(), probability.double().numpy()


class NetworkInputs:
    """The inputs of both networks, for a graph with some of its edges (E × 2)."""

    def __init__(self, graph: Graph, edges: IntArray) -> None:
        self.num_nodes = graph.num_nodes
        self.ends = torch.tensor(edges.T)
        self.attributes = attributes(graph)
        self.propagate = propagation(Graph(graph.num_nodes, edges))
        similar = np.ones(len(edges)) if graph.features is None else np.maximum(attribute_cosines(graph, edges), 0.0)
        both_ways = np.concatenate([edges, edges[:, ::-1]]).T
        shape = graph.num_nodes, graph.num_nodes
        weighted = sp.coo_array((np.concatenate([similar, similar]), tuple(both_ways)), shape=shape).tocsr()
        self.weighted = Operator(weighted, symmetric=True)
        """A′."""
        self.strengths = torch.tensor(weighted.sum(axis=1), dtype=torch.float32).unsqueeze(1)
        """The row sums of A′, N × 1."""


class Encoder(nn.Module):
    """Â·ReLU(Â·X·W₁)·W₂, N × outputs."""

    def __init__(self, inputs: NetworkInputs, hidden: int, outputs: int) -> None:
        super().__init__()
        self.inputs = inputs
        self.first = nn.Linear(inputs.attributes.shape[1], hidden, bias=False)
        self.second = nn.Linear(hidden, outputs, bias=False)

    def forward(self) -> Tensor:
        xw = self.inputs.attributes(self.first.weight.T.contiguous())
        hidden = torch.relu(self.inputs.propagate(xw))
        return self.inputs.propagate(self.second(hidden))


class Partition(nn.Module):
    """C = softmax(MLP(GCN(A, X))), trained with the relaxed normalized min-cut loss of `MaskGVAE`."""

    def __init__(self, inputs: NetworkInputs, clusters: int, hidden: int, orthogonality: float) -> None:
        super().__init__()
        self.inputs, self.clusters, self.orthogonality = inputs, clusters, orthogonality
        self.encoder = Encoder(inputs, hidden, hidden)
        self.head = nn.Linear(hidden, clusters)

    def forward(self) -> Tensor:
        return torch.softmax(self.head(torch.relu(self.encoder())), 1)

    def loss(self, assignment: Tensor) -> Tensor:
        """Return −(1/K)·Σ_k (CᵀA′C)_kk / (CᵀD′C)_kk + r·‖(K/N)·CᵀC − I‖² for C, N × K."""
        within = (assignment * self.inputs.weighted(assignment)).sum(0)
        volume = (assignment * self.inputs.strengths * assignment).sum(0)
        gram = assignment.T @ assignment * (self.clusters / self.inputs.num_nodes)
        penalty = (gram - torch.eye(self.clusters)).square().sum()
        return -(within / volume.clamp_min(1e-12)).mean() + self.orthogonality * penalty

    def train_clusters(self, epochs: int, rate: float) -> Tensor:
        """Train, then return the cluster of every node."""
        _train(self, lambda: self.loss(self()), epochs, rate)
        with torch.no_grad():
            clusters: Tensor = self().argmax(1)
        return clusters


class Autoencoder(nn.Module):
    """p = σ(w·(z_u ∘ z_v) + b), z ~ N(μ, σ²), trained to tell edges ``within`` clusters from edges between them."""

    def __init__(self, inputs: NetworkInputs, within: Tensor, hidden: int, latent: int) -> None:
        super().__init__()
        self.inputs, self.within, self.latent = inputs, within, latent
        self.encoder = Encoder(inputs, hidden, 2 * latent)
        self.decoder = nn.Linear(latent, 1)
        counts = torch.stack([within.sum(), (~within).sum()]).float().clamp_min(1)
        self.weights = torch.where(within, 0.5 / counts[0], 0.5 / counts[1])

    def logits(self, latent: Tensor) -> Tensor:
        u, v = self.inputs.ends
        return self.decoder(latent[u] * latent[v]).squeeze(1)

    def loss(self) -> Tensor:
        """Return the balanced cross-entropy of the edges plus KL(z ‖ N(0, 1)), averaged over nodes, divided by N."""
        mean, log_scale = self.encoder().split(self.latent, 1)
        latent = mean + torch.randn_like(mean) * log_scale.exp()
        target = self.within.float()
        cross_entropy = binary_cross_entropy_with_logits(self.logits(latent), target, self.weights, reduction="sum")
        divergence = 0.5 * (mean.square() + (2 * log_scale).exp() - 1 - 2 * log_scale).sum(1).mean()
        return cross_entropy + divergence / self.inputs.num_nodes

    def train_probabilities(self, epochs: int, rate: float) -> Tensor:
        """Train, then return the probability of every edge at the mean of z."""
        _train(self, self.loss, epochs, rate)
        with torch.no_grad():
            mean = self.encoder()[:, : self.latent]
            return torch.sigmoid(self.logits(mean))


def _train(network: nn.Module, loss: Callable[[], Tensor], epochs: int, rate: float) -> None:
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    for _ in range(epochs):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

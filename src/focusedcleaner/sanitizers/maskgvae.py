"""Mask-GVAE: edges that cross a learnt partition and that a graph autoencoder finds unlikely."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.iterative import IterativeSanitizer, round_seed
from focusedcleaner.sanitizers.journal import Journal, Round
from focusedcleaner.sanitizers.maskgvae_networks import Autoencoder, Partition, Surroundings


@dataclass(frozen=True)
class MaskGVAE(IterativeSanitizer):
    """Removes edges between clusters, those first that an autoencoder supervised by the clusters finds least likely:

        min_C −(1/K)·Σ_k (CᵀA′C)_kk / (CᵀD′C)_kk + r·‖(K/N)·CᵀC − I‖²,  C = softmax(MLP(GCN(A, X))),
        A′_uv = A_uv·cos(x_u, x_v),  D′ its row sums,
        p_uv = σ(w·(z_u ∘ z_v)),  z ~ N(GCN_μ(A, X), GCN_σ(A, X)²),  score(u, v) = [c_u ≠ c_v] + 1 − p_uv.

    The autoencoder learns to tell edges within a cluster (1) from edges between clusters (0), each side weighing one
    half, with the usual divergence from N(0, 1). Both are trained again after a part of the budget is spent. Labels are
    not used; without attributes X is the identity and A′ = A.

    Li, Liu, Zhang, Wang, Wen, Pan, Cheng: "Mask-GVAE: Blind Denoising Graphs via Partition", WWW 2021
    (https://arxiv.org/abs/2102.04228), with the partition of Bianchi, Grattarola, Alippi, ICML 2020.

    Args:
        rounds: in how many parts the budget is spent.
        clusters: K; None for as many as there are classes.
        orthogonality: r.
        hidden: width of all hidden layers.
        latent: width of z.
        rate: Adam's.
        partition_epochs: steps of the partition's training in each round.
        autoencoder_epochs: steps of the autoencoder's.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = MaskGVAE(partition_epochs=20, autoencoder_epochs=20).sanitize(synthetic(num_nodes=200, seed=0), 20)
    >>> len(sanitation.removed), "link_probability" in sanitation.evidence
    (20, True)
    """

    name: ClassVar[str] = "maskgvae"

    rounds: int = 2
    clusters: int | None = None
    orthogonality: float = 0.3
    hidden: int = 64
    latent: int = 16
    rate: float = 1e-2
    partition_epochs: int = 100
    autoencoder_epochs: int = 20

    def __post_init__(self) -> None:
        sizes = self.rounds, self.hidden, self.latent, self.partition_epochs, self.autoencoder_epochs
        if min(sizes) < 1 or not (self.rate > 0 and self.orthogonality >= 0):
            raise InputError(
                "Mask-GVAE's rounds, widths, epochs and rate must be positive, its orthogonality 0 or above"
            )
        if self.clusters is not None and self.clusters < 2:
            raise InputError(f"clusters must be 2 or above, not {self.clusters}")

    def per_round(self, budget: int) -> int:
        return math.ceil(budget / self.rounds)

    def begin(self, graph: Graph, budget: int, seed: int) -> _Cleaning:
        return _Cleaning(self, graph, seed)


class _Cleaning:
    """One sanitation under way: which edges are still there."""

    def __init__(self, cleaner: MaskGVAE, graph: Graph, seed: int) -> None:
        self.cleaner, self.graph, self.seed = cleaner, graph, seed
        self.there = np.ones(graph.num_edges, dtype=bool)

    def repeat(self, journal: Journal) -> None:
        self.there[list(journal.removed)] = False

    def round(self, journal: Journal, size: int) -> Round:
        numbers = np.flatnonzero(self.there)
        edges = self.graph.edges[numbers]
        clusters, probability = self._judge(edges, round_seed(self.seed, journal.rounds))
        crosses = clusters[edges[:, 0]] != clusters[edges[:, 1]]
        scores = crosses + 1.0 - probability
        degrees = np.bincount(edges.ravel(), minlength=self.graph.num_nodes)
        places = without_isolating(np.argsort(-scores, kind="stable"), edges, degrees, size)
        self.there[numbers[places]] = False
        evidence = {
            "link_probability": probability[places].tolist(),
            "cluster_u": clusters[edges[places, 0]].tolist(),
            "cluster_v": clusters[edges[places, 1]].tolist(),
        }
        trace = {"crossing": int(crosses.sum()), "clusters": len(np.unique(clusters))}
        return Round(numbers[places].tolist(), scores[places].tolist(), evidence, trace, {})

    def _judge(self, edges: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """The cluster of every node, and how likely each edge is."""
        how = self.cleaner
        around = Surroundings(self.graph, edges)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            partition = Partition(around, how.clusters or max(self.graph.num_classes, 2), how.hidden, how.orthogonality)
            clusters = partition.learn(how.partition_epochs, how.rate)
            within: Tensor = clusters[around.ends[0]] == clusters[around.ends[1]]
            autoencoder = Autoencoder(around, within, how.hidden, how.latent)
            probability = autoencoder.learn(how.autoencoder_epochs, how.rate)
        return clusters.numpy(), probability.double().numpy()

"""Pro-GNN: learns a dense graph structure in turns with a GCN on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.classifiers.base import SINGLE, NetworkClassifier, TwoLayers, known_nodes
from focusedcleaner.engine.operators import Operator
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.settings import bounded

_MOMENTUM = 0.9
_TINY = 1e-3
"""Added to row sums in the smoothness, as in the published program."""


class _ProNetwork(TwoLayers):
    structure: Tensor
    """S, N × N, symmetric."""

    def __init__(self, model: ProGNN, graph: Graph) -> None:
        super().__init__(model, graph)
        self.fitted = graph
        self.given = torch.tensor(graph.adjacency().toarray(), dtype=torch.float32)
        self.register_buffer("structure", self.given.clone())
        self._likeness = likeness(graph) if model.smoothness else None
        self._velocity = torch.zeros_like(self.given)
        self._steps, self._labelled = 0, len(known_nodes(graph)[0])

    def operators(self, graph: Graph) -> None:
        if graph.num_nodes != self.fitted.num_nodes or not np.array_equal(graph.edge_keys, self.fitted.edge_keys):
            raise InputError("prognn learns the structure of one graph and predicts on no other: fit it on this one")

    def forward(self, x: Operator, operators: None) -> Tensor:
        return self._scores(x, self.structure)

    def _scores(self, x: Operator, structure: Tensor) -> Tensor:
        scale = (structure.sum(dim=1) + 1).rsqrt().unsqueeze(1)

        def propagate(values: Tensor) -> Tensor:
            scaled = scale * values
            return scale * (structure @ scaled + scaled)

        return super().forward(x, propagate)

    def learn_structure(self, x: Operator, operators: None, loss: Callable[[Tensor], Tensor]) -> None:
        period = self.model.weight_steps * self.model.interval
        self._steps += 1
        if self._steps % period == 1 % period:
            self._step(self._gradient(x, loss))

    def _gradient(self, x: Operator, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """Return the symmetric gradient of ‖S − A‖_F + γ·CE + λ·tr(XᵀL̂X)."""
        structure = self.structure.clone().requires_grad_()
        smooth = 0.0 if self._likeness is None else smoothness(structure, self._likeness)
        supervised = self.model.supervision * loss(self._scores(x, structure)) / self._labelled
        objective = supervised + self.model.smoothness * smooth
        (gradient,) = torch.autograd.grad(objective, structure)
        difference = self.structure - self.given
        return (gradient + gradient.T) / 2 + difference / difference.norm().clamp(min=1e-12)

    def _step(self, gradient: Tensor) -> None:
        """Descend with momentum, then apply the proximal operators and clip to 0 … 1."""
        model, rate = self.model, self.model.structure_rate * self.model.interval
        self._velocity = _MOMENTUM * self._velocity + gradient
        low_rank = shrink_spectrum(self.structure - rate * self._velocity, rate * model.nuclear)
        self.structure = shrink(low_rank, rate * model.sparsity).clamp(0, 1)


@dataclass
class ProGNN(NetworkClassifier):
    """GCN on a dense symmetric structure S that starts at A and minimizes, in turns with the weights,

        ‖S − A‖_F + α·‖S‖₁ + β·‖S‖_* + γ·CE + λ·tr(XᵀL̂X),  0 ≤ S ≤ 1,  L̂ = D^-½ (D − S) D^-½:

        V ← 0.9·V + ∂(‖S − A‖_F + γ·CE + λ·tr(XᵀL̂X))/∂S,
        S ← [shrink(prox(S − r·V))]₀¹,  prox: σ ↦ sign(σ)·max(|σ| − r·β, 0) of all eigenvalues,
        shrink: s ↦ sign(s)·max(|s| − r·α, 0) of all entries,

    and two steps of the weights on Â = D^-½ (S + I) D^-½ after each step of S. Of all pairs of S and weights the best
    validated is kept. Jin, Ma, Liu, Tang, Wang, Tang: "Graph Structure Learning for Robust Graph Neural Networks", KDD
    2020 (https://arxiv.org/abs/2005.10203).

    The eigendecomposition is nearly all of the work. Therefore q steps of S are taken at once, as one step of rate q·r,
    followed by 2q of the weights; q = 1 is the published schedule. S belongs to the fitted graph: the model predicts
    on no other.

    Args:
        sparsity: α.
        nuclear: β.
        supervision: γ.
        smoothness: λ; 0 for a graph without attributes.
        structure_rate: r.
        weight_steps: steps of the weights per step of S.
        interval: q.

    >>> from focusedcleaner.datasets import synthetic
    >>> graph = synthetic(num_nodes=200, homophily=0.9, seed=0)
    >>> ProGNN(rate=0.01, epochs=200).fit(graph, seed=0).accuracy(graph) > 0.6
    True
    """

    name = "prognn"
    network = _ProNetwork
    compares_pairs = True

    rate: float = bounded(1e-3, "(0, inf)")
    epochs: int = bounded(800, "[1, 100000]")
    patience: int = bounded(800, "[1, inf)")
    sparsity: float = bounded(5e-4, "[0, inf)")
    nuclear: float = bounded(1.5, "[0, inf)")
    supervision: float = bounded(1.0, "[0, inf)")
    smoothness: float = bounded(1e-3, "[0, inf)")
    structure_rate: float = bounded(0.01, "[0, inf)")
    weight_steps: int = bounded(2, "[1, 1000]")
    interval: int = bounded(40, "[1, 1000]")

    def bytes_held(self, graph: Graph) -> float:
        return 12.0 * SINGLE * graph.num_nodes**2  # S, A, V, XXᵀ, eigenvectors and gradients


def shrink(matrix: Tensor, threshold: float) -> Tensor:
    """Proximal operator of the ℓ₁ norm: move every entry towards 0.

    >>> shrink(torch.tensor([-2.0, 0.5, 3.0]), 1.0)
    tensor([-1.,  0.,  2.])
    """
    return matrix.sign() * (matrix.abs() - threshold).clamp(min=0)


def shrink_spectrum(matrix: Tensor, threshold: float) -> Tensor:
    """Proximal operator of the nuclear norm of a symmetric matrix: move every eigenvalue towards 0."""
    values, vectors = torch.linalg.eigh(matrix)
    kept = values.abs() > threshold
    vectors = vectors[:, kept]
    return (vectors * shrink(values[kept], threshold)) @ vectors.T


def likeness(graph: Graph) -> Tensor | None:
    """Return XXᵀ, N × N; None without attributes."""
    if graph.features is None:
        return None
    return torch.tensor((graph.features @ graph.features.T).toarray(), dtype=torch.float32)


def smoothness(structure: Tensor, products: Tensor) -> Tensor:
    """Return tr(XᵀL̂X) from S and XXᵀ: half of Σ S_uv·‖x_u/√d_u − x_v/√d_v‖²."""
    sums = structure.sum(dim=1)
    scale = (sums + _TINY).rsqrt()
    return (sums * scale.square() * products.diagonal()).sum() - scale @ ((structure * products) @ scale)

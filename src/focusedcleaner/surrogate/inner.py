"""Inner training: W* that minimizes the cross-entropy on the training nodes, and how the outer loss depends on it.

Both trainings answer two questions: what is W*, and, given ∂loss/∂W*, how does the loss depend on the training features
H? The second answer is a list of pairs (E, P), E with a row per training node and P = X·V with a row per node, that
stand for ∂loss/∂H = Σ E·V^T. `metagradient` turns them into edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from focusedcleaner.errors import InputError
from focusedcleaner.surrogate.features import Features, Preconditioner

Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Solution:
    """The end of the inner training."""

    coordinates: Tensor
    weights: Tensor
    path: tuple[Tensor, ...] = ()
    """The coordinates at the start of each unrolled step."""
    preconditioner: Preconditioner | None = None


class InnerTraining(Protocol):
    """How W* comes about."""

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None) -> Solution:
        """Train, from the coordinates ``start`` where the training can use them."""
        ...

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        """The pairs (E, P) for ``outer`` = ∂loss/∂W*, F × C."""
        ...


def _jacobian(softmax: Tensor, direction: Tensor) -> Tensor:
    """J·y of the softmax, row by row: S ∘ (y − S·y)."""
    return softmax * (direction - (softmax * direction).sum(1, keepdim=True))


@dataclass(frozen=True)
class Unrolled:
    """T steps of gradient descent with momentum from W = 0, differentiated step by step.

    v ← μ·v + ∇L(W), W ← W − ρ·v: the authors' setting is T = 100, ρ = 0.1, μ = 0.9.
    """

    steps: int = 100
    rate: float = 0.1
    momentum: float = 0.9

    def __post_init__(self) -> None:
        if self.steps < 1 or self.rate <= 0 or not 0 <= self.momentum < 1:
            raise InputError("unrolled training needs steps ≥ 1, a rate > 0 and a momentum in [0, 1)")

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None) -> Solution:
        a = features.zero(onehot.shape[1])
        velocity, path = torch.zeros_like(a), []
        for _ in range(self.steps):
            path.append(a)
            errors = (torch.softmax(features.logits(a), 1) - onehot) / len(onehot)
            velocity = self.momentum * velocity + features.pull(errors)
            a = a - self.rate * velocity
        return Solution(a, features.weights(a), tuple(path))

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        """Reverse mode. Every adjoint is c·outer + B·β: c a number, β coordinates (c = 0 if outer has some itself)."""
        own = features.coordinates(outer)
        coordinates = features.zero(onehot.shape[1]) if own is None else own
        share = 0.0 if own is not None else 1.0
        outer_logits = features.logits_of_weights(outer) if own is None else torch.zeros_like(onehot)
        along_outer = torch.zeros_like(onehot)
        along_basis = onehot.new_zeros(len(onehot), len(coordinates))
        velocity, velocity_share = torch.zeros_like(coordinates), 0.0
        for a in reversed(solution.path):
            velocity, velocity_share = velocity - self.rate * coordinates, velocity_share - self.rate * share
            softmax = torch.softmax(features.logits(a), 1)
            errors = (softmax - onehot) / len(onehot)
            bent = _jacobian(softmax, velocity_share * outer_logits + features.logits(velocity)) / len(onehot)
            along_outer += velocity_share * errors
            along_basis.addmm_(errors, velocity.T).addmm_(bent, a.T)
            coordinates = coordinates + features.pull(bent)
            velocity, velocity_share = self.momentum * velocity, self.momentum * velocity_share
        pairs = [(along_basis, features.basis_images())]
        if own is None:
            pairs.append((along_outer, features.attributes.times(outer)))
        return pairs


@dataclass(frozen=True)
class Implicit:
    """The optimum of cross-entropy + (ω/2)‖W‖², differentiated by the implicit function theorem.

    (Hessian + ω·I) x = ∂loss/∂W, and ∂loss/∂H = −E₁·x^T − E₂·W^T with E₁ = (S − Y)/n and E₂ = J_softmax(H·x)/n.
    Newton's method with conjugate gradients finds W, from the previous step's W where there is one.
    """

    weight_decay: float = 5e-3
    tolerance: float = 1e-7

    def __post_init__(self) -> None:
        if self.weight_decay <= 0 or self.tolerance <= 0:
            raise InputError("implicit training needs a weight decay > 0 and a tolerance > 0")

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None) -> Solution:
        a = features.zero(onehot.shape[1]) if start is None else start
        logits = features.logits(a)
        value = self._objective(features, a, logits, onehot)
        softmax = torch.softmax(logits, 1)
        preconditioner = self._preconditioner(features, softmax)
        for iteration in range(100):
            if start is None and 0 < iteration < 4:  # far from the optimum curvatures change quickly
                preconditioner = self._preconditioner(features, softmax)
            gradient = self.weight_decay * a + features.pull((softmax - onehot) / len(onehot))
            slope = features.dot(gradient, gradient, features.logits(gradient))
            if slope.sqrt() <= self.tolerance:
                break
            step, step_logits = self._solve(features, softmax, -gradient, preconditioner, 1e-3)
            size = 1.0
            while size > 1e-6:  # halve until the objective falls; near the optimum the full step is taken
                tried = a + size * step, logits + size * step_logits
                lower = self._objective(features, *tried, onehot)
                if lower <= value + 1e-12 * abs(value):
                    break
                size /= 2
            (a, logits), value = tried, lower
            softmax = torch.softmax(logits, 1)
        return Solution(a, features.weights(a), preconditioner=preconditioner)

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        softmax = torch.softmax(features.logits(solution.coordinates), 1)
        precondition = solution.preconditioner or self._preconditioner(features, softmax)
        own = features.coordinates(outer)
        if own is None:
            # x = (outer − H^T·z)/ω, where z = E₂ solves (ω + J·K/n) z = J(H·outer)/n: coordinates suffice.
            outer_logits = features.logits_of_weights(outer)
            right = _jacobian(softmax, outer_logits) / len(onehot)
            _, z_logits = self._solve(features, softmax, right, precondition, self.tolerance)
            bent = _jacobian(softmax, (outer_logits - z_logits) / self.weight_decay) / len(onehot)
            x = (outer - features.weights(bent)) / self.weight_decay
        else:
            x, x_logits = self._solve(features, softmax, own, precondition, self.tolerance)
            bent = _jacobian(softmax, x_logits) / len(onehot)
        errors = (softmax - onehot) / len(onehot)
        images = features.attributes.times
        return [(-errors, images(x)), (-bent, images(solution.weights))]

    def _objective(self, features: Features, a: Tensor, logits: Tensor, onehot: Tensor) -> float:
        cross_entropy = -(torch.log_softmax(logits, 1) * onehot).sum() / len(onehot)
        return float(cross_entropy + 0.5 * self.weight_decay * features.dot(a, a, logits))

    def _preconditioner(self, features: Features, softmax: Tensor) -> Preconditioner:
        """The Hessian with the mean of each node's softmax curvature in place of its Jacobian."""
        curvature = (softmax * (1 - softmax)).mean(1).clamp_min(1e-4) / len(softmax)
        return features.preconditioner(curvature, self.weight_decay)

    def _solve(
        self, features: Features, softmax: Tensor, right: Tensor, precondition: Preconditioner, tolerance: float
    ) -> Pair:
        """x and H·x with (Hessian + ω·I) x = right, by preconditioned conjugate gradients."""
        x, x_logits = torch.zeros_like(right), torch.zeros_like(softmax)
        residual = right
        z, z_logits = precondition(residual)
        direction, direction_logits = z, z_logits
        length = float(features.dot(residual, z, z_logits))
        goal = length * tolerance**2
        for _ in range(10 * right.numel()):
            if length <= goal or length <= 0.0:
                break
            bent = _jacobian(softmax, direction_logits) / len(softmax)
            image = self.weight_decay * direction + features.pull(bent)
            size = length / float(features.dot(image, direction, direction_logits))
            x, x_logits = x + size * direction, x_logits + size * direction_logits
            residual = residual - size * image
            z, z_logits = precondition(residual)
            length, before = float(features.dot(residual, z, z_logits)), length
            direction = z + (length / before) * direction
            direction_logits = z_logits + (length / before) * direction_logits
        return x, x_logits

"""Inner training: W* that minimizes the cross-entropy on the training nodes, and how the outer loss depends on it.

Both trainings answer two questions: what is W*, and, given ∂loss/∂W*, how does the loss depend on the training features
H? The second answer is a list of pairs (E, P), E with a row per training node and P = X·V with a row per node, that
stand for ∂loss/∂H = Σ E·V^T. `metagradient` turns them into edges. Inside, as in `features`, a row stands for a class:
labels, errors and softmax are C × n, weights are coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from focusedcleaner.errors import InputError
from focusedcleaner.surrogate.features import Features, Preconditioner

Pair = tuple[Tensor, Tensor | None]
"""(E, P), n × r and N × r; P is None where it is the surrogate's own X·W*."""


@dataclass(frozen=True)
class Solution:
    """The end of the inner training."""

    coordinates: Tensor
    weights: Tensor
    path: tuple[tuple[Tensor, Tensor], ...] = ()
    """The coordinates at the start of each unrolled step, and the softmax there."""
    preconditioner: Preconditioner | None = None


class InnerTraining(Protocol):
    """How W* comes about."""

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None) -> Solution:
        """Train, from the coordinates ``start`` where the training can use them."""
        ...

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        """The pairs (E, P) for ``outer`` = ∂loss/∂W*, F × C."""
        ...


def softmax_jvp(softmax: Tensor, direction: Tensor) -> Tensor:
    """J·y of the softmax, column by column: S ∘ (y − S·y)."""
    return softmax * (direction - (softmax * direction).sum(0))


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
        a = features.zero(len(onehot))
        velocity, path = torch.zeros_like(a), []
        for _ in range(self.steps):
            softmax = torch.softmax(features.logits(a), 0)
            path.append((a, softmax))
            errors = (softmax - onehot) / onehot.shape[1]
            velocity = self.momentum * velocity + features.pull(errors)
            a = a - self.rate * velocity
        return Solution(a, features.weights(a), tuple(path))

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        """Reverse mode. Every adjoint is c·outer + B·β: c a number, β coordinates (c = 0 if outer has some itself)."""
        own = features.coordinates(outer)
        coordinates = features.zero(len(onehot)) if own is None else own
        share = 0.0 if own is not None else 1.0
        outer_logits = features.logits_of_weights(outer) if own is None else torch.zeros_like(onehot)
        along_outer = torch.zeros_like(onehot)
        along_basis = onehot.new_zeros(onehot.shape[1], coordinates.shape[1])
        velocity, velocity_share = torch.zeros_like(coordinates), 0.0
        for a, softmax in reversed(solution.path):
            velocity, velocity_share = velocity - self.rate * coordinates, velocity_share - self.rate * share
            errors = (softmax - onehot) / onehot.shape[1]
            bent = softmax_jvp(softmax, velocity_share * outer_logits + features.logits(velocity)) / onehot.shape[1]
            along_outer += velocity_share * errors
            along_basis.addmm_(errors.T, velocity).addmm_(bent.T, a)
            coordinates = coordinates + features.pull(bent)
            velocity, velocity_share = self.momentum * velocity, self.momentum * velocity_share
        pairs: list[Pair] = [(along_basis, features.basis_images())]
        if own is None:
            pairs.append((along_outer.T, features.attributes.times(outer)))
        return pairs


@dataclass(frozen=True)
class Implicit:
    """The optimum of cross-entropy + (ω/2)‖W‖², differentiated by the implicit function theorem.

    ω is ``weight_decay`` times the mean of ‖x_i‖², so that scaling all attributes changes nothing.

    (Hessian + ω·I) x = ∂loss/∂W, and ∂loss/∂H = −E₁·x^T − E₂·W^T with E₁ = (S − Y)/n and E₂ = J_softmax(H·x)/n.
    Newton's method with conjugate gradients finds W, from the previous step's W where there is one, until the length of
    the gradient is ``tolerance`` times that at W = 0; x is solved for to the same relative accuracy.
    """

    weight_decay: float = 3e-5
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        if self.weight_decay <= 0 or self.tolerance <= 0:
            raise InputError("implicit training needs a weight decay > 0 and a tolerance > 0")

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None) -> Solution:
        a = features.zero(len(onehot)) if start is None else start
        goal = self.tolerance * self._slope_at_zero(features, onehot)
        logits = features.logits(a)
        value = self._objective(features, a, logits, onehot)
        softmax = torch.softmax(logits, 0)
        preconditioner = self._preconditioner(features, softmax)
        for iteration in range(100):
            if start is None and 0 < iteration < 4:  # far from the optimum curvatures change quickly
                preconditioner = self._preconditioner(features, softmax)
            gradient = self._decay(features) * a + features.pull((softmax - onehot) / onehot.shape[1])
            slope = float(features.dot(gradient, gradient, features.logits(gradient)).clamp_min(0).sqrt())
            if slope <= goal:
                break
            # Solve the step as exactly as the end needs it, but no more than quadratic convergence can use.
            accuracy = min(0.1, max(0.3 * goal / slope, 1e-4))
            step, step_logits = self._solve(features, softmax, -gradient, preconditioner, accuracy)
            size = 1.0
            while size > 1e-6:  # halve until the objective falls; near the optimum the full step is taken
                tried = a + size * step, logits + size * step_logits
                lower = self._objective(features, *tried, onehot)
                if lower <= value + 16 * torch.finfo(logits.dtype).eps * abs(value):
                    break
                size /= 2
            (a, logits), value = tried, lower
            softmax = torch.softmax(logits, 0)
        return Solution(a, features.weights(a), preconditioner=preconditioner)

    def pairs(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Pair]:
        softmax = torch.softmax(features.logits(solution.coordinates), 0)
        precondition = solution.preconditioner or self._preconditioner(features, softmax)
        own, decay = features.coordinates(outer), self._decay(features)
        if own is None:
            # x = (outer − H^T·z)/ω, where z = E₂ solves (ω + J·K/n) z = J(H·outer)/n: coordinates suffice.
            outer_logits = features.logits_of_weights(outer)
            right = softmax_jvp(softmax, outer_logits) / onehot.shape[1]
            _, z_logits = self._solve(features, softmax, right, precondition, self.tolerance)
            bent = softmax_jvp(softmax, (outer_logits - z_logits) / decay) / onehot.shape[1]
            x = (outer - features.weights(bent)) / decay
        else:
            a, a_logits = self._solve(features, softmax, own, precondition, self.tolerance)
            bent = softmax_jvp(softmax, a_logits) / onehot.shape[1]
            x = features.weights(a)
        errors = (softmax - onehot) / onehot.shape[1]
        return [(-errors.T, features.attributes.times(x)), (-bent.T, None)]

    def _slope_at_zero(self, features: Features, onehot: Tensor) -> float:
        """The length of the gradient at W = 0, which the tolerance is measured by."""
        gradient = features.pull((1 / len(onehot) - onehot) / onehot.shape[1])
        return float(features.dot(gradient, gradient, features.logits(gradient)).sqrt())

    def _decay(self, features: Features) -> float:
        return self.weight_decay * features.attributes.mean_square

    def _objective(self, features: Features, a: Tensor, logits: Tensor, onehot: Tensor) -> float:
        cross_entropy = -(torch.log_softmax(logits, 0) * onehot).sum() / onehot.shape[1]
        return float(cross_entropy + 0.5 * self._decay(features) * features.dot(a, a, logits))

    def _preconditioner(self, features: Features, softmax: Tensor) -> Preconditioner:
        """The Hessian with the mean of each node's softmax curvature in place of its Jacobian."""
        curvature = (softmax * (1 - softmax)).mean(0).clamp_min(1e-4) / softmax.shape[1]
        return features.preconditioner(curvature, self._decay(features))

    def _solve(
        self, features: Features, softmax: Tensor, right: Tensor, precondition: Preconditioner, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        """x and H·x with (Hessian + ω·I) x = right, by preconditioned conjugate gradients."""
        decay = self._decay(features)
        x, x_logits, residual = torch.zeros_like(right), torch.zeros_like(softmax), right.clone()
        z, z_logits = precondition(residual)
        direction, direction_logits = z.clone(), z_logits.clone()
        length = float(features.dot(residual, z, z_logits))
        goal = length * tolerance**2
        for _ in range(10 * right.numel()):
            if length <= goal or length <= 0.0:
                break
            bent = softmax_jvp(softmax, direction_logits).div_(softmax.shape[1])
            image = torch.add(features.pull(bent), direction, alpha=decay)
            size = length / float(features.dot(image, direction, direction_logits))
            x.add_(direction, alpha=size)
            x_logits.add_(direction_logits, alpha=size)
            residual.sub_(image, alpha=size)
            z, z_logits = precondition(residual)
            length, before = float(features.dot(residual, z, z_logits)), length
            direction.mul_(length / before).add_(z)
            direction_logits.mul_(length / before).add_(z_logits)
        return x, x_logits

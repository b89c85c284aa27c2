"""Inner training: W* minimizes the cross-entropy on the training nodes (Eq. 6b); the outer loss is differentiated
through it.

`fit` returns W*; it starts from the coordinates ``start``, or from weights drawn with ``seed``, if the training can use
them. `feature_gradient` returns, for ``outer`` = ∂loss/∂W* (F × C), the gradient ∂loss/∂H = Σ E·V^T with respect to the
training features H, as a list of factors (E, P): E has a row per training node, P = X·V a row per node. `metagradient`
turns them into edge gradients. As in `features`, rows stand for classes: labels, errors and softmax are C × n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from focusedcleaner.settings import Configurable, bounded
from focusedcleaner.surrogate.features import Features, Preconditioner

Factors = tuple[Tensor, Tensor | None]
"""(E, P), n × r and N × r; P is None if it is the surrogate's own X·W*."""


@dataclass(frozen=True)
class Solution:
    """The result of the inner training."""

    coordinates: Tensor
    weights: Tensor
    path: tuple[tuple[Tensor, ...], ...] = ()
    """The state at the start of each unrolled step, coordinates first."""
    first: Tensor | None = None
    """The random W₁ (F × hidden) that the coordinates are added to."""
    preconditioner: Preconditioner | None = None


def softmax_jvp(softmax: Tensor, direction: Tensor) -> Tensor:
    """Return the softmax Jacobian times y, column by column: S ∘ (y − S·y)."""
    return softmax * (direction - (softmax * direction).sum(0))


@dataclass(frozen=True)
class Unrolled(Configurable):
    """T steps of gradient descent with momentum from W = 0, differentiated in reverse mode.

    v ← μ·v + ∇L(W), W ← W − ρ·v, with T = 100, ρ = 0.1, μ = 0.9 as in the authors' code.
    """

    steps: int = bounded(100, "[1, 10000]")
    rate: float = bounded(0.1, "(0, inf)")
    momentum: float = bounded(0.9, "[0, 1)")

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None, seed: int = 0) -> Solution:
        a = features.zeros(len(onehot))
        velocity, path = torch.zeros_like(a), []
        for _ in range(self.steps):
            softmax = torch.softmax(features.logits(a), 0)
            path.append((a, softmax))
            errors = (softmax - onehot) / onehot.shape[1]
            velocity = self.momentum * velocity + features.transposed_times(errors)
            a = a - self.rate * velocity
        return Solution(a, features.weights(a), tuple(path))

    def feature_gradient(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Factors]:
        """Every adjoint is c·outer + B·β with a number c and coordinates β (c = 0 if ``outer`` has coordinates)."""
        own = features.coordinates(outer)
        coordinates = features.zeros(len(onehot)) if own is None else own
        share = 0.0 if own is not None else 1.0
        outer_logits = features.logits_of_weights(outer) if own is None else torch.zeros_like(onehot)
        along_outer = torch.zeros_like(onehot)
        along_basis = onehot.new_zeros(onehot.shape[1], coordinates.shape[1])
        velocity, velocity_share = torch.zeros_like(coordinates), 0.0
        for a, softmax in reversed(solution.path):
            velocity, velocity_share = velocity - self.rate * coordinates, velocity_share - self.rate * share
            errors = (softmax - onehot) / onehot.shape[1]
            jvp = softmax_jvp(softmax, velocity_share * outer_logits + features.logits(velocity)) / onehot.shape[1]
            along_outer += velocity_share * errors
            along_basis.addmm_(errors.T, velocity).addmm_(jvp.T, a)
            coordinates = coordinates + features.transposed_times(jvp)
            velocity, velocity_share = self.momentum * velocity, self.momentum * velocity_share
        factors: list[Factors] = [(along_basis, features.attributes_times_basis())]
        if own is None:
            factors.append((along_outer.T, features.attributes.times(outer)))
        return factors


@dataclass(frozen=True)
class TwoLayer(Configurable):
    """`Unrolled` with W = W₁·W₂, r columns between them, from random weights: as the authors' code trains.

    The entries of W₁ (F × r) are drawn from ±1/√r and those of W₂ (r × C) from ±1/√C, uniformly.
    """

    hidden: int = bounded(16, "[1, 10000]")
    steps: int = bounded(100, "[1, 10000]")
    rate: float = bounded(0.1, "(0, inf)")
    momentum: float = bounded(0.9, "[0, 1)")

    def initial(self, num_attributes: int, num_classes: int, seed: int) -> tuple[Tensor, Tensor]:
        """Draw W₁ and W₂."""
        generator = torch.Generator().manual_seed(seed)
        sizes = (num_attributes, self.hidden), (self.hidden, num_classes)
        first, second = (
            (2 * torch.rand(size, generator=generator, dtype=torch.float64) - 1) / math.sqrt(size[1]) for size in sizes
        )
        return first, second

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None, seed: int = 0) -> Solution:
        """W₁ is the drawn matrix plus the weights with coordinates a; the path has (a, (H·W₁)^T, W₂^T)."""
        drawn = self.initial(features.attributes.num_columns, len(onehot), seed)
        first, second = drawn[0].to(onehot.dtype), drawn[1].T.to(onehot.dtype).contiguous()
        drawn_hidden = features.logits_of_weights(first)
        a = features.zeros(self.hidden)
        velocity, velocity2 = torch.zeros_like(a), torch.zeros_like(second)
        path = [(a, drawn_hidden, second)]
        for _ in range(self.steps):
            a, hidden, second = path[-1]
            errors = (torch.softmax(second @ hidden, 0) - onehot) / onehot.shape[1]
            velocity = self.momentum * velocity + features.transposed_times(second.T @ errors)
            velocity2 = self.momentum * velocity2 + errors @ hidden.T
            a, second = a - self.rate * velocity, second - self.rate * velocity2
            path.append((a, drawn_hidden + features.logits(a), second))
        a, _, second = path[-1]
        return Solution(a, (first + features.weights(a)) @ second.T, tuple(path), first=first)

    def feature_gradient(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Factors]:
        """The adjoint of W₁ is c·M + B·β with a number c, M = outer·W₂^T at the end, and coordinates β."""
        first = solution.first
        assert first is not None
        *path, (a, _, second) = solution.path
        end = outer @ second
        end_logits = features.logits_of_weights(end)
        adjoint2 = outer.T @ (first + features.weights(a))
        coordinates = torch.zeros_like(a)
        velocity, share, velocity2 = torch.zeros_like(a), 0.0, torch.zeros_like(adjoint2)
        along_end, along_first = torch.zeros_like(end_logits), torch.zeros_like(end_logits)
        along_basis = onehot.new_zeros(onehot.shape[1], a.shape[1])
        for a, hidden, second in reversed(path):
            velocity, share = velocity - self.rate * coordinates, share - self.rate
            velocity2 = velocity2 - self.rate * adjoint2
            softmax = torch.softmax(second @ hidden, 0)
            errors = (softmax - onehot) / onehot.shape[1]
            hidden_errors = second.T @ errors
            velocity_logits = share * end_logits + features.logits(velocity)
            jvp = softmax_jvp(softmax, second @ velocity_logits + velocity2 @ hidden) / onehot.shape[1]
            to_hidden = velocity2.T @ errors + second.T @ jvp
            along_end += share * hidden_errors
            along_first += to_hidden
            along_basis.addmm_(hidden_errors.T, velocity).addmm_(to_hidden.T, a)
            adjoint2 = adjoint2 + errors @ velocity_logits.T + jvp @ hidden.T
            coordinates = coordinates + features.transposed_times(to_hidden)
            velocity, share = self.momentum * velocity, self.momentum * share
            velocity2 = self.momentum * velocity2
        times = features.attributes.times
        basis = along_basis, features.attributes_times_basis()
        return [basis, (along_first.T, times(first)), (along_end.T, times(end))]


@dataclass(frozen=True)
class Implicit(Configurable):
    """The optimum of cross-entropy + (ω/2)‖W‖², differentiated by the implicit function theorem.

    ω is ``weight_decay`` times the mean of ‖x_i‖², so the trained logits do not depend on the scale of the attributes.

    (Hessian + ω·I) x = ∂loss/∂W, and ∂loss/∂H = −E₁·x^T − E₂·W^T with E₁ = (S − Y)/n and E₂ = J_softmax(H·x)/n.
    Newton's method with conjugate gradients finds W, warm-started if possible, until the norm of the gradient is
    ``tolerance`` times that at W = 0; x is solved to the same relative accuracy.
    """

    weight_decay: float = bounded(3e-5, "(0, inf)")
    tolerance: float = bounded(1e-3, "(0, inf)")

    def fit(self, features: Features, onehot: Tensor, start: Tensor | None, seed: int = 0) -> Solution:
        a = features.zeros(len(onehot)) if start is None else start
        goal = self.tolerance * self._norm_at_zero(features, onehot)
        logits = features.logits(a)
        value = self._objective(features, a, logits, onehot)
        softmax = torch.softmax(logits, 0)
        preconditioner = self._preconditioner(features, softmax)
        for iteration in range(100):
            if start is None and 0 < iteration < 4:  # far from the optimum the curvature changes quickly
                preconditioner = self._preconditioner(features, softmax)
            gradient = self._decay(features) * a + features.transposed_times((softmax - onehot) / onehot.shape[1])
            norm = float(features.dot(gradient, gradient, features.logits(gradient)).clamp_min(0).sqrt())
            if norm <= goal:
                break
            # Solve each step as accurately as the goal needs, but no more than quadratic convergence can use.
            accuracy = min(0.1, max(0.3 * goal / norm, 1e-4))
            step, step_logits = self._solve(features, softmax, -gradient, preconditioner, accuracy)
            size = 1.0
            while size > 1e-6:  # backtracking; near the optimum the full step is taken
                tried = a + size * step, logits + size * step_logits
                lower = self._objective(features, *tried, onehot)
                if lower <= value + 16 * torch.finfo(logits.dtype).eps * abs(value):
                    break
                size /= 2
            (a, logits), value = tried, lower
            softmax = torch.softmax(logits, 0)
        return Solution(a, features.weights(a), preconditioner=preconditioner)

    def feature_gradient(self, features: Features, onehot: Tensor, solution: Solution, outer: Tensor) -> list[Factors]:
        softmax = torch.softmax(features.logits(solution.coordinates), 0)
        precondition = solution.preconditioner or self._preconditioner(features, softmax)
        own, decay = features.coordinates(outer), self._decay(features)
        if own is None:
            # x = (outer − H^T·z)/ω, where z = E₂ solves (ω + J·K/n) z = J(H·outer)/n in coordinates.
            outer_logits = features.logits_of_weights(outer)
            right = softmax_jvp(softmax, outer_logits) / onehot.shape[1]
            _, z_logits = self._solve(features, softmax, right, precondition, self.tolerance)
            jvp = softmax_jvp(softmax, (outer_logits - z_logits) / decay) / onehot.shape[1]
            x = (outer - features.weights(jvp)) / decay
        else:
            a, a_logits = self._solve(features, softmax, own, precondition, self.tolerance)
            jvp = softmax_jvp(softmax, a_logits) / onehot.shape[1]
            x = features.weights(a)
        errors = (softmax - onehot) / onehot.shape[1]
        return [(-errors.T, features.attributes.times(x)), (-jvp.T, None)]

    def _norm_at_zero(self, features: Features, onehot: Tensor) -> float:
        """Return the norm of the gradient at W = 0, the unit of the tolerance."""
        gradient = features.transposed_times((1 / len(onehot) - onehot) / onehot.shape[1])
        return float(features.dot(gradient, gradient, features.logits(gradient)).clamp_min(0).sqrt())

    def _decay(self, features: Features) -> float:
        return self.weight_decay * features.attributes.mean_square

    def _objective(self, features: Features, a: Tensor, logits: Tensor, onehot: Tensor) -> float:
        cross_entropy = -(torch.log_softmax(logits, 0) * onehot).sum() / onehot.shape[1]
        return float(cross_entropy + 0.5 * self._decay(features) * features.dot(a, a, logits))

    def _preconditioner(self, features: Features, softmax: Tensor) -> Preconditioner:
        """Approximate the Hessian by the mean softmax curvature of each node in place of its Jacobian."""
        curvature = (softmax * (1 - softmax)).mean(0).clamp_min(1e-4) / softmax.shape[1]
        return features.preconditioner(curvature, self._decay(features))

    def _solve(
        self, features: Features, softmax: Tensor, right: Tensor, precondition: Preconditioner, tolerance: float
    ) -> tuple[Tensor, Tensor]:
        """Solve (Hessian + ω·I) x = right by preconditioned conjugate gradients; return x and H·x."""
        decay = self._decay(features)
        x, x_logits, residual = torch.zeros_like(right), torch.zeros_like(softmax), right.clone()
        z, z_logits = precondition(residual)
        direction, direction_logits = z.clone(), z_logits.clone()
        length = float(features.dot(residual, z, z_logits))
        goal = length * tolerance**2
        for _ in range(10 * right.numel()):
            if length <= goal or length <= 0.0:
                break
            jvp = softmax_jvp(softmax, direction_logits).div_(softmax.shape[1])
            image = torch.add(features.transposed_times(jvp), direction, alpha=decay)
            curvature = float(features.dot(image, direction, direction_logits))
            if curvature <= 0.0:  # rounding errors are all that is left, as on a clique whose nodes have equal rows
                break
            size = length / curvature
            x.add_(direction, alpha=size)
            x_logits.add_(direction_logits, alpha=size)
            residual.sub_(image, alpha=size)
            z, z_logits = precondition(residual)
            length, before = float(features.dot(residual, z, z_logits)), length
            direction.mul_(length / before).add_(z)
            direction_logits.mul_(length / before).add_(z_logits)
        return x, x_logits


InnerTraining = Implicit | Unrolled | TwoLayer

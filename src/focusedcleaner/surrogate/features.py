"""The training nodes' two-hop features H = (Â²X)_train, as the inner training needs them.

The inner weights W are written in coordinates a. Three forms give the same mathematics; `features_of` picks by size.

| form   | W is    | logits H·W      | H^T·E is   | holds             |
| ------ | ------- | --------------- | ---------- | ----------------- |
| dual   | H^T·a   | K·a, K = H·H^T  | E itself   | n × n and n × F   |
| primal | a       | H·a             | H^T·E      | n × F             |
| sparse | a       | (Â(Â(X·a)))_train | X^T·Â·Â·E | nothing dense     |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.surrogate.structure import Attributes, Structure

DENSE_LIMIT = 100_000_000
"""Entries of H (n × F) up to which it is held densely: 0.8 GB in double precision."""


Preconditioner = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From coordinates to the coordinates z of the approximate solution, and z's logits."""


class Features(Protocol):
    """H in one of its forms. Every node matrix has one column per class."""

    attributes: Attributes

    def zero(self, num_classes: int) -> Tensor:
        """The coordinates of W = 0."""
        ...

    def logits(self, a: Tensor) -> Tensor:
        """H·W of the weights with coordinates ``a``, n × C."""
        ...

    def pull(self, errors: Tensor) -> Tensor:
        """The coordinates of H^T·E."""
        ...

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        """The inner product of two weight matrices given by their coordinates."""
        ...

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        """An approximate inverse of H^T·diag(curvature)·H + damping·I on coordinates, for n curvatures > 0."""
        ...

    def weights(self, a: Tensor) -> Tensor:
        """W, F × C."""
        ...

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        """H·W of weights that may have no coordinates."""
        ...

    def coordinates(self, weights: Tensor) -> Tensor | None:
        """The coordinates of any W, or None where not every W has some (the dual form)."""
        ...

    def basis_images(self) -> Tensor:
        """X·B, N × r, where B are the weights that the r coordinates stand for (W = B·a)."""
        ...


class Primal:
    """W itself is the coordinate; H is dense."""

    def __init__(self, rows: Tensor, attributes: Attributes) -> None:
        self.rows, self.attributes = rows, attributes

    def zero(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(self.attributes.num_columns, num_classes)

    def logits(self, a: Tensor) -> Tensor:
        return self.rows @ a

    def pull(self, errors: Tensor) -> Tensor:
        return self.rows.T @ errors

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        return (a * b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        half = self.rows * curvature.sqrt().unsqueeze(1)
        factor = torch.linalg.cholesky(half.T @ half + damping * _identity(half.shape[1], half))

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = torch.cholesky_solve(right, factor)
            return z, self.logits(z)

        return solve

    def weights(self, a: Tensor) -> Tensor:
        return a

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        return self.logits(weights)

    def coordinates(self, weights: Tensor) -> Tensor | None:
        return weights

    def basis_images(self) -> Tensor:
        columns = self.attributes.num_columns
        return self.attributes.times(_identity(columns, self.rows))


class Dual(Primal):
    """W = H^T·a: the inner training never leaves the span of the training rows."""

    def __init__(self, rows: Tensor, attributes: Attributes) -> None:
        super().__init__(rows, attributes)
        self.gram = rows @ rows.T

    def zero(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(len(self.rows), num_classes)

    def logits(self, a: Tensor) -> Tensor:
        return self.gram @ a

    def pull(self, errors: Tensor) -> Tensor:
        return errors

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        return (a * logits_of_b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        # (damping + D·K)^-1 = D^½·(damping + D^½·K·D^½)^-1·D^-½, and K·z = D^-1·(r − damping·z) comes for free.
        root = curvature.sqrt().unsqueeze(1)
        middle = self.gram * root * root.T + damping * _identity(len(root), root)
        inverse = torch.cholesky_inverse(torch.linalg.cholesky(middle)) * root / root.T

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = inverse @ right
            return z, (right - damping * z) / curvature.unsqueeze(1)

        return solve

    def weights(self, a: Tensor) -> Tensor:
        return self.rows.T @ a

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        return self.rows @ weights

    def coordinates(self, weights: Tensor) -> Tensor | None:
        return None

    def basis_images(self) -> Tensor:
        return self.attributes.times(self.rows.T.contiguous())


class Sparse(Primal):
    """W itself is the coordinate; H is applied as two propagations and never formed."""

    def __init__(self, structure: Structure, attributes: Attributes, train: Tensor) -> None:
        super().__init__(torch.empty(0, dtype=structure.dtype, device=structure.device), attributes)
        self.structure, self.train = structure, train

    def logits(self, a: Tensor) -> Tensor:
        return self.structure.propagate(self.structure.propagate(self.attributes.times(a)))[self.train]

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        return lambda right: (right, self.logits(right))

    def pull(self, errors: Tensor) -> Tensor:
        spread = errors.new_zeros(self.structure.num_nodes, errors.shape[1])
        spread[self.train] = errors
        return self.attributes.transposed_times(self.structure.propagate(self.structure.propagate(spread)))


def _identity(size: int, like: Tensor) -> Tensor:
    return torch.eye(size, dtype=like.dtype, device=like.device)


def features_of(structure: Structure, attributes: Attributes, train: np.ndarray, form: str | None = None) -> Features:
    """H of the graph as it stands, in the given form or in the one that its size asks for."""
    if form is None:
        n, columns = len(train), attributes.num_columns
        form = "sparse" if n * columns > DENSE_LIMIT else "dual" if n < 2 * columns else "primal"
    if form == "sparse":
        return Sparse(structure, attributes, torch.as_tensor(train, device=structure.device))
    rows = attributes.rows_of(structure.training_rows(train))
    return Dual(rows, attributes) if form == "dual" else Primal(rows, attributes)

"""The training nodes' two-hop features H = (Â²X)_train, as the inner training needs them.

Here a *row* stands for a class and a column for a training node: with few rows and many columns a matrix product is
about twice as fast as the other way round. The inner weights W (F × C) are written in coordinates a (C × r). Three
forms give the same mathematics; `features_of` picks by size.

| form   | W^T is | logits (H·W)^T     | (H^T·E)^T is       | holds           |
| ------ | ------ | ------------------ | ------------------ | --------------- |
| dual   | a·H    | a·K, K = H·H^T     | E^T itself         | n × n and n × F |
| primal | a      | a·H^T              | E^T·H              | n × F           |
| sparse | a      | two propagations   | two propagations   | nothing dense   |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor

from focusedcleaner.engine.structure import Attributes, Structure

DENSE_LIMIT = 100_000_000
"""Entries of H (n × F) up to which it is held densely: 0.8 GB in double precision."""

Preconditioner = Callable[[Tensor], tuple[Tensor, Tensor]]
"""From coordinates to the coordinates z of the approximate solution, and z's logits."""


class Features(Protocol):
    """H in one of its forms."""

    attributes: Attributes

    def zero(self, num_classes: int) -> Tensor:
        """The coordinates of W = 0."""
        ...

    def logits(self, a: Tensor) -> Tensor:
        """(H·W)^T of the weights with coordinates ``a``, C × n."""
        ...

    def pull(self, errors: Tensor) -> Tensor:
        """The coordinates of H^T·E for errors E^T, C × n."""
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
        """(H·W)^T of weights that may have no coordinates."""
        ...

    def coordinates(self, weights: Tensor) -> Tensor | None:
        """The coordinates of any W, or None where not every W has some (the dual form)."""
        ...

    def basis_images(self) -> Tensor:
        """X·B, N × r, where B are the weights that the r coordinates stand for (W = B·a^T)."""
        ...


class Primal:
    """W^T itself is the coordinate; H is dense."""

    def __init__(self, rows: Tensor, attributes: Attributes) -> None:
        self.rows, self.attributes = rows, attributes

    def zero(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, self.attributes.num_columns)

    def logits(self, a: Tensor) -> Tensor:
        return a @ self.rows.T

    def pull(self, errors: Tensor) -> Tensor:
        return errors @ self.rows

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        return (a * b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        half = self.rows * curvature.sqrt().unsqueeze(1)
        inverse = _inverse(half.T @ half, damping)

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = right @ inverse
            return z, self.logits(z)

        return solve

    def weights(self, a: Tensor) -> Tensor:
        return a.T.contiguous()

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        return self.logits(weights.T)

    def coordinates(self, weights: Tensor) -> Tensor | None:
        return weights.T.contiguous()

    def basis_images(self) -> Tensor:
        return self.attributes.dense()


class Dual(Primal):
    """W = H^T·a^T: the inner training never leaves the span of the training rows."""

    def __init__(self, rows: Tensor, gram: Tensor, attributes: Attributes) -> None:
        super().__init__(rows, attributes)
        self.gram = gram

    def zero(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, len(self.rows))

    def logits(self, a: Tensor) -> Tensor:
        return a @ self.gram

    def pull(self, errors: Tensor) -> Tensor:
        return errors

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        return (a * logits_of_b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        # (damping + K·D)^-1 = D^-½·(damping + D^½·K·D^½)^-1·D^½, and z·K = (r − damping·z)·D^-1 comes for free.
        root = curvature.sqrt()
        inverse = _inverse(self.gram * root.unsqueeze(1) * root, damping) / root.unsqueeze(1) * root

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = right @ inverse
            return z, (right - damping * z) / curvature

        return solve

    def weights(self, a: Tensor) -> Tensor:
        return super().pull(a).T.contiguous()

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        return super().logits(weights.T)

    def coordinates(self, weights: Tensor) -> Tensor | None:
        return None

    def basis_images(self) -> Tensor:
        return self.attributes.times(self.rows.T.contiguous())


class Sparse(Primal):
    """W^T itself is the coordinate; H is applied as two propagations and never formed."""

    def __init__(self, structure: Structure, attributes: Attributes, train: Tensor) -> None:
        super().__init__(torch.empty(0, dtype=structure.dtype, device=structure.device), attributes)
        self.structure, self.train = structure, train

    def logits(self, a: Tensor) -> Tensor:
        xw = self.attributes.times(a.T.contiguous())
        return self.structure.propagate(self.structure.propagate(xw))[self.train].T.contiguous()

    def pull(self, errors: Tensor) -> Tensor:
        spread = errors.new_zeros(self.structure.num_nodes, len(errors))
        spread[self.train] = errors.T
        pulled = self.attributes.transposed_times(self.structure.propagate(self.structure.propagate(spread)))
        return pulled.T.contiguous()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        return lambda right: (right, self.logits(right))


def _identity(size: int, like: Tensor) -> Tensor:
    return torch.eye(size, dtype=like.dtype, device=like.device)


def _inverse(matrix: Tensor, damping: float) -> Tensor:
    """(matrix + damping·I)^-1 for a positive semidefinite matrix."""
    return torch.cholesky_inverse(torch.linalg.cholesky(matrix + damping * _identity(len(matrix), matrix)))


class TrainingFeatures:
    """H of a structure from which edges are removed: what a removal can't have changed is kept.

    H and K depend, in their last digits, on the removals that lie between two calls of `now`. A run that goes on from a
    checkpoint repeats these calls and gets the same digits.

    Args:
        structure: whose edges may be removed between two calls.
        attributes: X.
        train: the n training nodes.
        form: "dual", "primal" or "sparse"; None lets the size decide.
    """

    def __init__(self, structure: Structure, attributes: Attributes, train: Tensor, form: str | None = None) -> None:
        self.structure, self.attributes, self.train = structure, attributes, train
        size = len(train) * attributes.num_columns
        by_size = "sparse" if size > DENSE_LIMIT else "dual" if len(train) < 2 * attributes.num_columns else "primal"
        self.form = form or by_size
        self._latest: Primal | None = None

    def now(self) -> Features:
        """H of the graph as it stands; what was handed out before changes with it."""
        if self.form == "sparse":
            return Sparse(self.structure, self.attributes, self.train)
        changed = self.structure.take_touched()[self.train].nonzero().squeeze(1)
        before = self._latest
        if before is None or 2 * len(changed) > len(self.train):
            rows = self._rows(self.train)
            self._latest = self._made(rows, rows @ rows.T if self.form == "dual" else rows)
        elif len(changed):
            before.rows[changed] = self._rows(self.train[changed])
            if isinstance(before, Dual):
                part = before.rows[changed] @ before.rows.T
                before.gram[changed], before.gram[:, changed] = part, part.T
        assert self._latest is not None
        return self._latest

    def _made(self, rows: Tensor, gram: Tensor) -> Primal:
        return Dual(rows, gram, self.attributes) if self.form == "dual" else Primal(rows, self.attributes)

    def _rows(self, nodes: Tensor) -> Tensor:
        """The rows of Â²X that belong to some nodes: by a dense ÂX where they are many and X is narrow."""
        num_nodes, columns = self.structure.num_nodes, self.attributes.num_columns
        if self.form == "primal" and 50 * len(nodes) > num_nodes and num_nodes * columns <= DENSE_LIMIT:
            return self.structure.propagate_to(nodes, self.structure.propagate(self.attributes.dense()))
        return self.attributes.rows_of(self.structure.rows_of_two_hops(nodes.cpu().numpy()))

"""The two-hop features of the training nodes, H = (Â²X)_train, in the form that suits their size.

Rows stand for classes and columns for training nodes: with few rows and many columns a matrix product is about twice as
fast as the other way round. The weights W (F × C) are written in coordinates a (C × r). The three forms are
mathematically equal.

| form   | W^T | logits (H·W)^T   | (H^T·E)^T        | memory          |
| ------ | --- | ---------------- | ---------------- | --------------- |
| dual   | a·H | a·K, K = H·H^T   | E^T              | n × n and n × F |
| primal | a   | a·H^T            | E^T·H            | n × F           |
| sparse | a   | two propagations | two propagations | nothing dense   |
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from focusedcleaner.engine.parallel import PART, SMALL_PART, beside, map_parts, summed
from focusedcleaner.engine.structure import Attributes, Structure

DENSE_LIMIT = 100_000_000
"""Largest H (n × F entries) that is stored densely: 0.8 GB in double precision."""

Preconditioner = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Maps coordinates to the coordinates z of an approximate solution, and z's logits."""


class PrimalFeatures:
    """The coordinates are W^T itself; H is dense, and products with it are computed ``part`` rows at a time."""

    def __init__(self, rows: Tensor, attributes: Attributes, part: int = PART) -> None:
        self.rows, self.attributes, self.part = rows, attributes, part

    def zeros(self, num_classes: int) -> Tensor:
        """Return the coordinates of W = 0."""
        return self.rows.new_zeros(num_classes, self.attributes.num_columns)

    def logits(self, a: Tensor) -> Tensor:
        """Return (H·W)^T, C × n, for the weights with coordinates ``a``."""
        return torch.cat(map_parts(_logits, self.parts, a), 1) if len(self.parts) > 1 else a @ self.rows.T

    def transposed_times(self, errors: Tensor) -> Tensor:
        """Return the coordinates of H^T·E for errors E^T, C × n."""
        if len(self.parts) == 1:
            return errors @ self.rows
        return summed(map_parts(_transposed_times, [*zip(errors.split(self.part, 1), self.parts, strict=True)]))

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """H in parts, whose products are computed in threads."""
        return self.rows.split(self.part)

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        """Return the inner product of two weight matrices given by their coordinates."""
        return (a * b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        """Return an approximate inverse of H^T·diag(curvature)·H + damping·I on coordinates, for n curvatures > 0."""
        parts = [*zip(self.parts, curvature.split(self.part), strict=True)]
        inverse = _inverse(summed(map_parts(_weighted_square, parts)), damping)

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = right @ inverse
            return z, self.logits(z)

        return solve

    def weights(self, a: Tensor) -> Tensor:
        """Return W, F × C."""
        return a.T.contiguous()

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        """Return (H·W)^T for weights that need not have coordinates."""
        return self.logits(weights.T)

    def coordinates(self, weights: Tensor) -> Tensor | None:
        """Return the coordinates of any W, or None in the dual form, where only the span of the rows has some."""
        return weights.T.contiguous()

    def attributes_times_basis(self) -> Tensor:
        """Return X·B, N × r, where W = B·a^T."""
        return self.attributes.dense()


Features = PrimalFeatures
"""Any of the three forms: the other two override the primal one."""


class DualFeatures(PrimalFeatures):
    """W = H^T·a^T: the inner training never leaves the span of the training rows."""

    def __init__(self, rows: Tensor, gram: Tensor, attributes: Attributes) -> None:
        super().__init__(rows, attributes)
        self.gram = gram

    def zeros(self, num_classes: int) -> Tensor:
        return self.rows.new_zeros(num_classes, len(self.rows))

    def logits(self, a: Tensor) -> Tensor:
        return a @ self.gram

    def transposed_times(self, errors: Tensor) -> Tensor:
        return errors

    def dot(self, a: Tensor, b: Tensor, logits_of_b: Tensor) -> Tensor:
        return (a * logits_of_b).sum()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        # (damping + K·D)^-1 = D^-½·(damping + D^½·K·D^½)^-1·D^½, and z·K = (r − damping·z)·D^-1 needs no product.
        root = curvature.sqrt()
        inverse = _inverse(self.gram * root.unsqueeze(1) * root, damping) / root.unsqueeze(1) * root

        def solve(right: Tensor) -> tuple[Tensor, Tensor]:
            z = right @ inverse
            return z, (right - damping * z) / curvature

        return solve

    def weights(self, a: Tensor) -> Tensor:
        return super().transposed_times(a).T.contiguous()

    def logits_of_weights(self, weights: Tensor) -> Tensor:
        return super().logits(weights.T)

    def coordinates(self, weights: Tensor) -> Tensor | None:
        return None

    def attributes_times_basis(self) -> Tensor:
        return self.attributes.times(self.rows.T.contiguous())


class SparseFeatures(PrimalFeatures):
    """The coordinates are W^T itself; H is applied as two propagations and never formed."""

    def __init__(self, structure: Structure, attributes: Attributes, train: Tensor) -> None:
        super().__init__(torch.empty(0, dtype=structure.dtype), attributes)
        self.structure, self.train = structure, train

    def logits(self, a: Tensor) -> Tensor:
        xw = self.attributes.times(a.T.contiguous())
        return self.structure.propagate(self.structure.propagate(xw))[self.train].T.contiguous()

    def transposed_times(self, errors: Tensor) -> Tensor:
        spread = errors.new_zeros(self.structure.num_nodes, len(errors))
        spread[self.train] = errors.T
        product = self.attributes.transposed_times(self.structure.propagate(self.structure.propagate(spread)))
        return product.T.contiguous()

    def preconditioner(self, curvature: Tensor, damping: float) -> Preconditioner:
        return lambda right: (right, self.logits(right))


def _logits(rows: Tensor, a: Tensor) -> Tensor:
    return a @ rows.T


def _transposed_times(part: tuple[Tensor, Tensor]) -> Tensor:
    errors, rows = part
    return errors @ rows


def _weighted_square(part: tuple[Tensor, Tensor]) -> Tensor:
    rows, curvature = part
    half = rows * curvature.sqrt().unsqueeze(1)
    return half.T @ half


def _inverse(matrix: Tensor, damping: float) -> Tensor:
    """Return (matrix + damping·I)^-1 for a positive semidefinite matrix."""
    identity = torch.eye(len(matrix), dtype=matrix.dtype)
    return torch.cholesky_inverse(torch.linalg.cholesky(matrix + damping * identity))


def two_hop_columns(structure: Structure, attributes: Attributes, nodes: Tensor) -> Tensor:
    """Return the rows of Â²X for ``nodes`` as a dense tensor, n × F, a few columns after the other."""
    parts = [structure.propagate_to(nodes, structure.propagate(columns)) for columns in attributes.columns()]
    return beside(*parts)


class TrainingFeatures:
    """H of a structure whose edges are removed over time; only rows near a removed edge are recomputed.

    The last digits of H and K depend on which removals lie between two calls of `now`. A run resumed from a checkpoint
    repeats these calls and gets the same digits. The ``form`` is "dual", "primal" or "sparse"; chosen by size if None.
    """

    def __init__(self, structure: Structure, attributes: Attributes, train: Tensor, form: str | None = None) -> None:
        self.structure, self.attributes, self.train = structure, attributes, train
        size = len(train) * attributes.num_columns
        by_size = "sparse" if size > DENSE_LIMIT else "dual" if len(train) < 2 * attributes.num_columns else "primal"
        self.form = form or by_size
        self._latest: PrimalFeatures | None = None

    def now(self) -> Features:
        """Return H of the current structure. Updates H in place: earlier references see the change."""
        if self.form == "sparse":
            return SparseFeatures(self.structure, self.attributes, self.train)
        if self.form == "primal" and len(self.structure.blocks) > 1:  # an edge or two change few rows, a round most
            rows = two_hop_columns(self.structure, self.attributes, self.train)
            return PrimalFeatures(rows, self.attributes, SMALL_PART)
        changed = self.structure.take_touched()[self.train].nonzero().squeeze(1)
        if self._latest is None or 2 * len(changed) > len(self.train):
            rows = self._rows(self.train)
            dual = self.form == "dual"
            self._latest = (
                DualFeatures(rows, rows @ rows.T, self.attributes) if dual else PrimalFeatures(rows, self.attributes)
            )
        elif len(changed):
            features = self._latest
            features.rows[changed] = self._rows(self.train[changed])
            if isinstance(features, DualFeatures):
                products = features.rows[changed] @ features.rows.T
                features.gram[changed], features.gram[:, changed] = products, products.T
        return self._latest

    def _rows(self, nodes: Tensor) -> Tensor:
        """Return the rows of Â²X for ``nodes``, through a dense ÂX if they are many and X is narrow."""
        num_nodes, columns = self.structure.num_nodes, self.attributes.num_columns
        if self.form == "primal" and 50 * len(nodes) > num_nodes and num_nodes * columns <= DENSE_LIMIT:
            return self.structure.propagate_to(nodes, self.structure.propagate(self.attributes.dense()))
        return self.attributes.two_hop_rows(self.structure, nodes.numpy())

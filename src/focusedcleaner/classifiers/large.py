"""Classifiers that train on graphs which are too large for full batches: what `gcn` and `sgc` share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import torch
from torch import Tensor

from focusedcleaner.classifiers.base import Network, NetworkClassifier
from focusedcleaner.engine import Attributes, Structure
from focusedcleaner.graph import Graph

LARGE = 1_000_000
"""Edges beyond which training is not on full batches, unless a setting says otherwise."""

Product = Callable[[Tensor], Tensor]


@dataclass
class LargeGraphClassifier(NetworkClassifier):
    """A classifier with a second form of training, `_fit_large`; its predictions on large graphs are computed block of
    rows by block of rows and are exact, too."""

    for_large: ClassVar[tuple[str, ...]]
    """The settings of the second form."""

    def settings(self) -> dict[str, Any]:
        """Every setting, but those of the second form only if they were set: results stored without them stay valid."""
        values, default = super().settings(), type(self)()
        return {
            key: value for key, value in values.items() if key not in self.for_large or value != getattr(default, key)
        }

    @abstractmethod
    def _takes_as_large(self, graph: Graph) -> bool:
        """Whether the second form is used on this graph."""

    @abstractmethod
    def _fit_large(self, network: Network, graph: Graph, seed: int) -> None:
        """Train a network, and leave it in its best validated state."""

    def _fit(self, network: Network, graph: Graph, seed: int) -> None:
        if self._takes_as_large(graph):
            self._fit_large(network, graph, seed)
        else:
            super()._fit(network, graph, seed)

    def _scores(self, network: Network, graph: Graph) -> Tensor:
        if not self._takes_as_large(graph):
            return super()._scores(network, graph)
        network.check_columns(graph)
        scores: Tensor = network.eval()(*row_block_products(graph))
        return scores


def row_block_products(graph: Graph) -> tuple[Product, Product]:
    """Return the maps W ↦ X·W and M ↦ Â·M, by blocks of rows in memory or in a graph folder, without gradients."""
    structure, attributes = Structure(graph, dtype=torch.float32), Attributes(graph, dtype=torch.float32)
    return attributes.times, structure.propagate

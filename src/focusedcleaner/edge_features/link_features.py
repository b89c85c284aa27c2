"""What speaks for two nodes belonging together: a row of named numbers for every pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from focusedcleaner.edge_features.class_agreement import class_distributions, unit_attributes
from focusedcleaner.edge_features.pair_features import clamped_log, min_and_max, row_dot, row_products
from focusedcleaner.graph import FloatArray, Graph, IntArray

INVERSE_DECAY = 10.0
"""Of the regression that guesses the nodes' classes, as the sanitizer ``agreement`` has it."""


@dataclass(frozen=True)
class Likeness:
    """Looks at pairs in graphs over the same nodes.

    >>> path = Graph(3, [[0, 1], [1, 2]], labels=[0, 0, 1])
    >>> Likeness.of(path).columns(path, np.array([[0, 2]]))["common_neighbours"]
    array([1.])
    """

    attributes: sp.csr_array | None
    """N × F, rows of length 1."""
    rare: sp.csr_array | None
    """The same, each attribute weighted by clamped_log(1 + N/n), n being how many nodes have it."""

    @classmethod
    def of(cls, graph: Graph) -> Likeness:
        if graph.attributes is None:
            return cls(None, None)
        owners = np.maximum(np.bincount(graph.attributes.indices, minlength=graph.num_attributes), 1)
        weighted = graph.attributes @ sp.diags_array(np.log1p(graph.num_nodes / owners))
        return cls(unit_attributes(graph), _of_length_one(sp.csr_array(weighted)))

    def columns(self, graph: Graph, pairs: IntArray) -> dict[str, FloatArray]:
        """A column per clue, a row per pair (P × 2), by the graph's edges without regard to those of the pairs."""
        u, v = pairs.T
        adjacency, degrees = graph.adjacency(), graph.degrees.astype(float)
        walk = sp.csr_array(sp.diags_array(1 / np.maximum(degrees, 1)) @ adjacency)
        rarity = sp.csr_array(adjacency @ sp.diags_array(1 / np.log(np.maximum(degrees, 2))))
        classes = class_distributions(graph, np.ones(graph.num_edges), INVERSE_DECAY)
        around = walk @ classes
        two_steps = sp.csr_array(adjacency @ walk)
        columns = {
            "common_neighbours": row_products(adjacency, adjacency, pairs),
            "rare_common_neighbours": row_products(adjacency, rarity, pairs),
            "walks_of_three": row_products(walk, two_steps, pairs) + row_products(walk, two_steps, pairs[:, ::-1]),
            "class_agreement": clamped_log(row_dot(classes[u], classes[v])),
            **min_and_max("neighbours_for_it", row_dot(around[u], classes[v]), row_dot(around[v], classes[u])),
            **min_and_max("degree", degrees[u], degrees[v]),
            **_known_ends(graph, pairs),
        }
        if self.attributes is not None and self.rare is not None:
            beside = sp.csr_array(walk @ self.rare)
            columns |= {
                "attribute_similarity": row_products(self.attributes, self.attributes, pairs),
                "rare_attribute_similarity": row_products(self.rare, self.rare, pairs),
                **min_and_max(
                    "attributes_beside",
                    row_products(self.rare, beside, pairs),
                    row_products(self.rare, beside, pairs[:, ::-1]),
                ),
            }
        return columns


def _known_ends(graph: Graph, pairs: IntArray) -> dict[str, FloatArray]:
    """How many ends are training and validation nodes: attackers cut where a label is."""
    if graph.split is None:
        return {}
    parts = {"training_ends": graph.split.train, "validation_ends": graph.split.val}
    return {name: np.isin(pairs, nodes).sum(axis=1).astype(float) for name, nodes in parts.items()}


def _of_length_one(rows: sp.csr_array) -> sp.csr_array:
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / np.where(lengths > 0, lengths, 1.0)) @ rows)

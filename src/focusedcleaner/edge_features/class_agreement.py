"""How well the two ends of an edge agree in attributes and predicted classes."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.edge_features.class_regression import ClassRegression
from focusedcleaner.edge_features.edge_selection import mark_highest
from focusedcleaner.engine.parallel import by_rows
from focusedcleaner.engine.sparse import row_norms, row_products
from focusedcleaner.graph import FloatArray, Graph, IntArray


def class_agreement(
    regression: ClassRegression, cosines: FloatArray, *, cosine_weight: float, left_out: float, repeats: int, seed: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Score every edge by −log(p_u·p_v) − w·cos(x_u, x_v), leave the worst out of the propagation, and repeat.

    Args:
        regression: predicts p, for the graph whose edges are scored.
        cosines: of the attributes of both ends, E values.
        cosine_weight: w.
        left_out: share of the edges that later propagations leave out.
        repeats: number of repetitions.
        seed: breaks ties between edges of equal score.

    Returns:
        Scores (E), high where the ends differ in class and attributes; the probabilities that both ends have the same
        class (E); the class distribution of each node (N × C).
    """

    def score(same_class: Tensor, cosines: Tensor) -> Tensor:
        return torch.from_numpy(-np.log(np.maximum(same_class.numpy(), 1e-12)) - cosine_weight * cosines.numpy())

    num_edges, trained = regression.graph.num_edges, None
    weights = np.ones(num_edges)
    for _ in range(repeats + 1):
        classes, trained = regression.fit(weights, trained)
        distributions = torch.from_numpy(classes)
        same_class: FloatArray = regression.structure.edge_products(distributions, distributions).numpy()
        scores: FloatArray = by_rows(score, torch.from_numpy(same_class), torch.from_numpy(cosines)).numpy()
        weights = (~mark_highest(scores, int(left_out * num_edges), seed)).astype(np.float64)
    return scores, same_class, classes


def edge_cosines(regression: ClassRegression) -> FloatArray:
    """Return the cosine of both ends' attributes for every edge of the regression's graph; 0 where a node has none."""
    cosines: FloatArray = regression.attributes.at_edges(regression.structure).double().numpy()
    return cosines


def attribute_cosines(graph: Graph, edges: IntArray) -> FloatArray:
    """Return the cosine of both ends' attributes for E pairs of nodes (E × 2); 0 where a node has none.

    >>> attribute_cosines(Graph(3, [[0, 1], [1, 2]], attributes=[[1, 0], [1, 0], [0, 0]]), np.array([[0, 1], [1, 2]]))
    array([1., 0.])
    """
    x = graph.features
    if x is None or not len(edges):
        return np.zeros(len(edges))
    return row_products(x, x, edges) / np.maximum(row_norms(x)[edges].prod(axis=1), 1e-12)

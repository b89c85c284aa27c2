"""Whom Nettack attacks: the protocol of its authors."""

from __future__ import annotations

import numpy as np
import torch

from focusedcleaner.classifiers import GCN
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray

BEST, WORST, OTHERS = 10, 10, 20


def nettack_targets(graph: Graph, *, seed: int = 0) -> IntArray:
    """Test nodes that a GCN on the clean graph gets right: the 10 of largest margin, the 10 of smallest, 20 others.

        margin_i = p_i(y_i) − max_{c ≠ y_i} p_i(c),  p = softmax of the GCN's scores

    Zügner, Akbarnejad, Günnemann: "Adversarial Attacks on Neural Networks for Graph Data", KDD 2018.

    >>> from focusedcleaner.datasets import synthetic
    >>> len(nettack_targets(synthetic(num_nodes=200, homophily=0.9, seed=0)))
    40
    """
    if graph.labels is None or graph.split is None:
        raise InputError("Nettack's targets are chosen among test nodes with a label")
    scores = torch.softmax(GCN().fit(graph, seed=seed).scores(graph), 1).numpy()
    nodes = graph.split.test[graph.labels[graph.split.test] >= 0]
    labels = graph.labels[nodes]
    mine = scores[nodes, labels]
    rivals = scores[nodes].copy()
    rivals[np.arange(len(nodes)), labels] = -np.inf
    margin = mine - rivals.max(axis=1)
    order = np.argsort(-margin, kind="stable")
    right = nodes[order[margin[order] > 0]]
    if len(right) < BEST + WORST + OTHERS:
        raise InputError(f"a GCN gets {len(right)} test nodes right, but {BEST + WORST + OTHERS} targets are needed")
    middle = np.random.default_rng(seed).choice(right[BEST:-WORST], OTHERS, replace=False)
    return np.concatenate([right[:BEST], right[-WORST:], np.sort(middle)])

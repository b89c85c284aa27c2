"""Block model: edges that fit neither the degrees and classes of their ends nor a low-rank view of the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from focusedcleaner.edge_features.global_structure import COSINE_WEIGHT, global_structure
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.filters import EdgeScores, Filter
from focusedcleaner.settings import bounded


@dataclass(frozen=True)
class BlockModel(Filter):
    """Removes the edges that fit the global structure of the graph least:

        score(u, v) = log p(u, v | planted)/p(u, v | genuine) − w·cos(u, v).

    Genuine edges follow a degree-corrected block model; planted ones are scattered over all nodes or gathered at a few
    (`focusedcleaner.edge_features.global_structure.planted_ratio`). The classes are predicted from the leading
    eigenvectors of the regularized Laplacian. The cosine is that of both ends in a larger embedding, with the edge and
    the suspects left out. Attributes are not used: this is for graphs without them.

    Not from a paper as a whole; the parts are from Karrer, Newman: "Stochastic Blockmodels and Community Structure in
    Networks", Physical Review E 2011 (https://arxiv.org/abs/1008.3926), and Qin, Rohe: "Regularized Spectral Clustering
    under the Degree-Corrected Stochastic Blockmodel", NeurIPS 2013 (https://arxiv.org/abs/1309.4111).

    Args:
        cosine_weight: w.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitation = BlockModel().sanitize(synthetic(num_nodes=200, seed=0), budget=20)
    >>> sorted(sanitation.evidence)[-2:]
    ['low_rank_cosine', 'planted_ratio']
    """

    name: ClassVar[str] = "block-model"

    cosine_weight: float = bounded(COSINE_WEIGHT, "[0, inf)")

    def score_edges(self, graph: Graph, seed: int) -> EdgeScores:
        columns = global_structure(graph)
        evidence = {name: columns[name] for name in ("block_lift", "low_rank_cosine", "planted_ratio")}
        return EdgeScores(columns["planted_ratio"] - self.cosine_weight * columns["low_rank_cosine"], evidence)

"""Everything that the review page shows about one edge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from markupsafe import Markup
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from focusedcleaner.formatting import readable, why, why_sentence
from focusedcleaner.graph import UNKNOWN, FloatArray, Graph
from focusedcleaner.report.neighbourhood import Neighbourhood, drawing, neighbourhood
from focusedcleaner.report.node_classes import has_clusters, with_cluster_names
from focusedcleaner.report.rendering import Mark, mark
from focusedcleaner.review.classes import Classes
from focusedcleaner.runs import Run

ATTRIBUTES = 10
_LIKELIEST = 3

FACTS = {
    "planted": ("Probability of being planted", "What the method estimated. Larger is more suspicious."),
    "group": ("Dense group", "1 is the densest; edges with 0 are in no group."),
    "group_sources": ("Sources of the group", "Nodes of the first kind in the group, such as accounts."),
    "group_targets": ("Targets of the group", "Nodes of the second kind in the group, such as items."),
    "group_density": ("Density of the group", "Share of its possible edges that exist. Larger is more suspicious."),
    "meta_gradient": ("Meta-gradient", "How fast the model's loss falls if this edge goes. Larger is more suspicious."),
    "victim_score": ("Victim score", "How likely the detector finds this node a victim. Larger is more suspicious."),
    "class_agreement": ("Class agreement", "How likely both ends have the same class. Smaller is more suspicious."),
    "link_probability": ("Link probability", "How likely a link predictor finds it. Smaller is more suspicious."),
    "common_neighbours": ("Common neighbours", "Nodes joined to both ends. Planted edges rarely have any."),
    "degree": ("Neighbours", "Number of edges of this node in the input graph."),
    "training_ends": ("Ends with a training label", "Attackers gain most at the nodes that a model is trained on."),
    "cluster": ("Cluster", "The cluster in which the method found this node."),
    "attribute_similarity": ("Attribute similarity", "Cosine of the two rows of attributes: 1 for the same direction."),
}
"""Title and meaning of each column of evidence; other columns are shown under their own names."""


class EdgeDetails:
    """Looks up the details of a run's edges, with the classes of all nodes; the whole graph is read only once."""

    def __init__(self, run: Run, classes: Classes) -> None:
        self.run = run
        self.classes = classes
        self.graph: Graph = with_cluster_names(run)
        self.clusters = has_clusters(run)
        self.classless = bool((classes.numbers == UNKNOWN).all())
        self._adjacency = self.graph.adjacency()
        nodes, (u, v) = self.graph.num_nodes, run.removed.reshape(-1, 2).T
        self._flagged = sp.csr_array((np.ones(len(u), dtype=np.int8), (u, v)), shape=(nodes, nodes))
        self._flagged_degrees = np.bincount(run.removed.ravel(), minlength=nodes)

    @cached_property
    def _deviations(self) -> FloatArray:
        """The standard deviation of each attribute, 1 for a constant one."""
        return np.asarray(StandardScaler(with_mean=False).fit(self.graph.attributes).scale_)

    def details(self, rank: int) -> dict[str, Any]:
        """Return what the page shows about the edge of a rank (from 1), its ``rank``, ``score`` and ``why`` and

        - ``ends``: for each node its ``name``, known class (``label``), likeliest classes by the evidence
          (``predictions``, with probabilities), those of its other neighbours (``around``) and number of ``flagged``
          edges; ``clusters``: whether the classes are clusters; ``labelled``: whether any class is known;
        - ``facts``: the evidence: ``name``, ``meaning``, and one value for the edge or one for each end;
        - ``attributes``: those that differ most: ``name``, both ``values`` and the lengths of the bars;
          ``shared`` and ``own``: how many attributes both nodes have, or only one of them;
        - ``picture`` of the neighbourhood, the ``small_picture`` of its nearest nodes for a phone, and the ``marks``
          of the classes in it.
        """
        row = rank - 1
        u, v = (int(node) for node in self.run.removed[row])
        around = neighbourhood(self.graph, u, v, hops=2, most=60, adjacency=self._adjacency)
        nearest = neighbourhood(self.graph, u, v, most=26, adjacency=self._adjacency)
        classes = self.classes
        return {
            "rank": rank,
            "score": float(self.run.scores[row]),
            "why": why_sentence(self.graph, self.run.evidence, self.run.scores, row, (u, v)),
            "ends": (self._end(u, row, "u"), self._end(v, row, "v")),
            "clusters": self.clusters,
            "labelled": bool(classes.known.any()),
            "facts": _facts(self.run.evidence, row),
            **self._attributes(u, v),
            "picture": self._picture(around, width=620, height=400),
            "small_picture": self._picture(nearest),
            "marks": []
            if self.classless
            else [mark(self.graph, int(number)) for number in np.unique(classes.numbers[around.nodes])],
        }

    def _picture(self, around: Neighbourhood, **size: int) -> Markup:
        near = self._flagged[around.nodes].tocoo()
        flagged = np.column_stack([around.nodes[near.row], near.col])
        classes = self.classes
        return drawing(self.graph, around, classes.numbers, known=classes.known, flagged=flagged, **size)

    def why(self, rank: int) -> str:
        """Return the evidence as a sentence."""
        row = rank - 1
        return why(self.graph, self.run.evidence, self.run.scores, row, self.run.removed[row].tolist())

    def _end(self, node: int, row: int, end: str) -> dict[str, Any]:
        kind = "clusters" if self.clusters else "classes"
        return {
            "name": str(self.graph.name(node)),
            "label": mark(self.graph, int(self.classes.numbers[node])) if self.classes.known[node] else None,
            "predictions": self._likeliest(f"{kind}_{end}", row),
            "around": self._likeliest(f"neighbours_{end}", row),
            "flagged": int(self._flagged_degrees[node]),
        }

    def _likeliest(self, column: str, row: int) -> list[tuple[Mark, float]]:
        """The classes with the largest shares of a distribution; none without one."""
        distributions = self.run.evidence.get(column)
        if distributions is None or distributions.ndim != 2:
            return []
        shares = distributions[row]
        first = np.argsort(-shares, kind="stable")[:_LIKELIEST]
        return [(mark(self.graph, int(one)), float(shares[one])) for one in first if shares[one] > 0]

    def _attributes(self, u: int, v: int) -> dict[str, Any]:
        """The attributes that differ most, in standard deviations, and how many are shared or belong to one node."""
        attributes, names = self.graph.attributes, self.graph.attribute_names
        if attributes is None:
            return {"attributes": [], "shared": 0, "own": (0, 0)}
        both = attributes[[u, v]]
        columns = np.unique(both.indices)
        values = both[:, columns].toarray()
        apart = np.abs(values[0] - values[1]) / self._deviations[columns]
        widths = np.abs(values) / np.maximum(np.abs(values).max(axis=0), 1e-300)
        most = [at for at in np.lexsort((columns, -apart))[:ATTRIBUTES] if apart[at] > 0]
        has = values != 0
        return {
            "attributes": [
                {
                    "name": f"attribute {columns[at]}" if names is None else readable(names[columns[at]]),
                    "values": tuple(values[:, at].tolist()),
                    "widths": tuple(widths[:, at].tolist()),
                }
                for at in most
            ],
            "shared": int(has.all(axis=0).sum()),
            "own": (int((has[0] & ~has[1]).sum()), int((has[1] & ~has[0]).sum())),
        }


def evidence_columns(evidence: Mapping[str, NDArray[Any]]) -> Iterator[tuple[str, tuple[NDArray[Any], ...]]]:
    """Yield the name of each kind of evidence with its column or, without the ending, the columns of both ends.

    >>> [(name, len(columns)) for name, columns in evidence_columns({"degree_u": 1, "degree_v": 2, "planted": 3})]
    [('degree', 2), ('planted', 1)]
    """
    for name, column in evidence.items():
        stem, _, end = name.rpartition("_")
        if end not in ("u", "v") or not {f"{stem}_u", f"{stem}_v"} <= evidence.keys():
            yield name, (column,)
        elif end == "u":
            yield stem, (column, evidence[f"{stem}_v"])


def _facts(evidence: Mapping[str, NDArray[Any]], row: int) -> list[dict[str, Any]]:
    """One fact per kind of evidence, distributions of classes left out."""
    facts = []
    for name, columns in evidence_columns(evidence):
        if columns[0].ndim == 1:
            title, meaning = FACTS.get(name, (readable(name.replace("_", " ").capitalize()), ""))
            values = tuple(figure(float(column[row])) for column in columns)
            facts.append({"name": title, "meaning": meaning, "values": values})
    return facts


def figure(value: float) -> str:
    """Format a number with three digits; whole numbers stay whole.

    >>> figure(0.0108588), figure(12.0), figure(12345.6)
    ('0.0109', '12', '12,346')
    """
    return f"{value:z,.0f}" if value.is_integer() or abs(value) >= 1000 else f"{value:.3g}"

"""What each method did, in a sentence or two, and titles for the columns of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from focusedcleaner.formatting import readable
from focusedcleaner.sanitizers import SANITIZERS

_METHODS = {
    "self-attack": "It simulated attacks on this graph and trained a classifier to recognize the edges that they "
    "plant. Round after round, that gave each edge a probability of being planted.",
    "agreement": "It predicted the classes of the nodes from their own and their neighbours' attributes, and removed "
    "the edges whose ends agree least in class and attributes.",
    "block-model": "It fitted a block model of degrees and classes, with the classes predicted from the graph's "
    "leading eigenvectors, and removed the edges that fit it least.",
    "dense-blocks": "It looked for groups of accounts that share more items than their degrees explain (in the spirit "
    "of FRAUDAR), one group after the other, and compared their densities.",
    "gasoline": "Round after round, it removed the edges, and inserted the missing ones, that lower the loss on "
    "held-out labelled nodes fastest (GASOLINE).",
    "gasoline-d": "Round after round, it removed the edges whose removal lowers the loss on held-out labelled nodes "
    "fastest (GASOLINE-D).",
    "linkpred": "Round after round, it trained a link predictor and removed the edges that are least likely to it.",
    "maskgvae": "It partitioned the nodes into clusters and removed edges between clusters, those first that a graph "
    "autoencoder finds least likely (Mask-GVAE).",
    "jaccard": "It removed the edges whose ends share the fewest attributes (Jaccard similarity).",
    "cosine": "It removed the edges whose ends have the least similar attributes (cosine similarity).",
    "svd": "It removed the edges that are weakest in a low-rank approximation of the adjacency matrix.",
    "random": "It removed random edges, for comparison.",
}
_CLASSDIV = "the classes around them disagree in an unusual way (ClassDiv)"
_LINKPRED = "a link predictor finds one of their edges unlikely (LinkPred)"
VICTIMS = {
    "ClassDiv": _CLASSDIV,
    "LinkPred": _LINKPRED,
    "Ensemble": f"{_CLASSDIV} {{rule}} {_LINKPRED}",
    "PlantedEdges": "one of their edges is probably planted according to self-attack",
    "NoDetector": "",
}
"""Why a detector calls nodes victims, by the detector's ``kind``."""

TRACE_TITLES = {
    "validation_weight": "λ, the weight of the validation loss",
    "validation_loss": "Loss on validation nodes",
    "test_loss": "Loss on test nodes (own predictions)",
    "validation_accuracy": "Accuracy on validation nodes",
    "smoothness": "Roughness of the attributes, Tr(XᵀLX)",
    "victims": "Nodes classified as victims",
    "victim_threshold": "Threshold of the victim score",
    "largest_gradient": "Largest meta-gradient of an edge",
    "mean_link_probability": "Mean probability of an edge (link predictor)",
    "crossing": "Edges between clusters",
    "clusters": "Clusters",
    "group_objective": "Density of the group beyond chance, g",
    "group_sources": "Sources of the group, such as accounts",
    "group_targets": "Targets of the group, such as items",
    "group_edges": "Edges of the group",
    "estimated_planted": "Estimated number of planted edges",
    "purposeful": "Of these, like an attacker's choice",
    "false_alarms": "The same in a clean graph",
}
SEARCH = "wide_search"
"""The column of a trace that says which of several searches a row belongs to."""
POSITIONS = ("round", "removed", "added")
"""Columns of a trace that say where in the run a row is."""


def trace_title(column: str) -> str:
    """Return the title of a trace's column; an unknown column keeps its name.

    >>> trace_title("victims"), trace_title("my_loss")
    ('Nodes classified as victims', 'My loss')
    """
    return TRACE_TITLES.get(column, readable(column.replace("_", " ").capitalize()))


def victims_described(settings: Mapping[str, Any]) -> str:
    """Say why nodes are victims for a method with these settings; empty for a method without victims."""
    detector = settings.get("detector") if settings.get("kind") == "FocusedCleaner" else None
    if not isinstance(detector, Mapping):
        return ""
    rule = "or" if detector.get("rule") == "either" else "and"
    return VICTIMS.get(str(detector.get("kind")), "").format(rule=rule)


def describe_method(record: Mapping[str, Any]) -> str:
    """Say what a run's method did, in a sentence or two; a plug-in is described by its one-line summary.

    >>> describe_method({"method": "svd", "settings": {"kind": "SVD"}})
    'It removed the edges that are weakest in a low-rank approximation of the adjacency matrix.'
    """
    name, settings = record["method"], record["settings"]
    if settings.get("kind") != "FocusedCleaner":
        about = f"Method: {SANITIZERS[name].summary}." if name in SANITIZERS.names() else ""
        return _METHODS.get(name, about)
    victims = victims_described(settings)
    ends = "two victims" if settings.get("victim_ends") == 2 else "a victim"
    verb = "listed" if record.get("suspects") and not record.get("removed") else "removed"
    focus = f" Only edges of {ends} could be {verb}; nodes are victims if {victims}." if victims else ""
    return (
        f"Round after round, it trained a small graph neural network and {verb} the edges whose removal lowers its "
        f"loss fastest (largest meta-gradient).{focus}"
    )

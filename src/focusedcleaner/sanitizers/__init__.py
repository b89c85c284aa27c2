"""Sanitizers by name: FocusedCleaner, self-attack and the methods they are compared with."""

from __future__ import annotations

from collections.abc import Mapping

from focusedcleaner.detectors import ClassDiv, Detector, Ensemble, LinkPred, NoDetector
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.registry import SANITIZERS, Method
from focusedcleaner.sanitizers.agreement import Agreement
from focusedcleaner.sanitizers.base import Sanitizer, Selection
from focusedcleaner.sanitizers.block_model import BlockModel
from focusedcleaner.sanitizers.filters import Cosine, EdgeScores, Filter, Jaccard, RandomEdges
from focusedcleaner.sanitizers.focused import FocusedCleaner
from focusedcleaner.sanitizers.gasoline import Gasoline, GasolineD
from focusedcleaner.sanitizers.linkpred import UnlikelyLinks
from focusedcleaner.sanitizers.maskgvae import MaskGVAE
from focusedcleaner.sanitizers.ranking import RankingOnly
from focusedcleaner.sanitizers.sanitation import Interrupted, Sanitation
from focusedcleaner.sanitizers.self_attack import PlantedEdges, SelfAttack
from focusedcleaner.sanitizers.svd import SVD
from focusedcleaner.surrogate import Implicit, Unrolled

__all__ = [
    "AUTO",
    "SANITIZERS",
    "SVD",
    "Agreement",
    "BlockModel",
    "Cosine",
    "EdgeScores",
    "Filter",
    "FocusedCleaner",
    "Gasoline",
    "GasolineD",
    "Interrupted",
    "Jaccard",
    "MaskGVAE",
    "RandomEdges",
    "Sanitation",
    "Sanitizer",
    "Selection",
    "SelfAttack",
    "UnlikelyLinks",
    "default_method",
    "sanitizer",
    "sanitizer_for",
]

AUTO = "auto"
"""The name that leaves the choice of the method to `default_method`."""
MOST_EDGES = 200_000
"""Edges up to which self-attack is the default method: beyond, it would take too long."""

_INNER: dict[str, type] = {"implicit": Implicit, "unrolled": Unrolled}
_LINKS: dict[str, dict[str, type]] = {"detector": {"linkpred": LinkPred}, "inner": _INNER}


def _focused(name: str, detector: type[Detector], about: str) -> Method[Sanitizer]:
    parts = {"detector": {detector.name: detector}, "inner": _INNER}
    return Method(name, FocusedCleaner, parts, f"FocusedCleaner {about}")


SANITIZERS.register(
    _focused("cld", ClassDiv, "around nodes whose neighbours' classes disagree in an unusual way (ClassDiv)"),
    _focused("lp", LinkPred, "around nodes at an edge that a link predictor finds unlikely (LinkPred)"),
    _focused("focused-none", NoDetector, "without a focus: every edge is a candidate, every node is trusted"),
    _focused("focused-ensemble", Ensemble, "around nodes named by ClassDiv and LinkPred, or by either (rule=either)"),
    _focused("focused-self-attack", PlantedEdges, "around nodes at an edge that self-attack finds planted"),
    Method("self-attack", SelfAttack, about="learns to recognize planted edges by planting some, and counts them"),
    Method("agreement", Agreement, about="edges whose endpoints a classifier assigns to different classes"),
    Method("block-model", BlockModel, about="edges that fit the degrees, classes and leading eigenvectors least"),
    Method("gasoline", Gasoline, {"inner": _INNER}, "flips that lower the validation loss fastest; inserts edges too"),
    Method("gasoline-d", GasolineD, {"inner": _INNER}, "removals that lower the validation loss fastest"),
    Method("linkpred", UnlikelyLinks, _LINKS, "edges that a link predictor finds unlikely: the detector of lp alone"),
    Method("maskgvae", MaskGVAE, about="edges between learned clusters that a graph autoencoder finds unlikely"),
    Method("jaccard", Jaccard, about="edges whose endpoints have few attributes in common"),
    Method("cosine", Cosine, about="edges whose endpoints have dissimilar attributes"),
    Method("svd", SVD, about="edges with little weight in a low-rank approximation of the graph"),
    Method("random", RandomEdges, about="random edges, for comparison"),
)


def default_method(graph: Graph) -> str:
    """Return the method used when none is chosen: self-attack, or CLD for a graph on which that would take too long.

    >>> from focusedcleaner.datasets import synthetic
    >>> default_method(synthetic(num_nodes=200))
    'self-attack'
    """
    return "self-attack" if graph.num_edges <= MOST_EDGES else "cld"


def sanitizer(name: str, /, **settings: object) -> Sanitizer:
    """Create a sanitizer by name (cld, lp, …), with its settings and those of its parts as keyword arguments.

    >>> sanitizer("cld", tau=0.7, eta=0, inner="unrolled", steps=50).name
    'cld'
    >>> sanitizer("clean")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no method 'clean'; there are cld, lp, focused-none, focused-ensemble, ...
    """
    return SANITIZERS.make(name, **settings)


def sanitizer_for(graph: Graph, name: str, settings: Mapping[str, object]) -> Sanitizer:
    """Create a sanitizer for a graph; the name "auto" stands for the graph's default method.

    A default method that can't tell whether the graph was attacked only ranks its edges, unless a budget is given.

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitizer_for(synthetic(num_nodes=200), "auto", {"rounds": 3}).name
    'self-attack'
    """
    if name != AUTO:
        return sanitizer(name, **settings)
    chosen = default_method(graph)
    try:
        method = sanitizer(chosen, **settings)
    except InputError as error:
        raise InputError(f"auto chose {chosen} for this graph: {error}; or choose another method") from None
    if method.chooses_budget:
        return method
    too_many = f"more than {MOST_EDGES:,} edges: self-attack would take too long"
    return RankingOnly(method, f"{too_many}, and {chosen} ranks edges; it can't tell whether any was planted")

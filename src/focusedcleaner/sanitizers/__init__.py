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
from focusedcleaner.sanitizers.checks import is_bipartite
from focusedcleaner.sanitizers.dense_blocks import DenseBlocks
from focusedcleaner.sanitizers.filters import Cosine, EdgeScores, Filter, Jaccard, RandomEdges
from focusedcleaner.sanitizers.focused import FocusedCleaner
from focusedcleaner.sanitizers.gasoline import Gasoline, GasolineD
from focusedcleaner.sanitizers.linkpred import UnlikelyLinks
from focusedcleaner.sanitizers.maskgvae import MaskGVAE
from focusedcleaner.sanitizers.offers import check_offers
from focusedcleaner.sanitizers.sanitation import Interrupted, Sanitation
from focusedcleaner.sanitizers.self_attack import PlantedEdges, SelfAttack
from focusedcleaner.sanitizers.svd import SVD
from focusedcleaner.surrogate import Implicit, TwoLayer, Unrolled

__all__ = [
    "AUTO",
    "PRESETS",
    "SANITIZERS",
    "SVD",
    "Agreement",
    "BlockModel",
    "Cosine",
    "DenseBlocks",
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
    "check_offers",
    "default_method",
    "preset_settings",
    "sanitizer",
    "sanitizer_for",
]

AUTO = "auto"
"""The name that leaves the choice of the method to `default_method`."""

PRESETS: dict[str, Mapping[str, object]] = {"paper": {"inner": "two-layer", "steps": 50, "victim_ends": 2}}
"""Settings of FocusedCleaner by the name of a preset; "paper" is `FocusedCleaner.paper`."""

_INNER: dict[str, type] = {"implicit": Implicit, "unrolled": Unrolled, "two-layer": TwoLayer}
_LINKS: dict[str, dict[str, type]] = {"detector": {"linkpred": LinkPred}, "inner": _INNER}


def _focused(name: str, detector: type[Detector], about: str) -> Method[Sanitizer]:
    parts = {"detector": {detector.name: detector}, "inner": _INNER}
    return Method(name, FocusedCleaner, parts, f"FocusedCleaner: removes the edges that harm a small GNN most, {about}")


SANITIZERS.register(
    _focused("cld", ClassDiv, "at nodes whose neighbours' classes disagree in an unusual way (ClassDiv)"),
    _focused("lp", LinkPred, "at nodes with an edge that a link predictor finds unlikely (LinkPred)"),
    _focused("focused-none", NoDetector, "wherever they are, as every node is trusted"),
    _focused("focused-ensemble", Ensemble, "at nodes that ClassDiv and LinkPred name, or either (rule=either)"),
    _focused("focused-self-attack", PlantedEdges, "at nodes with an edge that self-attack finds planted"),
    Method("self-attack", SelfAttack, about="learns to recognize planted edges by planting some, and counts them"),
    Method("agreement", Agreement, about="removes the edges whose endpoints a classifier assigns to different classes"),
    Method(
        "block-model",
        BlockModel,
        about="removes the edges that fit the degrees, classes and leading eigenvectors least",
    ),
    Method("dense-blocks", DenseBlocks, about="removes the edges of groups of accounts that share too many items"),
    Method(
        "gasoline",
        Gasoline,
        {"inner": _INNER},
        "makes the flips that lower the validation loss fastest; inserts edges, too",
    ),
    Method("gasoline-d", GasolineD, {"inner": _INNER}, "makes the removals that lower the validation loss fastest"),
    Method(
        "linkpred",
        UnlikelyLinks,
        _LINKS,
        "removes the edges that a link predictor finds unlikely: the detector of lp alone",
    ),
    Method(
        "maskgvae", MaskGVAE, about="removes the edges between learned clusters that a graph autoencoder finds unlikely"
    ),
    Method("jaccard", Jaccard, about="removes the edges whose endpoints have few attributes in common"),
    Method("cosine", Cosine, about="removes the edges whose endpoints have dissimilar attributes"),
    Method("svd", SVD, about="removes the edges with little weight in a low-rank approximation of the graph"),
    Method("random", RandomEdges, about="removes random edges, for comparison"),
)


def default_method(graph: Graph) -> str:
    """Return the method used when none is chosen: self-attack or, for a bipartite graph, dense-blocks.

    >>> from focusedcleaner.datasets import synthetic
    >>> default_method(synthetic(num_nodes=200))
    'self-attack'
    """
    return "dense-blocks" if is_bipartite(graph) else "self-attack"


def preset_settings(preset: str, method: str = AUTO) -> tuple[str, Mapping[str, object]]:
    """Return the method, cld instead of "auto", and the settings of a preset.

    >>> preset_settings("paper")
    ('cld', {'inner': 'two-layer', 'steps': 50, 'victim_ends': 2})
    """
    if preset not in PRESETS:
        raise InputError(f"there is no preset {preset!r}; there is {', '.join(PRESETS)}")
    name = "cld" if method == AUTO else method
    if SANITIZERS[name].kind is not FocusedCleaner:
        fitting = ", ".join(other.name for other in SANITIZERS if other.kind is FocusedCleaner)
        raise InputError(f"the preset {preset} is for {fitting}, not for {name}")
    return name, PRESETS[preset]


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

    >>> from focusedcleaner.datasets import synthetic
    >>> sanitizer_for(synthetic(num_nodes=200), "auto", {"rounds": 3}).name
    'self-attack'
    """
    if name != AUTO:
        return sanitizer(name, **settings)
    chosen = default_method(graph)
    try:
        return sanitizer(chosen, **settings)
    except InputError as error:
        raise InputError(f"auto chose {chosen} for this graph: {error}; or choose another method") from None

"""Who cleans: FocusedCleaner and its rivals, each under its name."""

from __future__ import annotations

from focusedcleaner.detectors import ClassDiv, Ensemble, LinkPred, NoDetector
from focusedcleaner.graph import Graph
from focusedcleaner.registry import SANITIZERS, Method
from focusedcleaner.sanitizers.agreement import Agreement
from focusedcleaner.sanitizers.base import Interrupted, Progress, Sanitation, Sanitizer
from focusedcleaner.sanitizers.cosine import Cosine
from focusedcleaner.sanitizers.focused import FocusedCleaner
from focusedcleaner.sanitizers.gasoline import Gasoline
from focusedcleaner.sanitizers.gasoline_d import GasolineD
from focusedcleaner.sanitizers.jaccard import Jaccard
from focusedcleaner.sanitizers.linkpred import UnlikelyLinks
from focusedcleaner.sanitizers.maskgvae import MaskGVAE
from focusedcleaner.sanitizers.random import RandomEdges
from focusedcleaner.sanitizers.self_attack import PlantedEdges, SelfAttack
from focusedcleaner.sanitizers.svd import SVD
from focusedcleaner.surrogate import Implicit, Unrolled

__all__ = [
    "SANITIZERS",
    "SVD",
    "Agreement",
    "Cosine",
    "FocusedCleaner",
    "Gasoline",
    "GasolineD",
    "Interrupted",
    "Jaccard",
    "MaskGVAE",
    "Progress",
    "RandomEdges",
    "Sanitation",
    "Sanitizer",
    "SelfAttack",
    "UnlikelyLinks",
    "default_method",
    "sanitizer",
]

SELF_ATTACKED = 2_000, 200_000
"""Edges of the smallest and the largest graph that are cleaned by self-attack where nobody chose a method."""

_INNER: dict[str, type] = {"implicit": Implicit, "unrolled": Unrolled}

SANITIZERS.register(
    Method(
        "cld",
        FocusedCleaner,
        {"detector": {"classdiv": ClassDiv}, "inner": _INNER},
        "FocusedCleaner around nodes whose neighbours' classes disagree in an unusual way (ClassDiv)",
    ),
    Method(
        "lp",
        FocusedCleaner,
        {"detector": {"linkpred": LinkPred}, "inner": _INNER},
        "FocusedCleaner around nodes at an edge that a link predictor finds unlikely (LinkPred)",
    ),
    Method(
        "focused-none",
        FocusedCleaner,
        {"detector": {"none": NoDetector}, "inner": _INNER},
        "FocusedCleaner without a focus: every edge is a candidate, every node is trusted",
    ),
    Method(
        "focused-ensemble",
        FocusedCleaner,
        {"detector": {"ensemble": Ensemble}, "inner": _INNER},
        "FocusedCleaner around nodes that ClassDiv and LinkPred both name, or either (rule=either)",
    ),
    Method(
        "focused-self-attack",
        FocusedCleaner,
        {"detector": {"self-attack": PlantedEdges}, "inner": _INNER},
        "FocusedCleaner around nodes at an edge that self-attack finds planted",
    ),
    Method(
        "self-attack",
        SelfAttack,
        about="learns what planted edges look like by planting some; says how many there are (--budget auto)",
    ),
    Method("agreement", Agreement, about="edges whose ends a classifier takes for different classes"),
    Method(
        "gasoline",
        Gasoline,
        {"inner": _INNER},
        "flips the pairs whose flip lowers the validation loss fastest (GASOLINE): inserts edges too",
    ),
    Method(
        "gasoline-d",
        GasolineD,
        {"inner": _INNER},
        "removes the edges whose removal lowers the validation loss fastest (GASOLINE-D)",
    ),
    Method(
        "linkpred",
        UnlikelyLinks,
        {"detector": {"linkpred": LinkPred}, "inner": _INNER},
        "edges that a link predictor finds unlikely: the detector of lp alone",
    ),
    Method(
        "maskgvae",
        MaskGVAE,
        about="edges that cross a learnt partition and that a graph autoencoder finds unlikely (Mask-GVAE)",
    ),
    Method("jaccard", Jaccard, about="edges whose ends have few attributes in common"),
    Method("cosine", Cosine, about="edges whose ends have dissimilar attributes"),
    Method("svd", SVD, about="edges that a low-rank approximation of the graph lacks"),
    Method("random", RandomEdges, about="random edges, for comparison"),
)


def default_method(graph: Graph) -> str:
    """What a graph is cleaned with where nobody chose: self-attack where it was measured to win, on graphs with
    attributes and edges enough to learn from; CLD on the others, and on those where it would take too long.

    >>> from focusedcleaner.datasets import synthetic
    >>> default_method(synthetic(num_nodes=200))
    'cld'
    """
    fewest, most = SELF_ATTACKED
    learnable = graph.attributes is not None and fewest <= graph.num_edges <= most
    return "self-attack" if learnable else "cld"


def sanitizer(name: str, **settings: object) -> Sanitizer:
    """Make a sanitizer by its name: cld, lp, …; its own settings and those of its parts go by their names.

    >>> sanitizer("cld", tau=0.7, eta=0, inner="unrolled", steps=50).name
    'cld'
    >>> sanitizer("clean")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no method 'clean'; there are cld, lp, focused-none, focused-ensemble, ...
    """
    made: Sanitizer = SANITIZERS.make(name, **settings)
    return made

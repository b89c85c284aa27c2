"""Node classifiers by name. A new one needs a file, a line in the registration below, a test and a line of docs."""

from __future__ import annotations

from focusedcleaner.classifiers.air import Air
from focusedcleaner.classifiers.base import Classifier
from focusedcleaner.classifiers.elastic import Elastic
from focusedcleaner.classifiers.gcn import GCN
from focusedcleaner.classifiers.gnnguard import GNNGuard
from focusedcleaner.classifiers.low_rank import LowRank
from focusedcleaner.classifiers.median import Median
from focusedcleaner.classifiers.mlp import MLP
from focusedcleaner.classifiers.prognn import ProGNN
from focusedcleaner.classifiers.rgcn import RGCN
from focusedcleaner.classifiers.sgc import SGC
from focusedcleaner.classifiers.simpgcn import SimPGCN
from focusedcleaner.registry import CLASSIFIERS, Method

__all__ = [
    "CLASSIFIERS",
    "GCN",
    "MLP",
    "RGCN",
    "SGC",
    "Air",
    "Classifier",
    "Elastic",
    "GNNGuard",
    "LowRank",
    "Median",
    "ProGNN",
    "SimPGCN",
    "classifier",
]

CLASSIFIERS.register(
    Method("gcn", GCN, about="Applies two graph convolutions: the baseline of all other models"),
    Method("mlp", MLP, about="Applies two layers to the attributes, without the graph"),
    Method("sgc", SGC, about="Fits a logistic regression to attributes averaged over several hops"),
    Method("rgcn", RGCN, about="Represents nodes by Gaussians and discounts those with a large variance"),
    Method("median", Median, about="Takes the median of the neighbours, where a GCN takes their mean"),
    Method("simpgcn", SimPGCN, about="Mixes the graph with one that joins the most similar nodes"),
    Method("gnnguard", GNNGuard, about="Weights the edges of a GCN by the similarity of their ends"),
    Method("elastic", Elastic, about="Smooths over edges, with large differences allowed at a few"),
    Method("air", Air, about="Passes messages with a residual that adapts to each node"),
    Method("prognn", ProGNN, about="Learns a low-rank, sparse and smooth structure in turns with the weights"),
    Method("low-rank", LowRank, about="Learns weights of a low-rank structure between similar nodes"),
)


def classifier(name: str, /, **settings: object) -> Classifier:
    """Build a classifier by name, with its settings.

    >>> classifier("gcn").name
    'gcn'
    """
    return CLASSIFIERS.make(name, **settings)

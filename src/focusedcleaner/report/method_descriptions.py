"""What the methods do, and what a trace's columns are, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from focusedcleaner.sanitizers import SANITIZERS

TRACE_TITLES = {
    "validation_weight": "λ, the weight of the validation loss",
    "validation_loss": "Loss on validation nodes",
    "test_loss": "Loss on test nodes (own predictions)",
    "validation_accuracy": "Accuracy on validation nodes",
    "smoothness": "Roughness of the attributes, Tr(XᵀLX)",
    "victims": "Nodes called victims",
    "victim_threshold": "Threshold of the victim score",
    "largest_gradient": "Largest meta-gradient of an edge",
    "estimated_planted": "Planted edges, as estimated",
    "share_genuine": "Share of genuine edges",
    "share_mettack": "Share of edges like METTACK's",
    "share_minmax": "Share of edges like MinMax's",
    "share_dice": "Share of edges like DICE's",
    "share_random": "Share of random edges",
}

_VICTIMS = {
    "ClassDiv": "whose neighbours' classes disagree in an unusual way",
    "LinkPred": "at an edge that a link predictor finds unlikely",
}


def how(record: Mapping[str, Any]) -> str:
    """How a run's method works, in a sentence or two.

    >>> how({"method": "lp", "settings": {"kind": "FocusedCleaner", "detector": {"kind": "LinkPred"}}})
    'Round after round it trained a small graph model on the training nodes, looked for the nodes at an edge that a ...
    """
    settings = record["settings"]
    if settings.get("kind") != "FocusedCleaner":
        name = record["method"]
        return f"What it does: {SANITIZERS[name].summary}." if name in SANITIZERS.names() else ""
    detector = settings.get("detector")
    suspects = _VICTIMS.get(detector.get("kind", ""), "") if isinstance(detector, Mapping) else ""
    looked = f", looked for the nodes {suspects} (the victims)" if suspects else ""
    where = "edges there" if suspects else "edges"
    return (
        f"Round after round it trained a small graph model on the training nodes{looked}, and removed the {where} that "
        "do most harm to what the model predicts."
    )

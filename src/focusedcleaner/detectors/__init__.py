"""Victim node detectors: ClassDiv, LinkPred, their ensemble, and none."""

from __future__ import annotations

from focusedcleaner.detectors.base import Detector, NoDetector, Victims, View, reduced_attributes
from focusedcleaner.detectors.classdiv import ClassDiv
from focusedcleaner.detectors.ensemble import Ensemble
from focusedcleaner.detectors.linkpred import LinkPred
from focusedcleaner.errors import InputError

DETECTORS: dict[str, type[Detector]] = {kind.name: kind for kind in (ClassDiv, LinkPred, Ensemble, NoDetector)}

__all__ = [
    "DETECTORS",
    "ClassDiv",
    "Detector",
    "Ensemble",
    "LinkPred",
    "NoDetector",
    "Victims",
    "View",
    "detector_of",
    "reduced_attributes",
]


def detector_of(detector: Detector | str) -> Detector:
    """Return the detector of that name with default settings; a detector is returned as it is."""
    if isinstance(detector, Detector):
        return detector
    if detector not in DETECTORS:
        raise InputError(f"there is no detector {detector!r}; there are {', '.join(DETECTORS)}")
    return DETECTORS[detector]()

"""What a report says, as a plain dict: numbers, words and pictures, nothing that a template would have to compute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from focusedcleaner.formatting import estimate_in_words, readable, why
from focusedcleaner.graph import FloatArray, Graph, IntArray
from focusedcleaner.report import measures
from focusedcleaner.report.measures import Judgement
from focusedcleaner.report.method_descriptions import TRACE_TITLES, how
from focusedcleaner.report.neighbourhood import drawing, neighbourhood
from focusedcleaner.report.palette import mark
from focusedcleaner.runs import Run, read_trace, run_record
from focusedcleaner.sanitizers import Sanitation
from focusedcleaner.scoring import Score, aligned, score

TOP = 20
"""Edges that are shown with a picture."""
POINTS = 200
"""Points of a curve at most."""


@dataclass(frozen=True)
class _Found:
    """What a run folder and a sanitation have in common."""

    poisoned: Graph
    cleaned: Graph
    removed: IntArray
    scores: FloatArray
    evidence: Mapping[str, NDArray[Any]]
    trace: Mapping[str, Sequence[float]]
    record: Mapping[str, Any]

    @classmethod
    def of(cls, found: Run | Sanitation, about: Mapping[str, Any] | None) -> _Found:
        if isinstance(found, Run):
            trace, about = read_trace(found.path), about or found.record
        else:
            trace = {name: np.asarray(column, dtype=float).tolist() for name, column in found.trace.items()}
            about = about or run_record(found, {}, "complete")
        removed = found.removed.reshape(-1, 2)
        return cls(found.poisoned, found.graph, removed, found.scores, found.evidence, trace, about)


def summary(
    found: Run | Sanitation, *, truth: Graph | None = None, about: Mapping[str, Any] | None = None, top: int = TOP
) -> dict[str, Any]:
    """Everything that a report says of a run; values are those that JSON knows, None where there is no number.

    - ``run``, ``how``, ``graph``: what was done, in words, and to which graph;
    - ``before``, ``after``: edges, homophily, components, degrees, the surrogate's accuracy on the ``validated``
      validation nodes, and the nodes that look attacked;
    - ``degrees``, ``victim_scores``, ``trace``: what the charts show;
    - ``edges``: those removed first, each with its evidence and its picture (SVG); ``classes``: the pictures' key;
    - ``truth``: ESR, F1 and CR beside the oracle's, and the hit curve; None where the truth is not known.

    Args:
        found: a run folder that was read, or a sanitation.
        truth: the clean graph, which reaches ``truth`` and the edges' ``planted`` alone.
        about: what `run.json` says of a sanitation, where it has been written.
        top: how many edges to show.

    >>> from focusedcleaner.datasets import synthetic
    >>> from focusedcleaner.sanitizers import FocusedCleaner
    >>> told = summary(FocusedCleaner().sanitize(synthetic(200), 20))
    >>> told["before"]["edges"], told["after"]["edges"], len(told["edges"]), told["truth"]
    (400, 380, 20, None)
    """
    parts = _Found.of(found, about)
    judged = measures.judge(parts.poisoned, parts.cleaned, seed=parts.record["seed"])
    scores = measures.histogram(*judged.energies, judged.threshold)
    clean = None if truth is None else aligned(truth, parts.poisoned)
    return {
        "run": _run(parts),
        "how": how(parts.record),
        "graph": _graph(parts.poisoned),
        "before": _side(parts.poisoned, judged, scores, 0),
        "after": _side(parts.cleaned, judged, scores, 1),
        "validated": judged.validated,
        "degrees": measures.degree_bins(parts.poisoned, parts.cleaned),
        "victim_scores": scores,
        "trace": _trace(parts.trace),
        "edges": _edges(parts, judged, clean, top),
        "classes": [asdict(mark(parts.poisoned, number)) for number in np.unique(judged.classes)],
        "truth": None if clean is None else _truth(parts, clean),
    }


def _run(parts: _Found) -> dict[str, Any]:
    about = parts.record
    source = {key: value for key, value in about["input"].items() if value is not None and value is not False}
    graph = source.get("graph", "a graph in memory")
    return {
        "status": about["status"],
        "method": about["method"],
        "settings": _flat(about["settings"]),
        "budget": about["budget"],
        "auto": bool(about.get("auto_budget")),
        "estimate": estimate_in_words(about["estimate"], parts.poisoned.num_edges) if about.get("estimate") else None,
        "removed": len(parts.removed),
        "added": len(parts.cleaned.added_edges(parts.poisoned)),
        "seed": about["seed"],
        "seconds": about.get("seconds"),
        "name": readable(Path(str(graph)).name, 200),
        "input": readable(graph, 200),
        "source": {key: readable(value, 200) for key, value in source.items()},
        "versions": {key: readable(value) for key, value in about.get("versions", {}).items()},
    }


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Nested settings under names such as "detector tau"."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key} ")
        else:
            flat[f"{prefix}{key}"] = "–" if value is None else readable(value)
    return flat


def _graph(graph: Graph) -> dict[str, Any]:
    parts = {part: 0 if graph.split is None else len(getattr(graph.split, part)) for part in ("train", "val", "test")}
    return {"nodes": graph.num_nodes, "classes": graph.num_classes, "attributes": graph.num_attributes, **parts}


def _side(graph: Graph, judged: Judgement, scores: Mapping[str, Any], side: int) -> dict[str, Any]:
    facts = {**measures.structure(graph), "accuracy": judged.accuracy[side], "victims": scores["above"][side]}
    return {key: _number(value) if isinstance(value, float) else value for key, value in facts.items()}


def _trace(trace: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The trace's quantities in six digits, thinned out; those that were never measured are left out."""
    changed = np.add(trace.get("removed", []), trace.get("added", 0)).tolist()
    if not changed:
        return {"rounds": 0, "changed": [], "columns": []}
    shown = _thin(len(changed))
    columns = []
    for name, column in trace.items():
        values = [float(f"{column[place]:.6g}") if math.isfinite(column[place]) else None for place in shown]
        if name not in ("round", "removed", "added") and any(value is not None for value in values):
            title = TRACE_TITLES.get(name, readable(name.replace("_", " ").capitalize()))
            columns.append({"name": name, "title": title, "values": values})
    return {"rounds": len(changed), "changed": [changed[place] for place in shown], "columns": columns}


def _thin(size: int) -> list[int]:
    """Places of at most so many points, the first and the last among them."""
    return sorted({round(place) for place in np.linspace(0, size - 1, min(size, POINTS))})


def _edges(parts: _Found, judged: Judgement, clean: Graph | None, top: int) -> list[dict[str, Any]]:
    graph, rows = parts.poisoned, parts.poisoned.adjacency()
    planted = None if clean is None else _planted(parts.removed[:top], clean)
    shown = []
    for row, (u, v) in enumerate(parts.removed[:top]):
        around = neighbourhood(graph, u, v, most=26, adjacency=rows)
        told = why(graph, parts.evidence, parts.scores, row, (u, v)).replace(" %", "\N{NO-BREAK SPACE}%")
        shown.append(
            {
                "rank": row + 1,
                "u": readable(graph.name(u)),
                "v": readable(graph.name(v)),
                "score": float(parts.scores[row]),
                "degrees": [int(graph.degrees[u]), int(graph.degrees[v])],
                "why": f"{told[:1].upper()}{told[1:]}.",
                "planted": None if planted is None else bool(planted[row]),
                "picture": drawing(graph, around, judged.classes, known=judged.known, flagged=parts.removed),
            }
        )
    return shown


def _planted(edges: IntArray, clean: Graph) -> NDArray[np.bool_]:
    return ~np.isin(np.sort(edges, axis=1) @ [clean.num_nodes, 1], clean.edge_keys)


def _truth(parts: _Found, clean: Graph) -> dict[str, Any]:
    found = score(parts.removed, poisoned=parts.poisoned, clean=clean)
    best = Score(found.attacked, found.removed, min(found.attacked, found.removed))
    hits = np.concatenate([[0], np.cumsum(_planted(parts.removed, clean))])
    shown = _thin(len(hits))
    return {
        "planted": found.attacked,
        "deleted": len(clean.added_edges(parts.poisoned)),
        "removed": found.removed,
        "hits": found.hits,
        "curve": {"removed": shown, "hits": [int(hits[place]) for place in shown]},
        **{
            name: {"run": _number(getattr(found, name)), "oracle": _number(getattr(best, name))}
            for name in ("esr", "f1", "cr")
        },
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value

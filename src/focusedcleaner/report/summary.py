"""The content of a report as plain data: numbers, text and pictures, so that templates compute nothing.

Everything is read from the run folder; nothing is trained. Labels of test nodes reach only the homophily.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner.formatting import readable, why_sentence
from focusedcleaner.graph import UNKNOWN, BoolArray, Graph, IntArray
from focusedcleaner.report.flagged import flagged_groups, flagged_nodes
from focusedcleaner.report.method_descriptions import POSITIONS, SEARCH, describe_method, trace_title, victims_described
from focusedcleaner.report.neighbourhood import drawing, neighbourhood
from focusedcleaner.report.node_classes import has_clusters, node_classes, predicted_classes, with_cluster_names
from focusedcleaner.report.rendering import mark
from focusedcleaner.runs import Run, read_trace
from focusedcleaner.sanitizers.checks import component_labels
from focusedcleaner.scoring import aligned, score

TOP = 20
"""Edges shown with a picture."""
POINTS = 200
"""Points of a curve at most."""


def summary(run: Run, *, truth: Graph | None = None, top: int = TOP) -> dict[str, Any]:
    """Return everything that a report says about a run, as values that JSON can hold; None where there is no number.

    - ``verdict``: its status, its line and its explanation;
    - ``run``, ``description``, ``graph``: what was done, how the method works, and the graph;
    - ``before``, ``after``: edges, homophily, components and degrees of both graphs;
    - ``accuracy``, ``victims``: the first and the last round's value from the trace, None if the method has none;
    - ``degrees``, ``trace``: the data of the charts;
    - ``edges``: the first removed edges or, if none was, the first suspects, each with its evidence and its picture
      (SVG); ``classes``: the legend, of ``clusters`` where no class is known;
    - ``nodes``, ``groups``: the nodes with the most flagged edges, and the groups that the method found, if it did;
    - ``truth``: precision, CR, F1 and ESR beside the oracle's, and the hit curve; None if the truth is unknown.

    Args:
        run: the run, from `focusedcleaner.runs.read_run`.
        truth: the clean graph; it is used only for ``truth`` and the edges' ``planted``.
        top: number of edges to show.
    """
    trace, poisoned = read_trace(run.path), run.poisoned
    if not victims_described(run.record["settings"]):
        trace = {name: column for name, column in trace.items() if name not in ("victims", "victim_threshold")}
    clean = None if truth is None else aligned(truth, poisoned)
    classes, known = node_classes(run.flagged)
    named = with_cluster_names(run.flagged)
    legend = [mark(named, int(number)) for number in np.roll(np.unique(classes), -int(UNKNOWN in classes))]
    return {
        "verdict": _verdict(run),
        "run": _run(run),
        "description": describe_method(run.record),
        "graph": {
            "nodes": poisoned.num_nodes,
            "classes": poisoned.num_classes,
            "attributes": poisoned.num_attributes,
            **{part: len(getattr(poisoned.split, part, ())) for part in ("train", "val", "test")},
        },
        "before": structure(poisoned),
        "after": structure(run.graph),
        "accuracy": _first_and_last(trace.get("validation_accuracy", ())),
        "victims": _first_and_last(trace.get("victims", ())),
        "degrees": degree_bins(poisoned, run.graph),
        "trace": _trace(trace),
        "edges": _edges(run.flagged, named, classes, known, clean, top),
        "nodes": flagged_nodes(run.flagged, named, classes, clean),
        "groups": flagged_groups(run.flagged),
        "clusters": has_clusters(run.flagged),
        "classes": [asdict(one) for one in legend] if (classes != UNKNOWN).any() else [],
        "truth": None if clean is None else _truth(run, clean),
    }


def _verdict(run: Run) -> dict[str, Any]:
    verdict, estimate = run.verdict, run.estimate
    title = {"poisoned": "Poisoned", "not suitable": "Not suitable"}.get(verdict.status, verdict.headline())
    found = verdict.status == "poisoned" and estimate is not None
    return {
        **verdict.to_dict(),
        "title": title,
        "headline": readable(run.headline, 400),
        "planted": f"{round(estimate.number):,}" if found and estimate else None,
        "interval": estimate.interval[1:-1] if found and estimate else None,
        **{name: _sentence(getattr(verdict, name)) for name in ("reason", "caveat", "rule")},
    }


def _warning(text: str) -> str:
    """A warning as a sentence; the name of a file at its beginning stays as it is."""
    return f"{readable(text, 400)}." if ":" in text.partition(" ")[0] else _sentence(text)


def _sentence(text: str) -> str:
    shown = readable(text, 400)
    return f"{shown[:1].upper()}{shown[1:]}." if shown else ""


def _run(run: Run) -> dict[str, Any]:
    record = run.record
    source = {key: value for key, value in record["input"].items() if value is not None and value is not False}
    graph = source.get("graph", "a graph in memory")
    doubt = "" if run.verdict.status == "poisoned" else ", if any was planted"
    return {
        "status": record["status"],
        "method": record["method"],
        "settings": _flat(record["settings"]),
        "budget": record["budget"],
        "auto": bool(record["auto_budget"]),
        "estimate": None if run.estimate is None else f"{run.estimate}{doubt}",
        "removed": len(run.removed),
        "added": len(run.added),
        "suspects": len(run.suspects),
        "warnings": [_warning(text) for text in record["warnings"]],
        "seed": record["seed"],
        "seconds": record.get("seconds"),
        "name": readable(Path(str(graph)).name, 200),
        "input": readable(graph, 200),
        "source": {key: readable(value, 200) for key, value in source.items()},
        "versions": {key: readable(value) for key, value in record.get("versions", {}).items()},
    }


def _flat(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Flatten nested settings to names such as "detector tau"."""
    flat: dict[str, str] = {}
    for key, value in settings.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{key} ")
        else:
            flat[f"{prefix}{key}"] = "–" if value is None else readable(value)
    return flat


def structure(graph: Graph) -> dict[str, Any]:
    """Count edges, components and degrees, and measure the homophily.

    >>> structure(Graph(4, [[0, 1], [1, 2]], labels=[0, 0, 1, -1]))["homophily"]
    0.5
    """
    components, component = component_labels(graph)
    labelled = 0 if graph.labels is None else int((graph.labels[graph.edges] != UNKNOWN).all(axis=1).sum())
    return {
        "edges": graph.num_edges,
        "homophily": _number(graph.homophily) if graph.has_several_classes else None,
        "labelled_edges": labelled,
        "components": components,
        "largest_component": int(np.bincount(component).max()),
        "isolated": int((graph.degrees == 0).sum()),
        "mean_degree": float(graph.degrees.mean()),
        "largest_degree": int(graph.degrees.max()),
    }


def degree_bins(*graphs: Graph) -> dict[str, Any]:
    """Count the nodes of each graph by degree: 0, 1, … 5, 6–7, 8–15, 16–31, and so on.

    >>> degree_bins(Graph(4, [[0, 1], [1, 2]]))
    {'bins': ['0', '1', '2'], 'nodes': [[1, 2, 1]]}
    """
    largest = max(int(graph.degrees.max()) for graph in graphs)
    borders = [*range(7), 8]
    while borders[-1] <= largest:
        borders.append(2 * borders[-1])
    borders = [border for border, before in zip(borders, [0, *borders], strict=False) if before <= largest]
    names = [str(low) if high == low + 1 else f"{low}–{high - 1}" for low, high in pairwise(borders)]
    return {"bins": names, "nodes": [np.histogram(graph.degrees, borders)[0].tolist() for graph in graphs]}


def _trace(trace: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the measured columns with six digits and at most `POINTS` rows, over changed edges or else rounds."""
    edges = np.add(trace["removed"], trace.get("added", 0)).tolist() if "removed" in trace else None
    xs = trace.get("round", []) if edges is None else edges
    rows = _thinned(len(xs))
    columns = []
    for name, column in trace.items():
        values = [float(f"{column[row]:.6g}") if math.isfinite(column[row]) else None for row in rows]
        if name not in (*POSITIONS, SEARCH) and any(value is not None for value in values):
            columns.append({"name": name, "title": trace_title(name), "values": values})
    over = "rounds" if edges is None else "edges"
    searches = len(set(trace.get(SEARCH, ()))) > 1
    return {"rounds": len(xs), "over": over, "xs": [xs[row] for row in rows], "columns": columns, "searches": searches}


def _thinned(size: int) -> list[int]:
    """At most `POINTS` of so many rows, including the first and the last."""
    return sorted({round(row) for row in np.linspace(0, size - 1, min(size, POINTS))})


def _first_and_last(column: Sequence[float]) -> list[float] | None:
    return [column[0], column[-1]] if len(column) and math.isfinite(column[0] + column[-1]) else None


def _edges(
    run: Run, graph: Graph, classes: IntArray, known: BoolArray, clean: Graph | None, top: int
) -> list[dict[str, Any]]:
    adjacency, predicted = graph.adjacency(), predicted_classes(run)
    planted = None if clean is None else ~clean.has_edges(np.sort(run.removed[:top], axis=1))
    pictured = [neighbourhood(graph, u, v, most=26, adjacency=adjacency) for u, v in run.removed[:top]]
    is_near = np.zeros(graph.num_nodes, dtype=bool)
    for around in pictured:
        is_near[around.nodes] = True
    flagged = run.removed[is_near[run.removed].all(axis=1)]
    edges = []
    for row, (around, (u, v)) in enumerate(zip(pictured, run.removed, strict=False)):
        shown = classes.copy()
        if predicted is not None:
            shown[[u, v]] = np.where(known[[u, v]], classes[[u, v]], predicted[row])
        reason = why_sentence(graph, run.evidence, run.scores, row, (u, v)).replace(" %", "\N{NO-BREAK SPACE}%")
        edges.append(
            {
                "rank": row + 1,
                "u": readable(graph.name(u)),
                "v": readable(graph.name(v)),
                "score": float(run.scores[row]),
                "degrees": [int(graph.degrees[u]), int(graph.degrees[v])],
                "why": reason,
                "planted": None if planted is None else bool(planted[row]),
                "picture": drawing(graph, around, shown, known=known, flagged=flagged),
            }
        )
    return edges


def _truth(run: Run, clean: Graph) -> dict[str, Any]:
    result = score(run.removed, poisoned=run.poisoned, clean=clean)
    hits = np.concatenate([[0], np.cumsum(~clean.has_edges(np.sort(run.removed, axis=1)))])
    rows = _thinned(len(hits))
    return {
        "planted": result.attacked,
        "deleted": len(clean.added_edges(run.poisoned)),
        "removed": result.removed,
        "hits": result.hits,
        "curve": {"removed": rows, "hits": [int(hits[row]) for row in rows]},
        **{
            name: {who: _number(getattr(one, name)) for who, one in (("run", result), ("oracle", result.oracle))}
            for name in ("precision", "cr", "f1", "esr")
        },
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value

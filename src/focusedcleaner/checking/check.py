"""`check`: what a graph is, what `sanitize` would do with it, and what that rests on."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import scipy.sparse as sp

from focusedcleaner.checking import caveats
from focusedcleaner.checking.attribute_facts import AttributeFacts, attribute_facts
from focusedcleaner.checking.class_links import (
    LARGEST_MATRIX,
    ClassLabels,
    ClassLinks,
    Coverage,
    chance_homophily,
    class_labels,
    class_links,
    compatibility,
    coverage,
    edge_counts,
)
from focusedcleaner.checking.connections import connections
from focusedcleaner.checking.forecast import Forecast, forecast
from focusedcleaner.checking.page import html, sections, short_form, text
from focusedcleaner.checking.size import Size, size_of
from focusedcleaner.errors import InputError, InputWarning, recorded_warnings
from focusedcleaner.formatting import readable
from focusedcleaner.graph import PARTS, Graph, Split
from focusedcleaner.io.convert import as_graph, one_edge_type
from focusedcleaner.sanitizers import AUTO, SANITIZERS, Sanitizer, sanitizer, sanitizer_for
from focusedcleaner.sanitizers.checks import check_sanitizable, unsuitable
from focusedcleaner.sanitizers.usable_labels import usable_labels

DEFAULT = "self-attack"
COMPARED = ("agreement", "cld")
"""Methods whose forecasts are given beside that of the default."""


@dataclass(frozen=True, repr=False)
class Check:
    """What a graph is, what `sanitize` would do with it, how long that takes, and what it can't promise.

    It prints as a page of text, is a table in a notebook, and `to_dict` makes it JSON.

    >>> from focusedcleaner import check, datasets
    >>> found = check(datasets.synthetic(500, mean_degree=6.0))
    >>> found.edges, found.method, found.suitable
    (1500, 'self-attack', True)
    """

    nodes: int
    """The number of nodes."""
    edges: int
    """The number of edges, each counted once."""
    mean_degree: float
    """Edges per node, on average."""
    largest_degree: int
    """The most edges at one node."""
    components: int
    """The number of connected components."""
    largest_component: float
    """Share of the nodes in the largest component."""
    isolated_nodes: int
    """Nodes without an edge."""
    bipartite: bool
    """Whether no cycle is odd, with too many cycles for that to be chance."""
    sides: tuple[int, int] | None
    """Nodes with an edge on either side of a bipartite graph."""
    notes: Mapping[str, str]
    """Where the graph came from: the columns of its table, its direction, its source."""
    read: tuple[str, ...]
    """What was changed while the graph was read, in one sentence each."""
    attributes: int
    """The number of attributes."""
    attribute_facts: AttributeFacts | None
    """Their density, and whether linked nodes are more alike than others; None without attributes."""
    classes: int
    """The number of classes."""
    labelled_nodes: int
    """Nodes with a known class."""
    coverage: Coverage
    """Which labels are known: "none", "one class" (only nodes of a single class are marked), "some" or "all"."""
    class_labels: tuple[ClassLabels, ...]
    """The number of labelled nodes of each class."""
    split: Mapping[str, int] | None
    """Training, validation and test nodes; None where the graph has no split."""
    drawn_split: Mapping[str, int] | None
    """The split that would be drawn; None where the graph has one, or no labels to draw from."""
    homophily: float | None
    """The share of edges within a class, among the edges whose two labels are known; None where there is none."""
    chance_homophily: float | None
    """The same share if edges joined their ends by chance."""
    compatibility: tuple[tuple[float | None, ...], ...] | None
    """C × C: edges between two classes, relative to chance; None for more than 50 classes."""
    class_links: tuple[ClassLinks, ...]
    """For each class, the class that it links to most, relative to chance."""
    method: str | None
    """What "auto" would choose; None where the graph can't be sanitized."""
    method_reason: str
    """Why, in one sentence without a full stop."""
    suitable: bool
    """Whether the method would give a verdict; otherwise nothing is removed unless a budget is given."""
    chooses_budget: bool
    """Whether the method decides how many edges to remove; otherwise it ranks them."""
    forecast: Forecast | None
    """Of the method; None where it was not measured."""
    other_forecasts: tuple[Forecast, ...]
    """Of faster methods that fit the graph."""
    assumptions: tuple[str, ...]
    """What the result rests on."""
    warnings: tuple[str, ...]
    """What makes results weaker on this graph, the most serious first."""
    limits: tuple[str, ...]
    """What no result of the method can promise."""

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values."""
        fields: dict[str, Any] = asdict(self)
        if self.attribute_facts is not None:
            fields["attribute_facts"]["telling"] = self.attribute_facts.telling
        return fields

    @property
    def short_form(self) -> tuple[tuple[str, str], ...]:
        """The essence in a few lines: (what, text)."""
        return short_form(self)

    def __str__(self) -> str:
        return text(sections(self))

    def _repr_html_(self) -> str:
        return html(sections(self))

    def __repr__(self) -> str:
        parts = [f"{self.nodes:,} nodes", f"{self.edges:,} edges", f"{self.classes:,} classes", f"method {self.method}"]
        if self.forecast is not None:
            parts.append(str(self.forecast))
        if self.warnings:
            parts.append(f"{len(self.warnings)} warning{'' if len(self.warnings) == 1 else 's'}")
        return f"Check({', '.join(parts)})"


def check(data: Any, *, split: int | None = None, edge_type: Sequence[str] | None = None) -> Check:
    """Say what a graph is, which method `sanitize` would use, how long that takes, and what it can't promise.

    It takes seconds for a million edges.

    Args:
        data: whatever `sanitize` takes. What is changed while it is read is told in ``read``, not as a warning.
        split: of PyG masks with several columns, the one to use.
        edge_type: of a `HeteroData`, the edge type to look at, such as ``("user", "rates", "item")``.

    >>> from focusedcleaner.datasets import synthetic
    >>> found = check(synthetic(200))
    >>> found.nodes, found.components, found.homophily, found.method
    (200, 11, 0.8, 'self-attack')
    >>> print(found)
    Graph
      source synthetic, seed 0
      size 200 nodes, 400 edges; 4.0 edges per node on average, 26 at most
    ...
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        with recorded_warnings() as notes:
            graph = as_graph(one_edge_type(data, edge_type), split=split)
    return check_graph(graph, read=notes)


def check_graph(graph: Graph, *, method: Sanitizer | None = None, read: Sequence[str] = (), seed: int = 0) -> Check:
    """Check a graph that was read already.

    Args:
        graph: the graph.
        method: a method that was chosen by hand; None stands for the default.
        read: what was changed while the graph was read.
        seed: of the split that would be drawn.
    """
    drawn = graph.with_drawn_split(seed, hide=False)
    known, facts, joined, size = coverage(graph), attribute_facts(graph), connections(graph), size_of(drawn)
    homophily = None if math.isnan(graph.homophily) or known == "one class" else graph.homophily
    chosen, obstacle = _chosen(drawn, method)
    name = None if chosen is None else chosen.name
    cost = None if chosen is None else forecast(chosen, size, all_labels=known == "all" and graph.split is None)
    ranks = chosen is not None and not chosen.chooses_budget
    unfit = unsuitable(drawn) if name == DEFAULT else ""
    used, label_notes = usable_labels(drawn.as_seen_by_defender()) if name == DEFAULT else (drawn, [])
    left_out = known != "none" and not len(used.known_labels)
    used_coverage: Coverage = "none" if left_out else known
    counts = edge_counts(graph)
    return Check(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        mean_degree=2 * graph.num_edges / graph.num_nodes,
        largest_degree=joined.largest_degree,
        components=joined.components,
        largest_component=joined.largest_component,
        isolated_nodes=joined.isolated_nodes,
        bipartite=joined.bipartite,
        sides=joined.sides,
        notes={readable(key): readable(value, 200) for key, value in graph.notes.items()},
        read=tuple(readable(line, 1_000) for line in read),
        attributes=graph.num_attributes,
        attribute_facts=facts,
        classes=graph.num_classes,
        labelled_nodes=len(graph.known_labels),
        coverage=known,
        class_labels=class_labels(graph),
        split=_sizes(graph.split),
        drawn_split=None if drawn is graph else _sizes(used.split),
        homophily=homophily,
        chance_homophily=chance_homophily(counts),
        compatibility=_matrix(counts),
        class_links=class_links(graph, counts),
        method=name,
        method_reason=obstacle
        if chosen is None
        else _reason(chosen, known, by_hand=method is not None, split=graph.split is not None, left_out=left_out),
        suitable=chosen is not None and not unfit,
        chooses_budget=chosen is not None and not ranks,
        forecast=cost,
        other_forecasts=() if chosen is None else _other_forecasts(chosen, known, size),
        assumptions=caveats.assumptions(graph, used_coverage, ranks=ranks),
        warnings=(
            *_obstacles(obstacle, unfit),
            *(label_notes if left_out else ()),
            *caveats.warnings(graph, used if left_out else drawn, homophily, facts, cost, name),
        ),
        limits=caveats.limits(
            name, used_coverage, ranks=ranks, bipartite=joined.bipartite, split=graph.split is not None
        ),
    )


def _chosen(drawn: Graph, method: Sanitizer | None) -> tuple[Sanitizer | None, str]:
    """Return the method that would run, or why none can."""
    try:
        chosen = sanitizer_for(drawn, AUTO, {}) if method is None else method
        check_sanitizable(drawn, chosen.name, labels=chosen.needs_labels)
    except InputError as error:
        return None, str(error)
    return chosen, ""


def _reason(chosen: Sanitizer, known: Coverage, *, by_hand: bool, split: bool, left_out: bool) -> str:
    """Say why this method was chosen; ``left_out``: it does not use the labels that are known."""
    if by_hand:
        return "as asked"
    if chosen.name == "dense-blocks":
        return "the graph is bipartite; it looks for groups of accounts that share too many items, and needs no labels"
    if chosen.name != DEFAULT:
        return SANITIZERS[chosen.name].summary
    learns = "the default; it plants edges itself and learns to recognize them"
    if left_out or known == "none":
        labels = "too few labels are known" if left_out else "no label is known"
        return f"{learns}; {labels}, so clusters that it finds stand in for classes"
    stand_ins = {
        "all": "" if split else "; all labels are used, and clusters beside them",
        "one class": "; one class is marked, and unmarked nodes count as unknown, not as another class",
    }
    return learns + stand_ins.get(known, "")


def _obstacles(obstacle: str, unfit: str) -> tuple[str, ...]:
    """Say why no method can run, or why the default would give no verdict."""
    if obstacle:
        return (obstacle,)
    return (f"not suitable: {unfit}; no edge is removed unless a budget is given",) if unfit else ()


def _other_forecasts(chosen: Sanitizer, known: Coverage, size: Size) -> tuple[Forecast, ...]:
    """Forecast the methods of `COMPARED` that would run on this graph as well."""
    others = (sanitizer(name) for name in COMPARED if name != chosen.name)
    costs = (forecast(other, size) for other in others if known in ("some", "all") or not other.needs_labels)
    return tuple(cost for cost in costs if cost is not None)


def _sizes(split: Split | None) -> dict[str, int] | None:
    return None if split is None else dict(zip(PARTS, map(len, split.parts), strict=True))


def _matrix(counts: sp.csr_array) -> tuple[tuple[float | None, ...], ...] | None:
    """The compatibility matrix as JSON values, unless there are too many classes or no edges between known ones."""
    if not counts.nnz or counts.shape[0] > LARGEST_MATRIX:
        return None
    rows = compatibility(counts).tolist()
    return tuple(tuple(None if math.isnan(value) else round(value, 4) for value in row) for row in rows)

"""The functions that a user calls: sanitize a graph, check it first, register a method of one's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass, replace
from typing import Any, TypeVar

from focusedcleaner.attacks import Attack
from focusedcleaner.budget import Budget
from focusedcleaner.classifiers import Classifier
from focusedcleaner.errors import InputError, recorded_warnings
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import PARTS, Graph
from focusedcleaner.io.convert import as_graph
from focusedcleaner.io.edit import check_insertable
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Method, Progress, Registry
from focusedcleaner.sanitizers import AUTO, Sanitation, Sanitizer, default_method, sanitizer, sanitizer_for
from focusedcleaner.sanitizers.checks import (
    attribute_notes,
    check_sanitizable,
    components_and_bipartite,
    unsuitable,
)

S = TypeVar("S", bound=Sanitizer)
A = TypeVar("A", bound=Attack)
C = TypeVar("C", bound=Classifier)
T = TypeVar("T")


def sanitize(
    data: Any,
    method: str = AUTO,
    budget: Budget | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Any,
) -> Sanitation:
    """Remove the edges that an attacker most likely planted.

    Args:
        data: a PyG `Data`, a NetworkX graph, a scipy adjacency matrix, a mapping of matrices as
            `focusedcleaner.io.convert.from_scipy` takes them, or a `Graph`. It is not changed. Without a split, one is
            drawn from the labels (10 % training, 10 % validation, stratified).
        method: a sanitizer's name; "auto" takes self-attack or, beyond 200,000 edges, a ranking by cld, as the command
            line does.
        budget: how many edges may be removed: 500, 0.1, "10%", or "auto" for a method that can choose. None is "auto"
            where the method can choose and 10 % where it can't. A budget is not a finding: as many edges go from a
            clean graph.
        seed: fixes everything random.
        progress: called with (done, total) or (done, total, "round 2 of 4: random, PGD").
        **settings: the method's settings by name.

    Returns:
        The removed edges with scores and evidence, and `data`: the cleaned graph as the same kind of object. `verdict`
        says whether edges were planted: its ``status`` is "no sign", "poisoned", "uncertain" or "not suitable". The
        last two remove nothing unless a budget is given; `suspects` then lists the most suspicious edges.

    >>> import focusedcleaner as fc
    >>> result = fc.sanitize(fc.datasets.synthetic(200), "cld", budget="5%")
    >>> result
    Sanitation(cld, uncertain: 20 of 400 edges removed)
    >>> result.verdict.caveat
    '20 edges were removed because the budget says so; that is not a finding'
    >>> result.data
    Graph(200 nodes, 380 edges, 5 classes, 200 attributes)
    """
    with recorded_warnings() as notes:
        graph = as_graph(data).with_drawn_split(seed)
    chosen = sanitizer_for(graph, method, settings)
    if chosen.inserts:
        check_insertable(data, graph, chosen.name)
    result = chosen.sanitize(graph, budget, seed=seed, progress=progress)
    return replace(result, source=data, warnings=(*notes, *result.warnings))


@dataclass(frozen=True)
class Check:
    """What a graph is, what `sanitize` would do with it, and what that rests on."""

    nodes: int
    edges: int
    components: int
    isolated_nodes: int
    bipartite: bool
    """Whether no cycle is odd, with too many cycles for that to be chance."""
    attributes: int
    classes: int
    labelled_nodes: int
    split: Mapping[str, int] | None
    """Training, validation and test nodes; None where a split would be drawn."""
    homophily: float | None
    """The share of edges within a class, among the edges whose two labels are known; None where there is none."""
    method: str | None
    """What "auto" would choose; None where the graph can't be sanitized."""
    chooses_budget: bool
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        labels = "no labels"
        if self.classes:
            labels = f"{self.classes} classes, {count(self.labelled_nodes, 'labelled node')}"
        lines = [
            f"{count(self.nodes, 'node')}, {count(self.edges, 'edge')}, {count(self.components, 'component')}"
            + (", bipartite" if self.bipartite else ""),
            labels + (f"; {percent(self.homophily)} of the edges within a class" if self.homophily is not None else ""),
            f"{self.attributes:,} attributes" if self.attributes else "no attributes",
        ]
        if self.split is not None:
            lines.append("split: " + ", ".join(f"{number:,} {part}" for part, number in self.split.items()))
        if self.method is not None:
            ranks = "ranks the edges; none is removed without a budget"
            lines.append(f"method: {self.method}, which {'chooses its budget' if self.chooses_budget else ranks}")
        for title, entries in (("Assumed", self.assumptions), ("Warnings", self.warnings)):
            lines += [f"{title}:", *(f"  - {entry}" for entry in entries)] if entries else []
        return "\n".join(lines)


def check(data: Any) -> Check:
    """Say what a graph is and what `sanitize` would assume about it, without computing anything long.

    Args:
        data: whatever `sanitize` takes.

    >>> from focusedcleaner.datasets import synthetic
    >>> print(check(synthetic(200)))
    200 nodes, 400 edges, 11 components
    5 classes, 200 labelled nodes; 80.0 % of the edges within a class
    ...
    """
    graph = as_graph(data)
    components, bipartite = components_and_bipartite(graph)
    homophily = None if math.isnan(graph.homophily) else graph.homophily
    warnings = _warnings(graph, homophily)
    method = None
    try:
        drawn = graph.with_drawn_split(0)
        check_sanitizable(drawn)
    except InputError as error:
        warnings = (str(error), *warnings)
    else:
        method = default_method(graph)
        if why := unsuitable(drawn):
            warnings = (f"not suitable: {why}; no edge is removed unless a budget is given", *warnings)
    split = graph.split
    return Check(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        components=components,
        isolated_nodes=int((graph.degrees == 0).sum()),
        bipartite=bipartite,
        attributes=graph.num_attributes,
        classes=graph.num_classes,
        labelled_nodes=len(graph.known_labels),
        split=None if split is None else dict(zip(PARTS, map(len, split.parts), strict=True)),
        homophily=homophily,
        method=method,
        chooses_budget=method is not None and sanitizer(method).chooses_budget,
        assumptions=_assumptions(graph),
        warnings=warnings,
    )


def _assumptions(graph: Graph) -> tuple[str, ...]:
    assumed = ["edges are undirected and unweighted, and most join nodes of one class"]
    if graph.split is None and len(graph.known_labels):
        hidden = "; the labels of the other 80 % are hidden" if len(graph.known_labels) == graph.num_nodes else ""
        assumed.append(f"a random split is drawn: 10 % of the nodes train, 10 % validate{hidden}")
    return tuple(assumed)


def _warnings(graph: Graph, homophily: float | None) -> tuple[str, ...]:
    """What makes results weaker, in one sentence each."""
    found = []
    if homophily is not None and homophily < 0.5:
        found.append("most edges with known labels join different classes: rankings and counts are weak on such graphs")
    if graph.attributes is None:
        found.append("without attributes, results are weaker")
    return (*found, *attribute_notes(graph))


def register_sanitizer(kind: type[S], *, about: str = "") -> type[S]:
    """Make a sanitizer available by its ``name`` to `sanitize`, the transform and `focusedcleaner.sanitizer`.

    Args:
        kind: a dataclass derived from `focusedcleaner.Sanitizer` or `focusedcleaner.Filter`; its fields are settings.
        about: one line for the list of methods; by default the docstring's first line.

    Returns:
        The class itself, so that this works as a decorator.
    """
    return _register(SANITIZERS, kind, Sanitizer, about)


def register_attack(kind: type[A], *, about: str = "") -> type[A]:
    """Make an attack available by its ``name`` to `focusedcleaner.attack`; see `register_sanitizer`."""
    return _register(ATTACKS, kind, Attack, about)


def register_classifier(kind: type[C], *, about: str = "") -> type[C]:
    """Make a node classifier available by its ``name`` to `focusedcleaner.classifier`; see `register_sanitizer`."""
    return _register(CLASSIFIERS, kind, Classifier, about)


def _register(registry: Registry[Any], kind: type[T], base: type, about: str) -> type[T]:
    if not (isinstance(kind, type) and issubclass(kind, base) and is_dataclass(kind)):
        raise InputError(f"{kind!r} is not a dataclass derived from {base.__name__}")
    name = getattr(kind, "name", None)
    if not isinstance(name, str) or not name or name == AUTO:
        raise InputError(f"{kind.__name__} needs a class attribute `name`, other than {AUTO!r}")
    registry.register(Method(name, kind, about=about))
    return kind

"""The functions that a user calls: sanitize a graph, check it first, register a method of one's own."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from focusedcleaner.attacks import Attack
from focusedcleaner.budget import Budget
from focusedcleaner.checking import Check as Check
from focusedcleaner.checking import check as check
from focusedcleaner.classifiers import Classifier
from focusedcleaner.engine.parallel import checked_threads
from focusedcleaner.errors import InputError, InputWarning, recorded_warnings
from focusedcleaner.io.convert import as_graph, one_edge_type
from focusedcleaner.io.edit import check_insertable
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Method, Progress, Registry
from focusedcleaner.sanitizers import AUTO, Sanitation, Sanitizer, check_offers, sanitizer, sanitizer_for

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
    progress: Progress | bool | None = None,
    scores: bool = False,
    soft: bool = False,
    split: int | None = None,
    edge_type: Sequence[str] | None = None,
    threads: int | None = None,
    **settings: Any,
) -> Sanitation:
    """Remove the edges that an attacker most likely planted.

    Args:
        data: a PyG `Data` or `HeteroData`, a NetworkX graph, a scipy adjacency matrix, a mapping of matrices as
            `focusedcleaner.io.convert.from_scipy` takes them, or a `Graph`. It is not changed. Without a split, all
            known labels are used for training and validation; of masks that are partly missing, the rest is drawn.
        method: a sanitizer's name; "auto" takes self-attack or, for a bipartite graph, dense-blocks, as on the command
            line.
        budget: how many edges may be removed: 500, 0.1, "10%", or "auto" for a method that can choose. None is "auto"
            where the method can choose and 10 % where it can't. A budget is not a finding: as many edges go from a
            clean graph.
        seed: fixes everything random.
        progress: True for a bar, on a terminal or in a notebook; or called with (done, total) or (done, total,
            "round 2 of 4: random, PGD").
        scores: insist on a score of every edge, `Sanitation.edge_scores` and ``to_frame(all_edges=True)``. Methods that
            work in rounds score only what they remove and are refused.
        soft: remove nothing; weight each edge by 1 − its probability of being planted, in `Sanitation.data` and
            `Sanitation.edge_weights`. All weights are 1 unless the verdict is "poisoned". Methods that give no
            probabilities are refused.
        split: of PyG masks with several columns, the one to use.
        edge_type: of a `HeteroData`, the edge type to clean, such as ``("user", "rates", "item")``.
        threads: number of threads; None takes every core. The result is the same for any number.
        **settings: the method's settings by name.

    Returns:
        The removed edges with scores and evidence, and `data`: the cleaned graph as the same kind of object. `verdict`
        says whether edges were planted: its ``status`` is "no sign", "poisoned", "uncertain" or "not suitable". The
        last two remove nothing unless a budget is given; `suspects` then lists the most suspicious edges.

    Warns:
        InputWarning: the input was changed or completed (the texts are in `Sanitation.warnings`), or the verdict is
            "not suitable" or, where no budget was given, "uncertain".

    >>> import focusedcleaner as fc
    >>> result = fc.sanitize(fc.datasets.synthetic(200), "cld", budget="5%")
    >>> result
    Sanitation(cld, uncertain: 20 of 400 edges removed)
    >>> result.verdict.caveat
    '20 edges were removed because the budget says so; that is not a finding'
    >>> result.data
    Graph(200 nodes, 380 edges, 5 classes, 200 attributes)
    """
    result = run_sanitizer(
        data,
        method,
        budget,
        settings,
        seed=seed,
        progress=progress,
        scores=scores,
        soft=soft,
        split=split,
        edge_type=edge_type,
        threads=threads,
    )
    if result.status == "not suitable" or (result.status == "uncertain" and budget is None):
        warnings.warn(result.summary, InputWarning, stacklevel=2)
    return result


def run_sanitizer(
    data: Any,
    method: str,
    budget: Budget | None,
    settings: Mapping[str, Any],
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
    scores: bool = False,
    soft: bool = False,
    split: int | None = None,
    edge_type: Sequence[str] | None = None,
    threads: int | None = None,
) -> Sanitation:
    """Do what `sanitize` does, without a warning about the verdict."""
    checked_threads(threads)
    if method != AUTO:
        check_offers(sanitizer(method, **settings), scores=scores, soft=soft, budget=budget)
    source = one_edge_type(data, edge_type)
    with recorded_warnings() as notes:
        graph = as_graph(source, split=split, seed=seed).with_drawn_split(seed, hide=False)
    chosen = sanitizer_for(graph, method, settings)
    check_offers(chosen, scores=scores, soft=soft, budget=budget)
    if chosen.inserts:
        check_insertable(source, graph, chosen.name)
    result = chosen.sanitize(graph, budget, seed=seed, progress=progress, threads=threads)
    result = replace(result, source=source, warnings=(*notes, *result.warnings))
    return result.softened() if soft else result


def register_sanitizer(kind: type[S], *, about: str = "") -> type[S]:
    """Make a sanitizer available by its ``name`` to `sanitize`, the transform and `focusedcleaner.sanitizer`.

    Args:
        kind: a dataclass derived from `focusedcleaner.Sanitizer` or `focusedcleaner.Filter`; its fields are settings.
        about: one line for the list of methods; by default the docstring's first line.

    Returns:
        The class itself, so that this works as a decorator.

    The page "Add your own" has a complete example of each kind.
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

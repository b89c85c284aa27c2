"""Every registered method on every odd graph: a sound result or one line, never another exception."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch

from focusedcleaner.attacks import Attack
from focusedcleaner.classifiers.base import NetworkClassifier
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.registry import ATTACKS, CLASSIFIERS, SANITIZERS, Registry
from focusedcleaner.restore import missing_edges
from focusedcleaner.sanitizers import Sanitizer
from tests.hostile.child import in_child
from tests.hostile.odd_graphs import ODD_GRAPHS, base, star, with_attributes

QUICK: dict[str, dict[str, Any]] = {
    "cld": {"edges_per_round": 8, "first_epochs": 5},
    "lp": {"edges_per_round": 8, "first_epochs": 5},
    "focused-none": {"edges_per_round": 8},
    "focused-ensemble": {"edges_per_round": 20},
    "focused-self-attack": {"edges_per_round": 20, "rounds": 1, "trees": 3, "attackers": "dice"},
    "self-attack": {"rounds": 1, "trees": 3, "attackers": "targeted,dice,random"},
    "gasoline": {"folds": 2, "edges_per_round": 10},
    "gasoline-d": {"folds": 2, "edges_per_round": 10},
    "linkpred": {"edges_per_round": 8, "first_epochs": 5},
    "maskgvae": {"rounds": 1, "partition_epochs": 3, "autoencoder_epochs": 3},
    "svd": {"rank": 5},
    "minmax": {"iterations": 3, "samples": 2},
    "pgd": {"iterations": 3, "samples": 2},
    "prbcd": {"epochs": 2, "block_size": 1000},
    "grbcd": {"epochs": 2, "block_size": 1000},
    "lrbcd": {"epochs": 2, "block_size": 1000},
    "meta-pgd": {"iterations": 3, "samples": 2},
    "adaptive": {"steps": 1, "pool": 2, "learns": 1, "against": "agreement"},
}
"""Settings with which a method takes a fraction of a second."""
POWER = 4
"""Edges that an attack may flip; it grows with the budget."""
SLOW = {"self-attack", "focused-self-attack", "focused-ensemble", "gasoline", "adaptive", "prbcd", "grbcd", "lrbcd"}
"""Methods that see every sixth odd graph in the short form; the others see every second."""


def budget_of(graph: Graph) -> int:
    return max(1, graph.num_edges // 10)


def check_sanitizer(method: Sanitizer, graph: Graph) -> None:
    found = method.sanitize(graph, budget_of(graph))
    assert len(found.removed) + len(found.added) <= found.budget == budget_of(graph)
    assert np.isfinite(found.scores).all()
    assert np.isfinite(found.added_scores).all()
    assert len(found.scores) == len(found.removed)
    assert graph.has_edges(found.removed).all()
    assert not graph.has_edges(found.added).any()
    for pairs in (found.removed, found.added):
        assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert (found.graph.degrees[graph.degrees > 0] > 0).all()


def check_attack(method: Attack, graph: Graph) -> None:
    done = method.poison(graph, min(POWER, graph.num_edges))
    assert len(done.added) + len(done.removed) <= POWER
    assert graph.has_edges(done.removed).all()
    assert not graph.has_edges(done.added).any()
    assert (done.graph.degrees[graph.degrees > 0] > 0).all()


def check_classifier(method: NetworkClassifier, graph: Graph) -> None:
    scores = method.fit(graph).scores(graph)
    assert scores.shape == (graph.num_nodes, graph.num_classes)
    assert torch.isfinite(scores).all()


Check = Callable[[Any, Graph], None]
KINDS: list[tuple[Registry[Any], Check]] = [
    (SANITIZERS, check_sanitizer),
    (ATTACKS, check_attack),
    (CLASSIFIERS, check_classifier),
]
METHODS = [(registry, name, check) for registry, check in KINDS for name in registry.names()]
every_method = pytest.mark.parametrize(
    ("registry", "name", "check"), METHODS, ids=[f"{registry.what}-{name}" for registry, name, _ in METHODS]
)


def survives(method: Any, graph: Graph, check: Check) -> bool:
    """Check a method on a graph; whether it took the graph. The graph stays what it was, and a refusal is one line."""
    before, refusal = graph.fingerprint(), ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            check(method, graph)
    except InputError as error:
        refusal = str(error)
    assert graph.fingerprint() == before
    assert len(refusal.splitlines()) <= 1
    return not refusal


def quick(registry: Registry[Any], name: str) -> Any:
    settings = {"epochs": 2} if registry is CLASSIFIERS else QUICK.get(name, {})
    return registry.make(name, **settings)


@pytest.mark.slow
@every_method
def test_every_method_on_every_odd_graph(registry: Registry[Any], name: str, check: Check) -> None:
    step = 6 if name in SLOW else 2
    makers = list(ODD_GRAPHS.values())[METHODS.index((registry, name, check)) % step :: step]  # together, they see all
    taken = [survives(quick(registry, name), make(), check) for make in makers]
    assert sum(taken) > len(taken) / 2


@pytest.mark.campaign
def test_every_method_at_its_default_settings(figures: Callable[..., None]) -> None:
    graphs = [make() for make in ODD_GRAPHS.values()]
    taken = [survives(registry.make(name), graph, check) for registry, name, check in METHODS for graph in graphs]
    figures("odd-graphs", graphs=len(graphs), methods=len(METHODS), runs=len(taken), refused=len(taken) - sum(taken))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(0, len(ODD_GRAPHS), 4))
def test_missing_edges_of_odd_graphs(number: int) -> None:
    graph = list(ODD_GRAPHS.values())[number]()

    def check(_: None, graph: Graph) -> None:
        found = missing_edges(graph, min(5, graph.num_edges), repeats=1, trees=3)
        assert np.isfinite(found.scores).all()
        assert not graph.has_edges(found.pairs).any()

    survives(None, graph, check)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agreement", "jaccard", "cosine", "random"])
def test_a_hub_does_not_fill_the_memory(name: str) -> None:
    graph = star(8_000)
    outcome = in_child(lambda: check_sanitizer(SANITIZERS.make(name), graph), seconds=60, megabytes=600)
    assert outcome.code == 0, outcome.err


@pytest.mark.campaign
@pytest.mark.parametrize("name", ["agreement", "cld", "lp", "linkpred", "jaccard", "cosine", "svd", "random"])
def test_a_star_with_50_000_leaves(name: str) -> None:
    graph = star(50_000)
    outcome = in_child(lambda: check_sanitizer(SANITIZERS.make(name), graph), seconds=600, megabytes=1024)
    assert outcome.code == 0, outcome.err


Answer = set[tuple[int, ...]]


def answer(registry: Registry[Any], name: str, graph: Graph, nodes: IntArray | None = None) -> Answer:
    """What a method makes of a graph with these node numbers: removed or flipped pairs, or predicted classes."""
    nodes = np.arange(graph.num_nodes) if nodes is None else nodes
    method = quick(registry, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        if registry is CLASSIFIERS:
            predicted = method.fit(graph, seed=3).predict(graph)
            return set(zip(nodes.tolist(), predicted.tolist(), strict=True))
        done = method.sanitize(graph, 12, seed=3) if registry is SANITIZERS else method.poison(graph, POWER, seed=3)
    pairs = np.sort(nodes[np.concatenate([done.removed, done.added])], axis=1)
    return {tuple(pair) for pair in pairs.tolist()}


@cache
def first_answer(registry: Registry[Any], name: str, make: Callable[[], Graph] = base) -> Answer:
    """What a method makes of a graph, in one thread and for all tests."""
    return answer(registry, name, make())


each_method = pytest.mark.parametrize(
    ("registry", "name"),
    [
        pytest.param(registry, name, id=f"{registry.what}-{name}", marks=pytest.mark.slow)
        for registry, name, _ in METHODS
    ],
)


def in_units(graph: Graph, scale: np.ndarray | float) -> Graph:
    assert graph.attributes is not None
    return replace(graph, attributes=graph.attributes.toarray() * scale)


def whole_numbers() -> Graph:
    """The base graph with dense and sparse columns of whole numbers, whose products with units are exact."""
    rng = np.random.default_rng(5)
    return with_attributes(lambda x: np.where(np.arange(x.shape[1]) % 3, x * rng.integers(1, 90, x.shape), x))


@each_method
@pytest.mark.parametrize("make", [base, whole_numbers])
def test_units_of_attributes_change_nothing(registry: Registry[Any], name: str, make: Callable[[], Graph]) -> None:
    graph = make()
    scales = np.where(np.arange(graph.num_attributes) == 1, 3600.0, 1000.0)
    assert answer(registry, name, in_units(graph, scales)) == first_answer(registry, name, make)


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads")
@each_method
def test_the_number_of_threads_changes_nothing(registry: Registry[Any], name: str) -> None:
    expected = first_answer(registry, name)
    torch.set_num_threads(2)
    assert answer(registry, name, base()) == expected


IN_A_NEW_PROCESS = """
from tests.hostile.odd_graphs import base
from tests.hostile.test_odd_graphs import METHODS, answer
print([sorted(answer(registry, name, base())) for registry, name, _ in METHODS])
"""


@pytest.mark.slow
def test_hash_seed_and_locale_change_nothing() -> None:
    expected = str([sorted(first_answer(registry, name)) for registry, name, _ in METHODS])
    environment = {**os.environ, "PYTHONHASHSEED": "77", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}
    command = [sys.executable, "-c", IN_A_NEW_PROCESS]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == expected


def with_names() -> Graph:
    graph = base()
    return replace(graph, names=tuple(f"node {number}" for number in range(graph.num_nodes)))


def renumbered(graph: Graph, order: IntArray) -> Graph:
    """The same graph whose node ``order[i]`` is called i."""
    place = np.argsort(order)
    assert graph.split is not None
    assert graph.attributes is not None
    assert graph.labels is not None
    return Graph.from_pairs(
        graph.num_nodes,
        place[graph.edges],
        attributes=graph.attributes[order],
        labels=graph.labels[order],
        split=Split(*(place[part] for part in graph.split.parts)),
        class_names=graph.class_names,
        names=None if graph.names is None else [graph.names[node] for node in order],
    )


@each_method
@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
def test_renumbering_the_nodes_changes_nothing(registry: Registry[Any], name: str, named: bool) -> None:
    make = with_names if named else base
    order = np.random.default_rng(1).permutation(make().num_nodes)
    assert answer(registry, name, renumbered(make(), order), order) == first_answer(registry, name, make)

"""The contract that every registered sanitizer keeps, and its budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io.convert import to_networkx, to_pyg
from focusedcleaner.sanitizers import SANITIZERS, Interrupted, Jaccard, sanitizer
from focusedcleaner.sanitizers.checks import removable
from focusedcleaner.scoring import score
from focusedcleaner.verdict import Estimate, Verdict
from tests.sanitizers.helpers import QUICK, Chooser
from tests.strategies import labelled_graphs

pytestmark = pytest.mark.slow

SENSIBLE: dict[str, dict[str, Any]] = {
    "agreement": {},
    "cosine": {},
    "gasoline-d": {"folds": 2},
    "jaccard": {},
    "linkpred": {"edges_per_round": 20},
    "maskgvae": {"rounds": 1},
    "svd": {"rank": 3},
}
"""Settings of the filters and rivals for a graph of three classes."""
NEED_ATTRIBUTES = {"jaccard", "cosine"}


@pytest.mark.filterwarnings("ignore::focusedcleaner.errors.InputWarning")
@pytest.mark.parametrize("name", SANITIZERS.names())
@settings(deadline=None, max_examples=5, suppress_health_check=[HealthCheck.filter_too_much])
@given(graph=labelled_graphs(min_nodes=8), share=st.floats(0.05, 0.5), seed=st.integers(0, 5))
def test_every_sanitizer_keeps_the_contract(name: str, graph: Graph, share: float, seed: int) -> None:
    cleaner = sanitizer(name, **QUICK.get(name, {}))
    allowed = int(share * graph.num_edges + 1e-9)
    wrong_budget = allowed < 1 or (allowed > removable(graph) and not cleaner.inserts)
    if wrong_budget or (name in NEED_ATTRIBUTES and graph.attributes is None):
        with pytest.raises(InputError):
            cleaner.sanitize(graph, share, seed=seed)
        return
    before = graph.fingerprint()
    found = cleaner.sanitize(graph, share, seed=seed)
    assert graph.fingerprint() == before
    assert len(found.removed) + len(found.added) <= found.budget == allowed
    gone, new = (Graph.from_pairs(graph.num_nodes, pairs) for pairs in (found.removed, found.added))
    assert (gone.num_edges, new.num_edges) == (len(found.removed), len(found.added))
    assert np.isin(gone.edge_keys, graph.edge_keys).all()
    assert not np.isin(new.edge_keys, graph.edge_keys).any()
    assert found.graph.num_edges == graph.num_edges - gone.num_edges + new.num_edges
    assert (found.graph.degrees[graph.degrees > 0] > 0).all()
    assert all(len(column) == len(found.removed) for column in (found.scores, *found.evidence.values()))
    assert len(found.added_scores) == len(found.added)
    assert (found.auto, found.method) == (False, name)
    others = cleaner.sanitize(with_other_test_labels(graph), share, seed=seed)
    for one, other in ((found.removed, others.removed), (found.added, others.added), (found.scores, others.scores)):
        assert np.array_equal(one, other)


def with_other_test_labels(graph: Graph) -> Graph:
    assert graph.labels is not None
    assert graph.split is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = (labels[graph.split.test] + 1) % graph.num_classes
    return replace(graph, labels=labels)


@pytest.mark.parametrize("name", SENSIBLE)
def test_each_rival_is_better_than_chance(name: str, clean: Graph, poisoned: Graph) -> None:
    found = sanitizer(name, **SENSIBLE[name]).sanitize(poisoned, "10%", seed=0)
    value = score(found.removed, poisoned=poisoned, clean=clean)
    by_chance = value.removed * value.attacked / poisoned.num_edges
    assert value.hits > 1.3 * by_chance


@pytest.mark.parametrize("name", SANITIZERS.names())
def test_progress_ends_at_the_budget(name: str, poisoned: Graph) -> None:
    seen: list[tuple[int, int]] = []
    cleaner = sanitizer(name, **QUICK.get(name, {}))
    done = cleaner.sanitize(poisoned, 12, progress=lambda part, whole, stage="": seen.append((part, whole)))
    rounds = len(next(iter(done.trace.values())))
    counts_rounds = name in ("self-attack", "dense-blocks")  # and one more: for the harm, or for random graphs
    whole = rounds + 1 if counts_rounds else 12
    assert seen[-1] == (whole, whole)
    assert seen == sorted(seen)
    assert {len(column) for column in done.trace.values()} == {len(seen) - 2 if counts_rounds else len(seen)}


@pytest.mark.parametrize(
    ("name", "wrong", "message"),
    [
        ("svd", {"rank": 0}, r"rank must lie in \[1, 10000\], not 0"),
        ("agreement", {"left_out": 1.5}, r"left_out must lie in \[0, 1\], not 1.5"),
        ("agreement", {"inverse_decay": 0}, "inverse_decay must be above 0, not 0"),
        ("maskgvae", {"clusters": 1}, r"clusters must lie in \[2, 10000\], not 1"),
        ("maskgvae", {"rounds": 0}, r"rounds must lie in \[1, 1000\], not 0"),
        ("gasoline", {"folds": 0}, r"folds must lie in \[1, 1000\], not 0"),
        ("gasoline-d", {"edges_per_round": 0}, "edges_per_round must be 1 or above, not 0"),
        ("linkpred", {"edges_per_round": 0}, "edges_per_round must be 1 or above, not 0"),
        ("jaccard", {"threshold": "low"}, "threshold must be a number or none, not 'low'"),
    ],
)
def test_wrong_settings_are_refused(name: str, wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        sanitizer(name, **wrong)


@pytest.mark.parametrize("name", [name for name in SANITIZERS.names() if not sanitizer(name).chooses_budget])
def test_methods_that_cannot_choose_a_budget_name_those_that_can(name: str, graph: Graph) -> None:
    with pytest.raises(InputError, match=rf"^{name} can't choose its budget: .*jaccard and cosine with a threshold"):
        sanitizer(name).sanitize(graph, "auto")


def test_the_default_budget(graph: Graph) -> None:
    plain, chosen = Jaccard().sanitize(graph), Jaccard(threshold=0.0).sanitize(graph)
    assert (plain.auto, plain.budget, len(plain.removed)) == (False, 30, 30)
    assert (chosen.auto, chosen.budget) == (True, len(chosen.removed))
    assert chosen.removed.tolist() == Jaccard(threshold=0.0).sanitize(graph, " Auto ").removed.tolist()


def test_a_chosen_budget_is_the_number_of_removed_edges(graph: Graph) -> None:
    assert (Chooser().sanitize(graph).budget, Chooser().sanitize(graph).auto) == (7, True)
    with pytest.raises(Interrupted) as stop:
        Chooser(interrupted=True).sanitize(graph, "auto")
    assert (stop.value.sanitation.budget, stop.value.sanitation.auto) == (7, True)


def test_the_result_prints_as_one_short_line(graph: Graph) -> None:
    sanitation = Jaccard().sanitize(graph, 30)
    assert repr(sanitation) == "Sanitation(jaccard, uncertain: 30 of 300 edges removed)"
    found = Verdict("poisoned", "a clean graph would get 30 flags"), Estimate(1428.4, 1400, 1500)
    estimated = replace(sanitation, method="self-attack", added=graph.edges[:2], verdict=found[0], estimate=found[1])
    assert repr(estimated) == "Sanitation(self-attack, poisoned: 30 of 300 edges removed, 2 added, about 1,428 planted)"


def test_graphs_of_other_libraries_are_accepted(graph: Graph) -> None:
    expected = Jaccard().sanitize(graph, 10).removed.tolist()
    for data in (to_pyg(graph), to_networkx(graph)):
        assert Jaccard().sanitize(data, 10).removed.tolist() == expected
    with pytest.raises(InputError, match="the graph has no attributes"):
        Jaccard().sanitize(graph.adjacency(), 10)
    with pytest.raises(InputError):
        Jaccard().sanitize("graph.npz", 10)

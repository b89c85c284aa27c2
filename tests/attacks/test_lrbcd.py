"""LRBCD: the greedy filling, the budgets at every node, and the guarantees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import LRBCD, attack, rbcd_victim
from focusedcleaner.attacks.lrbcd import fill_greedily
from focusedcleaner.graph import Graph
from tests.attacks.promises import check_harm, check_promises
from tests.strategies import labelled_graphs


@pytest.fixture(autouse=True, scope="module")
def short_training() -> Iterator[None]:
    """Attack a victim of 20 epochs, which is as good a target for what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rbcd_victim, "EPOCHS", 20)
        yield


def at_nodes(pairs: np.ndarray, values: np.ndarray, num_nodes: int) -> np.ndarray:
    return np.bincount(pairs.ravel(), np.tile(values, 2), minlength=num_nodes)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(-1, 2), min_size=15, max_size=15), st.integers(1, 8), st.booleans(), st.integers(0, 1000))
def test_filling_keeps_to_all_budgets_and_wastes_none(
    given_values: list[float], budget: int, whole: bool, seed: int
) -> None:
    values, pairs = np.array(given_values), np.stack(np.triu_indices(6, 1))
    local = np.random.default_rng(seed).integers(0, 4, 6).astype(float)
    filled = fill_greedily(values, pairs, local, budget, whole=whole)
    wanted = values.clip(0, 1)
    assert (filled >= 0).all()
    assert (filled <= wanted).all()
    assert filled.sum() <= budget + 1e-9
    used = at_nodes(pairs, filled, 6)
    assert (used <= local + 1e-9).all()
    if whole:
        assert set(filled.tolist()) <= {0.0, 1.0}
        return
    slack = np.minimum(local[pairs[0]] - used[pairs[0]], local[pairs[1]] - used[pairs[1]])
    short = wanted - filled > 1e-9
    assert (slack[short] <= 1e-9).all() or filled.sum() >= budget - 1e-9


@pytest.mark.parametrize("method", [LRBCD(50, 5, share=0.5), LRBCD(50, 5, share=0.3, least=1)], ids=str)
@settings(deadline=None, max_examples=6)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(method: LRBCD, graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    poisoning = check_promises(method, graph, power, seed)
    flips = np.concatenate([poisoning.added, poisoning.removed])
    assert (np.bincount(flips.ravel(), minlength=graph.num_nodes) <= method.local_budgets(graph)).all()


def test_it_does_harm() -> None:
    check_harm(LRBCD(5000, 30))


def test_settings() -> None:
    assert attack("lrbcd", share="0.25", least="1") == LRBCD(share=0.25, least=1)

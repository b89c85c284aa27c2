"""The block attacks, on PyTorch Geometric's implementation."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from focusedcleaner.attacks import GRBCD, PRBCD, Attack, rbcd_victim
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from tests.attacks.promises import check_harm, check_promises
from tests.strategies import labelled_graphs


@pytest.fixture(autouse=True, scope="module")
def short_training() -> Iterator[None]:
    """Attack a victim of 20 epochs, which is as good a target for what is tested here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rbcd_victim, "EPOCHS", 20)
        yield


@pytest.mark.parametrize(
    "attack",
    [PRBCD(block_size=50, epochs=5), GRBCD(block_size=50, epochs=5)],
    ids=lambda attack: f"{attack.name}-{getattr(attack, 'loss', '')}",
)
@settings(deadline=None, max_examples=6)
@given(graph=labelled_graphs(), power=st.floats(0.2, 0.9), seed=st.integers(0, 1000))
def test_promises(attack: Attack, graph: Graph, power: float, seed: int) -> None:
    assume(power * graph.num_edges >= 1)
    check_promises(attack, graph, power, seed)


@pytest.mark.parametrize("attack", [PRBCD(5000, 30), GRBCD(5000, 30)])
def test_they_do_harm(attack: Attack) -> None:
    check_harm(attack)


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match=r"block_size must lie in \[1, 10000000\]"):
        PRBCD(block_size=0)


def test_a_graph_of_training_nodes_only_is_refused() -> None:
    graph = synthetic(30, seed=0)
    everyone = Split(np.arange(30), [], [])
    with pytest.raises(InputError, match="nodes outside the training set"):
        PRBCD().poison(graph.with_split(everyone), 3)


@pytest.mark.parametrize("attack", [PRBCD(), GRBCD()])
def test_a_graph_with_too_few_pairs_is_refused(attack: Attack) -> None:
    triangle = Graph(3, [[0, 1], [0, 2], [1, 2]], labels=[0, 1, 1], split=Split([0, 1], [], [2]))
    with pytest.raises(InputError, match="the graph's 3 pairs are too few for 1 flip: lower the power"):
        attack.poison(triangle, 1)

"""The guarantees of every attack, whatever it optimizes."""

from __future__ import annotations

import numpy as np

from focusedcleaner.attacks import Attack, Poisoning
from focusedcleaner.budget import Budget
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph, pair_keys
from focusedcleaner.surrogate import Surrogate


def check_promises(attack: Attack, graph: Graph, power: Budget, seed: int, *, isolates: bool = False) -> Poisoning:
    """Attack twice: the input unchanged, new pairs within the budget, no node isolated, the same result."""
    before = graph.fingerprint()
    poisoning = attack.poison(graph, power, seed=seed)
    assert graph.fingerprint() == before
    added, removed = poisoning.added, poisoning.removed
    flips = np.concatenate([added, removed])
    assert len(flips) <= poisoning.budget
    assert len(np.unique(pair_keys(flips, graph.num_nodes))) == len(flips)
    assert (flips[:, 0] < flips[:, 1]).all()
    assert not graph.has_edges(added).any()
    assert graph.has_edges(removed).all()
    bare = graph.without_edges(removed)
    assert isolates or ((bare.degrees > 0) == (graph.degrees > 0)).all()
    assert poisoning.graph.num_edges == graph.num_edges + len(added) - len(removed)
    assert poisoning.graph.split == graph.split
    again = attack.poison(graph, power, seed=seed)
    np.testing.assert_array_equal(again.added, added)
    np.testing.assert_array_equal(again.removed, removed)
    return poisoning


def check_harm(attack: Attack) -> None:
    """The surrogate predicts worse after the attack, which reports its progress up to the budget."""
    graph = synthetic(300, seed=0)

    def accuracy(poisoned: Graph) -> float:
        predicted = Surrogate(poisoned).fit().logits.argmax(1).numpy()
        return float((predicted == graph.labels).mean())

    calls: list[tuple[int, int]] = []
    poisoned = attack.poison(graph, "20%", progress=lambda done, of, stage="": calls.append((done, of))).graph
    assert accuracy(poisoned) < accuracy(graph) - 0.05
    assert calls[-1] == (120, 120)

"""How good a sanitation was, given the truth: ESR, F1, CR beside the oracle's, and victim-detection AUC."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import roc_auc_score

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph


@dataclass(frozen=True)
class Score:
    """Counts and ratios of removed edges S_san against planted edges S_atk; ratios lie in [0, 1], NaN for 0/0."""

    attacked: int
    """|S_atk|: the planted edges."""
    removed: int
    """|S_san|: the removed edges."""
    hits: int
    """|S_atk ∩ S_san|."""

    @property
    def esr(self) -> float:
        """Effective sanitation ratio |S_atk ∩ S_san| / |S_atk ∪ S_san| (Eq. 2)."""
        return _ratio(self.hits, self.attacked + self.removed - self.hits)

    @property
    def f1(self) -> float:
        """2|S_atk ∩ S_san| / (|S_atk| + |S_san|) (Eq. 3)."""
        return _ratio(2 * self.hits, self.attacked + self.removed)

    @property
    def cr(self) -> float:
        """Coverage ratio |S_atk ∩ S_san| / |S_atk| (Eq. 17)."""
        return _ratio(self.hits, self.attacked)

    @property
    def oracle_esr(self) -> float:
        """What knowing the truth would give with as many removals: min(|S_san|, |S_atk|) / max(|S_san|, |S_atk|)."""
        return _ratio(min(self.removed, self.attacked), max(self.removed, self.attacked))


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")


def score(removed: ArrayLike, *, poisoned: Graph, clean: Graph) -> Score:
    """Compare removed edges (R × 2) with the edges that the poisoned graph has and the clean one has not.

    >>> clean = Graph(4, [[0, 1], [2, 3]])
    >>> poisoned = Graph(4, [[0, 1], [0, 2], [1, 3], [2, 3]])
    >>> found = score([[0, 2], [2, 3]], poisoned=poisoned, clean=clean)
    >>> found.hits, found.attacked, round(found.esr, 3), found.f1, found.oracle_esr
    (1, 2, 0.333, 0.5, 1.0)
    """
    if poisoned.num_nodes != clean.num_nodes:
        raise InputError(
            f"the truth has {clean.num_nodes:,} nodes and the graph {poisoned.num_nodes:,}: they can't be compared"
        )
    gone = Graph.from_pairs(poisoned.num_nodes, removed)
    if not np.isin(gone.edge_keys, poisoned.edge_keys).all():
        raise InputError("an edge that was removed is not in the poisoned graph")
    planted = ~np.isin(poisoned.edge_keys, clean.edge_keys)
    hits = np.isin(gone.edge_keys, poisoned.edge_keys[planted])
    return Score(int(planted.sum()), gone.num_edges, int(hits.sum()))


@dataclass(frozen=True)
class Restored:
    """Proposed edges against those that the attacker removed; ratios lie in [0, 1], NaN for 0/0."""

    cut: int
    """The edges that the clean graph has and the poisoned one has not."""
    proposed: int
    hits: int
    """Proposals that the attacker had removed."""

    @property
    def precision(self) -> float:
        """hits / proposed."""
        return _ratio(self.hits, self.proposed)

    @property
    def recall(self) -> float:
        """hits / cut."""
        return _ratio(self.hits, self.cut)


def score_restored(proposed: ArrayLike, *, poisoned: Graph, clean: Graph) -> Restored:
    """Compare proposed edges (M × 2) with those that the clean graph has and the poisoned one has not.

    >>> clean, poisoned = Graph(4, [[0, 1], [1, 2], [2, 3]]), Graph(4, [[0, 1]])
    >>> found = score_restored([[1, 2], [0, 3]], poisoned=poisoned, clean=clean)
    >>> found.hits, found.cut, found.precision, found.recall
    (1, 2, 0.5, 0.5)
    """
    cut = Graph(clean.num_nodes, clean.added_edges(poisoned))
    pairs = Graph.from_pairs(clean.num_nodes, proposed)
    return Restored(cut.num_edges, pairs.num_edges, int(np.isin(pairs.edge_keys, cut.edge_keys).sum()))


def aligned(truth: Graph, graph: Graph) -> Graph:
    """The truth with its nodes numbered as the graph's: by their names, or as they are where one has no names."""
    known = {truth.name(node): node for node in range(truth.num_nodes)}
    wanted = [graph.name(node) for node in range(graph.num_nodes)]
    both = truth.names is not None and graph.names is not None
    if truth.num_nodes != graph.num_nodes:
        raise InputError(
            f"the truth has {truth.num_nodes:,} nodes and the run's graph {graph.num_nodes:,}: they can't be compared"
        )
    missing = [name for name in wanted if name not in known]
    if missing and both:
        raise InputError(f"the truth has no node {missing[0]!r}, but the run's graph has: they can't be compared")
    if missing or (truth.names is None and graph.names is None):
        return truth
    number = np.empty(truth.num_nodes, dtype=np.int64)
    number[[known[name] for name in wanted]] = np.arange(truth.num_nodes)
    edges = Graph.from_pairs(truth.num_nodes, number[truth.edges]).edges
    return replace(Graph(truth.num_nodes, edges), names=graph.names)


def victim_auc(victim_scores: ArrayLike, *, poisoned: Graph, clean: Graph) -> float:
    """The area under the ROC curve of victim scores (N values), a victim being a node at a planted or a deleted edge.

    NaN where there is no victim or nobody else.
    """
    changed = np.concatenate([poisoned.added_edges(clean), clean.added_edges(poisoned)])
    victim = np.zeros(poisoned.num_nodes, dtype=bool)
    victim[changed.ravel()] = True
    if victim.all() or not victim.any():
        return float("nan")
    return float(roc_auc_score(victim, np.asarray(victim_scores)))

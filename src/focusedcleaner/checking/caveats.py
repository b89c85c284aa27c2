"""What a sanitation rests on, what makes it weaker on this graph, and what it can't promise, with measured figures.

Figures are those of docs/trust.md: "48 % as good" compares the ESR with that of a removal which knows the truth.
"""

from __future__ import annotations

import os

import numpy as np

from focusedcleaner.checking.attribute_facts import AttributeFacts
from focusedcleaner.checking.class_links import Coverage
from focusedcleaner.checking.forecast import Forecast
from focusedcleaner.formatting import class_name, count, percent
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers.checks import attribute_notes

HETEROPHILOUS, UNSURE_HOMOPHILY = 0.5, 0.81
"""Shares of edges within a class up to which results are weak, and up to which natural edges between classes look
planted if attributes hardly tell; 0.80 and 0.83 were measured on either side of the latter."""
FEW_LABELS = 15
"""Known labels per class up to which results are weaker: 14 were measured."""
FEW_IN_CLASS = 5
"""Known labels of a class below which it is named."""
NAMED = 5
"""Most classes that a sentence names."""
MEMORY_SHARE = 0.8
"""Share of the machine's memory that a run may take."""


def assumptions(graph: Graph, coverage: Coverage, *, ranks: bool) -> tuple[str, ...]:
    """Say what is taken for granted or done first, in one sentence each; ``ranks``: the method has no verdict."""
    assumed = ["edges are undirected and unweighted"]
    if coverage in ("some", "all"):
        assumed.append("most genuine edges join nodes of one class")
    if graph.split is None and coverage in ("some", "all"):
        shares = "10 % of the nodes train, the others validate; no label is hidden"
        if coverage == "some":
            shares = "half of the labelled nodes train, the others validate"
        assumed.append(f"a random split is drawn: {shares}")
    elif graph.split is not None and len(graph.split.test) and coverage != "none":
        assumed.append(f"the labels of {count(len(graph.split.test), 'test node')} are not looked at")
    if ranks:
        assumed.append("a budget is not a finding: 10 % of a clean graph would be removed or listed as well")
    return tuple(assumed)


def warnings(
    graph: Graph,
    drawn: Graph,
    homophily: float | None,
    facts: AttributeFacts | None,
    forecast: Forecast | None,
    method: str | None,
) -> tuple[str, ...]:
    """Say what makes results weaker on this graph, in one sentence each.

    Args:
        graph: the graph as it was read.
        drawn: the same graph with the split and the labels that would be used.
        homophily: the share of edges within a class, if it is known.
        facts: about the attributes, if there are any.
        forecast: of the method that would be used, if there is one.
        method: its name.
    """
    if method == "dense-blocks":  # it looks at edges alone
        return ()
    found = [*_few_labels(drawn)]
    hardly = facts is None or facts.telling == "hardly"
    if homophily is not None and homophily < HETEROPHILOUS:
        found.append(
            f"only {percent(homophily)} of the edges join nodes of one class: rankings and counts are weak on such "
            "graphs (actor, with 22 %: a ranking 48 % as good as one that knows the truth)"
        )
    elif homophily is not None and homophily <= UNSURE_HOMOPHILY and hardly:
        found.append(
            f"natural edges between classes look planted here, since {percent(1 - homophily)} of the edges join "
            "different classes and attributes hardly tell which: a clean graph like this one was called uncertain, "
            "with a fifth of its edges under suspicion"
        )
    if facts is None and not len(drawn.known_labels):
        found.append("without labels and attributes, edges alone can't show that none was planted: give a node table")
    elif facts is None:
        found.append(
            "without attributes, results are weaker: on Polblogs the count was wrong from 15 % of planted edges on"
        )
    return (*found, *attribute_notes(graph), *_too_large(forecast))


def _few_labels(drawn: Graph) -> list[str]:
    """Say that labels are few, or few in some classes; a graph without labels is told elsewhere."""
    if drawn.labels is None or drawn.split is None or not len(drawn.known_labels):
        return []
    seen = drawn.without_test_labels()
    sizes = np.bincount(seen.known_labels, minlength=drawn.num_classes)
    classes, found = max(int((sizes > 0).sum()), 1), []
    if sizes.sum() < FEW_LABELS * classes:
        found.append(
            f"few labels: {count(int(sizes.sum()), 'node')} for {classes} {'class' if classes == 1 else 'classes'}; "
            "with 84 for the 6 classes of Citeseer, the ranking was 44 % as good as one that knows the truth, with 422 "
            "it was 53 %"
        )
    few = np.flatnonzero((sizes > 0) & (sizes < FEW_IN_CLASS))
    if len(few):
        listed = ", ".join(f"{class_name(drawn, int(number))} ({sizes[number]})" for number in few[:NAMED])
        more = f" and {count(len(few) - NAMED, 'other')}" if len(few) > NAMED else ""
        found.append(f"classes with fewer than {FEW_IN_CLASS} labels can hardly be learnt: {listed}{more}")
    empty = int((sizes == 0).sum())
    if empty:
        found.append(f"{empty:,} of {drawn.num_classes:,} classes {'has' if empty == 1 else 'have'} no label at all")
    return found


def _too_large(forecast: Forecast | None) -> list[str]:
    if forecast is None:
        return []
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, OSError, ValueError):  # not on every system
        return []
    if forecast.gigabytes <= MEMORY_SHARE * memory:
        return []
    return [f"{forecast.method} needs about {forecast.gigabytes:.1f} GB of memory; this machine has {memory:.1f}"]


def limits(method: str | None, coverage: Coverage, *, ranks: bool, bipartite: bool, split: bool) -> tuple[str, ...]:
    """Say what no result of this method can promise, in one sentence each."""
    if method is None:
        return ()
    if ranks:
        return (f"{method} ranks edges: it can't tell whether any was planted, and says the same of a clean graph",)
    if method == "dense-blocks":
        return (
            "no sign means that no group stands out: groups that are hardly denser than natural ones are not found, "
            "and neither are other edges of a group's accounts (camouflage)",
        )
    if method != "self-attack":
        return ()
    found = ["no sign of poison is not a proof that there is none"]
    if coverage == "none":
        found.append(
            "without labels, rankings in Cora and Citeseer were 54 to 96 % as good as one that knows the truth; poison "
            "that spreads over all nodes (Meta-PGD) was ranked and counted well, but called uncertain"
        )
    elif coverage == "one class":
        found.append("with one class marked, only edges at odds with that class or with the communities are found")
    if not bipartite:
        found.append(
            "random edges between classes can't be told from the noise of a clean graph: Citeseer with 10 % by Nettack "
            "or DICE was called uncertain, and nothing was removed"
        )
    if coverage == "some" or (coverage == "all" and split):
        found.append(
            "poison that was made for other training nodes than yours is found less well: in Citeseer with 10 % by "
            "METTACK, the ranking was 53 % as good as one that knows the truth; with the attacker's training nodes, "
            "72 to 100 %"
        )
    return tuple(found)

"""Self-attack on graphs that it was not tuned on, and on those that it was; resumable.

python -m benchmarks.selfattack [--only cora]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from benchmarks.common import Results, Section, cells_main, gcn_accuracy, published, unit
from focusedcleaner import datasets
from focusedcleaner.attacks import Dice, Poisoning, attack
from focusedcleaner.edge_features.edge_selection import without_isolating
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.compute import clean_graph
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.sanitizers import SelfAttack, sanitizer
from focusedcleaner.sanitizers.self_attack.attackers import attackers_by_name
from focusedcleaner.sanitizers.self_attack.em import AVERAGED_ROUNDS, PlantedEdgeEM, Posterior, mean_posterior
from focusedcleaner.sanitizers.self_attack.sanitizer import estimate_planted
from focusedcleaner.scoring import score

PAGE = Section("self-attack.md")
POWERS = (0.1, 0.25, 0.05, 0.15, 0.2)
FIRST = ("prognn", "mettack", "minmax")
OTHERS = ("dice", "random", "prbcd", "nettack", "mettack on another split", "minmax on another split")
RIVALS = ("agreement", "cld", "lp")
ANOTHER_SPLIT = "random 1"
FAILURES = (
    ("cora", "mettack without attributes"),
    ("cora", "dice away from training nodes"),
    ("heterophilous", "mettack"),
)
"""Where it can be expected to fail."""
GCNS = 10


def cells() -> Iterator[tuple[str, str, float]]:
    """Data set, origin of the poison, and power: the most telling ones first."""
    for power in POWERS:
        for name in ("cora", "citeseer"):
            yield from ((name, origin, power) for origin in FIRST)
    yield from ((name, "clean", 0.0) for name in ("cora", "citeseer", "polblogs"))
    for name in ("cora", "citeseer"):
        yield from ((name, origin, 0.1) for origin in OTHERS)
    yield from ((name, origin, 0.1) for name, origin in FAILURES)
    for power in POWERS:
        yield from (("polblogs", origin, power) for origin in FIRST)


def graphs(name: str, origin: str, power: float) -> tuple[Graph, Graph]:
    """The clean and the poisoned graph."""
    if origin == "prognn":
        return published(name, power)
    method, _, elsewhere = origin.partition(" on another ")
    if elsewhere:
        clean = clean_graph(Source(name, ANOTHER_SPLIT))
        return clean, attack(method).poison(clean, power).graph
    clean = heterophilous() if name == "heterophilous" else clean_graph(Source(name, "authors"))
    if origin == "clean":
        return clean, clean
    if origin == "mettack" and name != "heterophilous":
        return clean, _mettack(name).prefix(power).graph
    if origin == "dice away from training nodes":
        return clean, dice_away(clean, power)
    method, _, without = origin.partition(" without ")
    if without:
        clean = replace(clean, attributes=None)
    return clean, attack(method).poison(clean, power).graph


def heterophilous() -> Graph:
    """As large as Cora, with one edge in four within a class."""
    return datasets.synthetic(
        num_nodes=2485, mean_degree=4.0, num_classes=7, homophily=0.25, num_attributes=1433, words_per_node=18, seed=0
    )


def dice_away(clean: Graph, power: float) -> Graph:
    """DICE's insertions, but none at a training node."""
    assert clean.split is not None
    added = Dice(share_removed=0.0).poison(clean, 2 * power).added
    away = added[~np.isin(added, clean.split.train).any(axis=1)]
    return clean.with_edges(away[: round(power * clean.num_edges)])


@cache
def _mettack(name: str) -> Poisoning:
    """The attack at the largest power; the smaller ones are its beginnings."""
    return attack("mettack").poison(clean_graph(Source(name, "authors")), max(POWERS))


def judged(poisoned: Graph) -> tuple[PlantedEdgeEM, list[Posterior]]:
    """All rounds of the sanitizer with its own settings."""
    how = SelfAttack()
    inquiry = PlantedEdgeEM(
        poisoned.without_test_labels(),
        attackers_by_name(how.attackers),
        rounds=how.rounds,
        trees=how.trees,
        seed=0,
    )
    opinions: list[Posterior] = []
    for number in range(how.rounds):
        opinions.append(inquiry.round(number, opinions[-1] if opinions else None))
    return inquiry, opinions


def measure(name: str, origin: str, power: float) -> dict[str, Any]:
    """What self-attack makes of one graph, with a budget of 10 % and with its own; its rivals beside."""
    clean, poisoned = graphs(name, origin, power)
    start = time.perf_counter()
    inquiry, opinions = judged(poisoned)
    seconds = time.perf_counter() - start
    planted = mean_posterior(opinions)
    order = np.lexsort((-inquiry.initial_scores(), -planted))
    budget = round(0.1 * poisoned.num_edges)

    def removed(ranked: IntArray, size: int) -> IntArray:
        chosen = without_isolating(ranked, poisoned.edges, poisoned.degrees, size)
        return poisoned.edges[np.array(chosen, dtype=np.int64)]

    fixed = removed(order, budget)
    auto = removed(order[planted[order] > SelfAttack().threshold], poisoned.num_edges)
    at_budget = score(fixed, poisoned=poisoned, clean=clean)
    chosen = score(auto, poisoned=poisoned, clean=clean)
    guess = estimate_planted(planted, opinions[-AVERAGED_ROUNDS:])
    found = {
        "planted": at_budget.attacked,
        "esr": at_budget.esr,
        "oracle": at_budget.oracle_esr,
        "auto_esr": chosen.esr,
        "auto_removed": chosen.removed,
        "estimate": guess.number,
        "low": guess.low,
        "high": guess.high,
        "rounds": [opinion.expected for opinion in opinions],
        "seconds": seconds,
        "units": seconds / unit(),
    }
    for rival in RIVALS if at_budget.attacked else ():
        chosen = score(sanitizer(rival).sanitize(poisoned, budget).removed, poisoned=poisoned, clean=clean)
        found[rival] = chosen.esr
    if origin in ("prognn", "clean"):
        for key, graph in (("gcn", poisoned), ("gcn_auto", poisoned.without_edges(auto))):
            found[key] = gcn_accuracy(graph, GCNS)
    return found


def table(results: Results, origin: str, title: str) -> str:
    """One origin of poison: a row per data set, three lines of figures per power."""
    rows = [f"| {title} | " + " | ".join(f"{power:.0%}" for power in sorted(POWERS)) + " |", "| --- " * 6 + "|"]
    for name in ("cora", "citeseer", "polblogs"):
        found = [results.cells.get(f"{name} | {origin} | {power:g}") for power in sorted(POWERS)]
        if not any(found):
            continue
        kinds: dict[str, Callable[[dict[str, Any]], str]] = {
            "ESR at 10 % (of the oracle's)": lambda c: f"{100 * c['esr']:.1f} ({100 * c['esr'] / c['oracle']:.0f} %)",
            ", ".join(f"`{rival}`" for rival in RIVALS): rivals,
            "planted, estimated": lambda c: (
                f"{c['planted']:,}, {c['estimate']:,.0f} ({c['low']:,.0f}–{c['high']:,.0f})"
            ),
            "ESR, own budget": lambda c: f"{100 * c['auto_esr']:.1f}",
        }
        if origin == "prognn":
            kinds["GCN before, after"] = lambda c: f"{100 * c['gcn']:.1f}, {100 * c['gcn_auto']:.1f}"
        for kind, told in kinds.items():
            rows.append(f"| {name}: {kind} | " + " | ".join("–" if c is None else told(c) for c in found) + " |")
    return "\n".join(rows) + "\n"


def rivals(cell: dict[str, Any]) -> str:
    """The ESR of other sanitizers on the same graph."""
    return ", ".join(f"{100 * cell[rival]:.1f}" for rival in RIVALS)


def others(results: Results) -> str:
    """Clean graphs, and other attacks."""
    names = ", ".join(f"`{rival}`" for rival in RIVALS)
    rows = [f"| graph | planted | estimated | removed | ESR at 10 % | {names} |", "| --- " * 6 + "|"]
    for key, cell in sorted(results.cells.items()):
        name, origin, power = key.split(" | ")
        if origin in FIRST and name != "heterophilous":
            continue
        what = f"{name}, {origin}" + (f" {float(power):.0%}" if float(power) else "")
        share = f"{cell['auto_removed']:,}"
        if "gcn" in cell:
            share += f"; GCN {100 * cell['gcn']:.1f}, {100 * cell['gcn_auto']:.1f}"
        esr = f"{100 * cell['esr']:.1f} | {rivals(cell)}" if cell["planted"] else "– | –"
        rows.append(f"| {what} | {cell['planted']:,} | {cell['estimate']:,.0f} | {share} | {esr} |")
    return "\n".join(rows) + "\n"


def write_page(results: Results) -> None:
    """Put the tables between the page's marks."""
    titles = {"prognn": "Pro-GNN's METTACK", "mettack": "our METTACK", "minmax": "our MinMax"}
    tables = [table(results, origin, title) for origin, title in titles.items()] + [others(results)]
    PAGE.write("\n".join(tables))


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "selfattack", cells(), measure, write_page))

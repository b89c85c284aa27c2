"""Self-attack against an attacker who knows it, with and without the hardening; resumable, written into its page.

python -m benchmarks.adaptive [--only citeseer]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from benchmarks.common import Results, Section, ended, fill, only_asked
from focusedcleaner.attacks import Poisoning, attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.graphs import clean_graph
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SelfAttack, sanitizer
from focusedcleaner.scoring import score

PAGE = Section("self-attack.md", "adaptive", "end of adaptive")
HARDENED = f"{SelfAttack().attackers},stealthy"
ATTACKS: dict[str, tuple[str, dict[str, Any]]] = {
    "METTACK": ("mettack", {}),
    "`adaptive`": ("adaptive", {}),
    "`adaptive` that knows of `stealthy`": ("adaptive", {"attackers": HARDENED}),
}
SANITIZERS: dict[str, tuple[str, dict[str, Any]]] = {
    "`self-attack`": ("self-attack", {}),
    "with `stealthy`": ("self-attack", {"attackers": HARDENED}),
    "`agreement`": ("agreement", {}),
    "`cld`": ("cld", {}),
}
GCNS = 5


def cells() -> Iterator[tuple[str, str, str]]:
    """Data set, attack and sanitizer; the attack that doesn't know of the hardening comes first."""
    for made in ATTACKS:
        for name in ("citeseer", "cora"):
            yield from ((name, made, by) for by in SANITIZERS)


@cache
def poisoning(name: str, made: str) -> Poisoning:
    """The data set, poisoned with a power of 10 %."""
    method, settings = ATTACKS[made]
    return attack(method, **settings).poison(clean_graph(Source(name, "authors")), "10%")


def accuracy(graph: Graph) -> float:
    return float(np.mean([classifier("gcn").fit(graph, seed=seed).accuracy(graph) for seed in range(GCNS)]))


def measure(name: str, made: str, by: str) -> dict[str, Any]:
    """What a sanitizer makes of one poisoned graph with a budget of 10 %."""
    poisoned = poisoning(name, made).graph
    method, settings = SANITIZERS[by]
    done = sanitizer(method, **settings).sanitize(poisoned, "10%")
    found = score(done.removed, poisoned=poisoned, clean=clean_graph(Source(name, "authors")))
    known = {"planted": found.attacked, "esr": found.esr, "cr": found.cr, "oracle": found.oracle_esr}
    if method == "self-attack":
        assert done.estimate is not None
        known |= {"estimate": done.estimate.number, "before": accuracy(poisoned), "after": accuracy(done.graph)}
    return known


def table(results: Results) -> str:
    """A row per poisoned graph."""
    head = ["graph and attack", "planted (oracle's ESR)", "GCN before"]
    rows = []
    for name in ("citeseer", "cora"):
        for made in ATTACKS:
            found = {by: results.cells.get(f"{name} | {made} | {by}") for by in SANITIZERS}
            first = found["`self-attack`"]
            if first is None:
                continue
            about = f"{first['planted']} ({100 * first['oracle']:.1f})"
            told = [_told(cell) for cell in found.values()]
            rows.append([f"{name.capitalize()}, {made}", about, f"{100 * first['before']:.1f}", *told])
    lines = [[*head, *SANITIZERS], ["---"] * (len(head) + len(SANITIZERS)), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _told(cell: dict[str, Any] | None) -> str:
    """ESR, CR and, where there are any, the estimate and the accuracy afterwards."""
    if cell is None:
        return "–"
    text = f"{100 * cell['esr']:.1f}, {100 * cell['cr']:.1f}"
    return f"{text}; {cell['estimate']:.0f}; {100 * cell['after']:.1f}" if "after" in cell else text


def main() -> int:
    only = only_asked(__doc__)
    return ended(lambda: fill("adaptive", cells(), measure, lambda results: PAGE.write(table(results)), only=only))


if __name__ == "__main__":
    sys.exit(main())

"""Self-attack against an attacker who knows it, with and without hardening; resumable, fills docs/self-attack.md.

python -m benchmarks.adaptive [--only citeseer]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from typing import Any

from benchmarks.common import Results, Section, cells_main, gcn_accuracy, markdown_table
from focusedcleaner.attacks import Poisoning, attack
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.compute import clean_graph
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
    """Data set, attack and sanitizer; attacks that don't know the hardening come first."""
    for attacker in ATTACKS:
        for name in ("citeseer", "cora"):
            yield from ((name, attacker, defender) for defender in SANITIZERS)


@cache
def poisoning(name: str, attacker: str) -> Poisoning:
    """Poison a data set with a power of 10 %."""
    method, settings = ATTACKS[attacker]
    return attack(method, **settings).poison(clean_graph(Source(name, "authors")), "10%")


def measure(name: str, attacker: str, defender: str) -> dict[str, Any]:
    """Sanitize one poisoned graph with a budget of 10 %."""
    poisoned = poisoning(name, attacker).graph
    method, settings = SANITIZERS[defender]
    done = sanitizer(method, **settings).sanitize(poisoned, "10%")
    quality = score(done.removed, poisoned=poisoned, clean=clean_graph(Source(name, "authors")))
    figures: dict[str, Any] = {"planted": quality.attacked, "esr": quality.esr, "cr": quality.cr}
    figures["oracle"] = quality.oracle_esr
    if method == "self-attack":
        assert done.estimate is not None
        before, after = (gcn_accuracy(graph, GCNS) for graph in (poisoned, done.graph))
        figures |= {"estimate": done.estimate.number, "before": before, "after": after, "status": done.verdict.status}
    return figures


def table(results: Results) -> str:
    """A row per poisoned graph."""
    rows = []
    for name in ("citeseer", "cora"):
        for attacker in ATTACKS:
            cells = [results.cells.get(f"{name} | {attacker} | {defender}") for defender in SANITIZERS]
            first = cells[0]
            if first is None:
                continue
            planted = f"{first['planted']} ({100 * first['oracle']:.1f})"
            before = f"{100 * first['before']:.1f}"
            rows.append([f"{name.capitalize()}, {attacker}", planted, before, *map(_figures, cells)])
    return markdown_table(["graph and attack", "planted (oracle's ESR)", "GCN before", *SANITIZERS], rows)


def _figures(cell: dict[str, Any] | None) -> str:
    """ESR, CR and, if measured, the estimate, the verdict and the accuracy afterwards."""
    if cell is None:
        return "–"
    text = f"{100 * cell['esr']:.1f}, {100 * cell['cr']:.1f}"
    return f"{text}; {cell['estimate']:.0f}, {cell['status']}; {100 * cell['after']:.1f}" if "after" in cell else text


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "adaptive", cells(), measure, lambda results: PAGE.write(table(results))))

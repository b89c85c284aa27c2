"""FocusedCleaner with and without detector, on METTACK through each training of the surrogate; fills docs/method.md.

python -m benchmarks.detector [--only unrolled]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import cache

import numpy as np

from benchmarks.common import Results, Section, cells_main, markdown_table
from focusedcleaner.attacks import Poisoning, attack
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.compute import clean_graph
from focusedcleaner.sanitizers import PRESETS, sanitizer
from focusedcleaner.scoring import score

PAGE = Section("method.md")
POWERS = (0.1, 0.2)
SEEDS = 2
ATTACKERS = ("implicit", "unrolled", "two-layer")
DEFENDERS = ("implicit", "unrolled", "preset paper")
METHODS = ("cld", "focused-none")


def cells() -> Iterator[tuple[str, str]]:
    """The training of the attacker's surrogate, and that of the defender's."""
    for attacker in ATTACKERS:
        yield from ((attacker, defender) for defender in DEFENDERS)


@cache
def poisoning(inner: str) -> Poisoning:
    """METTACK on Cora, of the largest power: smaller ones are its beginnings."""
    return attack("mettack", inner=inner).poison(clean_graph(Source("cora")), max(POWERS))


def measure(attacker: str, defender: str) -> dict[str, list[float]]:
    """The mean ESR at each power, with ClassDiv and without detector."""
    settings = PRESETS["paper"] if defender == "preset paper" else {"inner": defender}
    return {method: [_esr(attacker, method, settings, power) for power in POWERS] for method in METHODS}


def _esr(attacker: str, method: str, settings: Mapping[str, object], power: float) -> float:
    clean, poisoned = clean_graph(Source("cora")), poisoning(attacker).prefix(power).graph
    cleaner = sanitizer(method, **settings)
    removed = [cleaner.sanitize(poisoned, 0.1, seed=seed).removed for seed in range(SEEDS)]
    return float(np.mean([score(edges, poisoned=poisoned, clean=clean).esr for edges in removed]))


def table(results: Results) -> str:
    """A row per pair of trainings."""
    powers = [f"{power:.0%}" for power in POWERS]
    head = ["attacker's training", "defender's training"]
    head += [f"{name}, {power}" for power in powers for name in ("`cld`", "no detector")]
    rows = []
    for attacker, defender in cells():
        cell = results.cells.get(f"{attacker} | {defender}")
        if cell is not None:
            figures = [f"{100 * cell[method][k]:.1f}" for k in range(len(POWERS)) for method in METHODS]
            rows.append([attacker, defender, *figures])
    return markdown_table(head, rows)


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "detector", cells(), measure, lambda results: PAGE.write(table(results))))

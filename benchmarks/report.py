"""Writes docs/benchmarks.md from the stored results."""

from __future__ import annotations

from benchmarks import forecast
from benchmarks.common import PAGES, Results, markdown_table
from benchmarks.quality import POWERS, VARIANTS, means
from focusedcleaner.io.transaction import write_files

PAGE = PAGES / "benchmarks.md"
PAPER = {"cld": (36.0, 55.2, 52.3, 46.4, 39.7), "lp": (29.2, 44.4, 49.0, 43.6, 37.8)}
ORACLE = {"cora": (47.6, 90.3, 77.3, 60.9, 51.1)}
ASKED = {"cld": (33, 46, 44, 43, 38)}


def speed() -> str:
    cells = Results("speed").cells
    rows = [
        (case, str(c["edges"]), f"{c['seconds']:.1f}", f"{c['units']:.0f}", str(c["asked"]), f"{c['peak_gb']:.2f}")
        for case, c in cells.items()
    ]
    return markdown_table(("run", "edges removed", "seconds", "units", "asked: at most", "peak GB"), rows)


def parts() -> str:
    rows = [
        (case, f"{c['edges']:,}", f"{c['cpu_seconds']:.2f}", f"{c['units']:.1f}", f"{c['peak_gb']:.2f}")
        for case, c in Results("parts").cells.items()
    ]
    return markdown_table(("graph, part", "edges", "CPU seconds", "units", "peak GB"), rows)


def quality() -> str:
    known = means(Results("quality"))

    def cell(variant: str, name: str, power: float) -> str:
        if (variant, name, power) not in known:
            return "–"
        mean, deviation, _ = known[variant, name, power]
        return f"{mean:.1f} ± {deviation:.1f}"

    rows = []
    for variant in ("cld", "lp"):
        for name in ("cora", "citeseer", "polblogs"):
            rows.append((f"`{variant}`, {name}", *(cell(variant, name, power) for power in POWERS)))
        rows.append((f"the paper's {variant.upper()}, Cora, its own poison", *(f"{v:.1f}" for v in PAPER[variant])))
        if variant in ASKED:
            rows.append(("asked of CLD on Cora", *(f"{v}" for v in ASKED[variant])))
    rows.append(("oracle, Cora", *(f"{v:.1f}" for v in ORACLE["cora"])))
    first = markdown_table(("ESR in %", *(f"{100 * power:g} %" for power in POWERS)), rows)
    ablations = [
        (variant, *(cell(variant, name, 0.1) for name in ("cora", "citeseer", "polblogs"))) for variant in VARIANTS
    ]
    return first + "\nAblations at 10 %:\n\n" + markdown_table(("ESR in %", "Cora", "Citeseer", "Polblogs"), ablations)


def run() -> None:
    """Write the page."""
    page = f"""# Measured

Made by `make bench` from `benchmarks/results/`; nothing here is typed by hand. Graphs: Pro-GNN's METTACK graphs with
Pro-GNN's split, budget 10 % of the poisoned graph's edges, mean ± standard deviation over 5 seeds. A unit is the time
of one dense float32 product of a 2485×2485 by a 2485×1433 matrix with two threads, measured in the same run.

## Speed and memory of a whole run (Cora, METTACK 10 %)

The authors' code needs 440 units an *edge*: 245,000 for the 556 edges of this run, and 3.6 GB.

{speed()}
## The parts of self-attack

One extraction of the edge features, and each simulated attacker planting 10 %, in one thread. Units
are of elapsed time: other work on the machine counts.

{parts()}
Graphs of up to ten million edges, threads and Ray workers are on a page of their own: [scale.md](scale.md).

## Forecasts of time and memory (`focusedcleaner check`)

Whole runs of `self-attack` without a budget, each in a process of its own with one thread, beside other work on the
machine: CPU time, not elapsed time. The forecast is a sum of costs per node, edge, attribute value and so on, in the
time of one small sparse product that `check` measures on the machine itself; "unseen" is the forecast by a fit of all
other graphs. Made by `python -m benchmarks.forecast`.

{forecast.table()}
`dense-blocks`, on the accounts and items of [fraud.md](fraud.md):

{forecast.table("dense-blocks")}
## Quality of sanitation

{quality()}"""
    write_files({PAGE: page.encode()})

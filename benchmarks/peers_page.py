"""The tables of docs/peers.md, from the stored results of this benchmark, of others, and of the experiments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from benchmarks.common import Results, Section, markdown_table
from focusedcleaner.experiments.catalogue import load
from focusedcleaner.experiments.store import committed_results
from focusedcleaner.experiments.tables import fill_tables

SPEED, FOUND, LARGEST, PUBLISHED = (Section("peers.md", name) for name in ("speed", "found", "largest", "published"))
README = Section("../README.md", "readme")
LIBRARIES = {"focusedcleaner": "**ours**", "deeprobust": "DeepRobust 0.2.11", "greatx": "GreatX 0.0.1b0"}
TASKS = {
    "mettack": "METTACK, one flip",
    "minmax": "MinMax, one iteration",
    "pgd": "PGD, one iteration",
    "gcn": "GCN, a training",
    "gcn after jaccard": "Jaccard (0.01), then a GCN",
    "gcn after svd": "SVD, then a GCN",
    "rgcn": "RGCN, a training",
    "simpgcn": "SimPGCN, a training",
    "median": "MedianGCN, a training",
    "gnnguard": "GNNGUARD, a training",
    "elastic": "ElasticGNN, a training",
    "prognn": "Pro-GNN, a training",
}
PROGNN_EPOCHS = 400
"""Epochs of a Pro-GNN training, by which what was measured of theirs is extrapolated."""
AUTHORS = {"seconds": 61.5, "units": 440, "peak_gb": 3.6, "edges": 556}
"""The FocusedCleaner authors' CLD, a removed edge, and the edges of a run: measured earlier on such a machine."""
UNIT = "unit"
"""The cell with the seconds of a unit."""
POWERS = ("0.05", "0.1", "0.15", "0.2", "0.25")

PRO_GNN = "[Pro-GNN paper](https://arxiv.org/abs/2005.10203)"
R_GUGNN = "[R-GUGNN](https://openreview.net/forum?id=bpUHBc9HCU8)"
ASGNN = "[ASGNN](https://github.com/zepengzhang/ASGNN), split uncertain"
MD_GNN = "[MD-GNN](https://github.com/lizi-learner/MD-GNN), the best of its models"
RGA_IB = "[RGA-IB](https://openreview.net/forum?id=lTL4t68BNc), withdrawn, not reproduced by its reviewers"
NEWER: dict[str, dict[str, Sequence[float | None]]] = {
    "cora": {
        R_GUGNN: (82.3, 80.9, 80.6, 78.0, 76.1),
        ASGNN: (82.3, 80.3, 78.1, 77.0, 75.2),
        MD_GNN: (79.7, 79.7, 78.4, 79.7, 76.9),
        RGA_IB: (None, None, None, None, 84.4),
    },
    "citeseer": {R_GUGNN: (73.2, 74.0, 73.3, 71.6, 71.7)},
    "polblogs": {R_GUGNN: (95.3, 94.4, 91.4, 84.1, 70.7)},
}
"""Accuracies in percent at `POWERS`, as read in these papers and repositories."""
MODELS = {
    "gcn": "GCN",
    "jaccard": "GCN-Jaccard",
    "svd": "GCN-SVD",
    "rgcn": "RGCN",
    "prognn": "Pro-GNN",
    "mlp": "MLP, which sees no edges",
    "gnnguard": "GNNGUARD",
    "elastic": "ElasticGNN",
    "low-rank": "`low-rank`",
    "agreement": "GCN after `agreement`",
    "lp": "GCN after `lp`",
    "cld": "GCN after `cld`",
    "self-attack-own": "GCN after `self-attack`, which chooses how many edges go",
}
"""Rows of the experiment on Pro-GNN's graphs."""
ISSUE = "https://github.com/{}/issues/{}"

Cells = Mapping[str, Mapping[str, Any]]


def write() -> None:
    """Write all tables."""
    for section, table in tables():
        section.write(table)


def tables() -> Iterator[tuple[Section, str]]:
    """The sections of the page, and what belongs there."""
    cells = Results("peers").cells
    yield SPEED, speed(cells)
    yield FOUND, found(cells)
    yield LARGEST, largest(Results("scale").cells)
    yield PUBLISHED, "\n".join(map(accuracies, NEWER))
    yield README, readme(cells)


def speed(cells: Cells) -> str:
    """A row per task and library."""
    rows = []
    for task, title in TASKS.items():
        ours = cells.get(f"focusedcleaner | {task}")
        for library, name in LIBRARIES.items():
            cell = cells.get(f"{library} | {task}")
            if cell is None:
                continue
            if "error" in cell:
                rows.append((title, name, f"fails: `{cell['error']}`", "", "", "", ""))
                continue
            times = PROGNN_EPOCHS if (library, task) == ("deeprobust", "prognn") else 1
            seconds = times * min(cell["seconds"])
            ratio = _short(seconds / min(ours["seconds"])) if ours and library != "focusedcleaner" else ""
            about = "≈ " if times > 1 else ""
            accuracy = f"{100 * mean(cell['accuracy']):.1f}" if cell.get("accuracy") else ""
            units = seconds / cells[UNIT]["seconds"]
            figures = (
                about + _short(seconds),
                about + _short(units),
                f"{cell['peak_gb']:.2f}",
                accuracy,
                about + ratio,
            )
            rows.append((title, name, *figures))
    head = ("what", "library", "seconds", "units", "peak GB", "accuracy, %", "times ours")
    return markdown_table(head, rows)


def found(cells: Cells) -> str:
    """A row per method that ranks edges, the best first, and the authors' code."""
    rows = []
    for key, cell in cells.items():
        library, _, method = key.partition(" | ")
        if "esr" in cell:
            name = f"**ours**, `{method}`" if library == "focusedcleaner" else f"PyGOD 1.1.0, {method}"
            seconds = min(cell["seconds"])
            figures = (_short(seconds), _short(seconds / cells[UNIT]["seconds"]), f"{cell['peak_gb']:.2f}")
            rows.append((100 * mean(cell["esr"]), (name, f"{100 * mean(cell['esr']):.1f}", *figures)))
        elif "error" in cell and library == "pygod":
            rows.append((-1.0, (f"PyGOD 1.1.0, {method}", f"fails: `{cell['error']}`", "", "", "")))
    edges = AUTHORS["edges"]
    theirs = (_short(edges * AUTHORS["seconds"]), _short(edges * AUTHORS["units"]), f"{AUTHORS['peak_gb']:.1f}")
    name = f"the authors' CLD: {AUTHORS['seconds']} s, {AUTHORS['units']} units an edge"
    table: list[Sequence[str]] = [row for _, row in sorted(rows, key=lambda row: -row[0])]
    table.append((name, "not run to its end", *(f"≈ {value}" for value in theirs[:2]), theirs[2]))
    return markdown_table(("method", "ESR, %", "seconds", "units", "peak GB"), table)


def largest(cells: Cells) -> str:
    """What is known of the largest graphs that each takes."""
    rows = []
    for method in ("agreement", "lp", "cld", "self-attack"):
        runs = [
            (cell["edges"], cell) for key, cell in cells.items() if key.startswith(f"{method} |") and "seconds" in cell
        ]
        edges, cell = max(runs, key=lambda run: (run[0], -run[1]["seconds"]))
        known = f"{edges:,} edges: {cell['seconds']:,.0f} s, {cell['peak_gb']:.1f} GB, no GPU"
        rows.append((f"**ours**, `{method}`", known, "measured: [scale.md](scale.md)"))

    def told(what: str, limit: str, repository: str, *numbers: int) -> None:
        links = ", ".join(f"[{repository} #{number}]({ISSUE.format(repository, number)})" for number in numbers)
        rows.append((what, limit, links))

    name = "DSE-MSU/DeepRobust"
    told(
        "DeepRobust, METTACK", "Cora after some flips: over 24 GB of GPU memory; mended since", name, 110, 127, 128, 150
    )
    told("DeepRobust, METTACK", "PubMed (19,717 nodes, 44,324 edges): not in 16 GB, nor in 32", name, 27)
    told("DeepRobust, METTACK, PGD, MinMax, Pro-GNN", "dense N × N matrices: 1.6 GB each for PubMed", name, 15, 27)
    return markdown_table(("method", "largest graph", "where it says so"), rows)


def readme(cells: Cells) -> str:
    """The README's table: a GCN on Pro-GNN's Cora after each defence, and what the defence costs."""
    entries = fill_tables(load("prognn-graphs"), committed_results())

    def row(name: str, cell: str, known: Sequence[object], times: int = 1) -> tuple[str, ...]:
        found = cells[cell]
        cost = f"{'≈ ' if times > 1 else ''}{_short(times * min(found['seconds']))} s, {found['peak_gb']:.1f} GB"
        return (name, *(str(value) for value in known), cost)

    def ours(method: str) -> list[str]:
        return [f"{entries['accuracy cora', method, power].mean:.1f}" for power in ("0.1", "0.25")]

    def published(method: str) -> list[str]:
        return [f"{entries['accuracy cora', method, power].paper:.1f}" for power in ("0.1", "0.25")]

    after = [_trust("cora", power) for power in ("0.1", "0.25")]
    authors = f"≈ {_short(AUTHORS['edges'] * AUTHORS['seconds'])} s, {AUTHORS['peak_gb']:.1f} GB"
    newest = [f"{value:.1f}" for value in (NEWER["cora"][R_GUGNN][1], NEWER["cora"][R_GUGNN][4]) if value is not None]
    rows = [
        row("no defence, a GCN", "focusedcleaner | gcn", ours("gcn")),
        row("GCN-Jaccard, DeepRobust", "deeprobust | gcn after jaccard", published("jaccard")),
        row("Pro-GNN, DeepRobust", "deeprobust | prognn", published("prognn"), PROGNN_EPOCHS),
        ("R-GUGNN, published", *newest, "–"),
        ("FocusedCleaner, the authors' code (CLD)", "–", "–", authors),
        row("**this package, its default**, then a GCN", "focusedcleaner | self-attack", after),
    ]
    head = ("Cora under METTACK (Pro-GNN's graphs)", "accuracy at 10 %", "at 25 %", "cost of the defence at 10 %")
    largest = Results("scale").cells["cld | 10000000 | threads 2"]
    cost = f"{_short(largest['seconds'])} s and {largest['peak_gb']:.1f} GB for `cld` on two cores"
    return (
        f"{markdown_table(head, rows)}\nThe largest graph so far has ten million edges: {cost}. "
        "DeepRobust's METTACK did not fit into 32 GB\nfor PubMed, with 44,324 edges.\n"
    )


def accuracies(data: str) -> str:
    """One data set: published rows, and ours from the stored results of the experiment on Pro-GNN's graphs."""
    entries = fill_tables(load("prognn-graphs"), committed_results())
    columns = tuple(dict.fromkeys(key[2] for key in entries if key[0] == f"accuracy {data}"))
    rows: list[list[str]] = []
    for row, name in MODELS.items():
        of_row = [entries[f"accuracy {data}", row, column] for column in columns]
        paper = [entry.paper for entry in of_row]
        if any(value == value for value in paper):
            rows.append([f"{name}, {PRO_GNN}", *(f"{value:.1f}" if value == value else "–" for value in paper)])
        ours = [f"{entry.mean:.1f}" if entry.values else "–" for entry in of_row]
        if row == "self-attack-own":
            ours = [
                value if value != "–" else _trust(data, column) for value, column in zip(ours, columns, strict=True)
            ]
        if any(value != "–" for value in ours):
            rows.append([f"**ours**: {name}", *ours])
    for name, values in NEWER[data].items():
        rows.append([name, "–", *("–" if value is None else f"{value:.1f}" for value in values)])
    head = [data.capitalize(), *(f"{100 * float(column):g} %" for column in columns)]
    return markdown_table(head, rows)


def _trust(data: str, power: str) -> str:
    """A GCN after self-attack with its own budget, as docs/trust.md measures it: mean of ten trainings."""
    cell = Results("trust").cells.get(f"{data} | prognn | {float(power):g} | attacker")
    return f"{100 * cell['gcn_own']:.1f}" if cell else "–"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"

"""The default on graphs of every kind: ranking, count, budget and harm, by fixed development and test sets; resumable.

python -m benchmarks.trust [--set development|test] [--only cora]

Both sets were fixed before the first experiment with them (docs/trust.md). Settings are chosen on the development set
alone; the test set is measured once for each version of the default.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.common import PAGES, Results, Section, exit_code, gcn_accuracy, markdown_table, parser, rounded, unit
from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.datasets.published import data_folder
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, Split
from focusedcleaner.io import load_adjacency, load_graph, load_split
from focusedcleaner.sanitizers import AUTO, Sanitation, sanitizer, sanitizer_for
from focusedcleaner.scoring import score
from focusedcleaner.verdict import STATUSES

PAGE = Section("trust.md")
RIVALS = ("agreement", "cld", "lp")
BUDGET = 0.1
GCNS = 10
LABELS = {"attacker": (0.1, 0.1), "another": (0.1, 0.1), "more": (0.2, 0.2), "fewer": (0.02, 0.02)}
"""Shares of training and validation nodes of the defender's split; "attacker" is the attacker's own split."""


class Cell(NamedTuple):
    """A poisoned graph, and the labels that its defender knows."""

    data: str
    origin: str
    """An attack of ours, or a folder of published graphs: prognn, metapgd."""
    power: float
    split: str = "attacker"

    @property
    def key(self) -> str:
        return f"{self.data} | {self.origin} | {self.power:g} | {self.split}"


DEVELOPMENT = (
    *(Cell("citeseer", "mettack", power) for power in (0.0, 0.02, 0.05, 0.2)),
    Cell("citeseer", "mettack", 0.1, "another"),
    Cell("citeseer", "mettack", 0.1, "fewer"),
    Cell("citeseer", "prbcd", 0.1),
    *(Cell("citeseer", "metapgd", power) for power in (0.05, 0.1)),
    *(Cell("cora", "minmax", power) for power in (0.05, 0.2)),
    *(Cell("cora", "prognn", power) for power in (0.05, 0.1)),
    Cell("cora", "pgd", 0.1),
    Cell("cora", "dice", 0.1, "more"),
    Cell("polblogs", "mettack", 0.0),
    Cell("polblogs", "mettack", 0.1),
    Cell("wild/actor", "minmax", 0.0),
    Cell("wild/actor", "minmax", 0.1),
    Cell("wild/dblp", "prbcd", 0.0),
    Cell("wild/dblp", "prbcd", 0.05),
    Cell("wild/texas", "random", 0.0),
    Cell("synthetic", "random", 0.0),
)
TEST = (
    *(Cell("cora", "mettack", power) for power in (0.0, 0.02, 0.05, 0.1, 0.2)),
    *(Cell("cora", "mettack", 0.1, split) for split in ("another", "more", "fewer")),
    *(Cell("citeseer", "minmax", power) for power in (0.02, 0.05, 0.1, 0.2)),
    *(Cell("citeseer", "minmax", 0.1, split) for split in ("another", "more", "fewer")),
    *(Cell(data, "prognn", power) for data in ("citeseer", "polblogs") for power in (0.05, 0.1, 0.15, 0.2, 0.25)),
    *(Cell("cora", "prognn", power) for power in (0.15, 0.2, 0.25)),
    *(Cell("citeseer", "metapgd", power) for power in (0.15, 0.2, 0.25)),
    *(Cell("polblogs", "minmax", power) for power in (0.05, 0.1, 0.2)),
    *(Cell("cora", origin, 0.1) for origin in ("prbcd", "nettack", "random", "dice")),
    *(Cell("citeseer", origin, 0.1) for origin in ("pgd", "nettack", "random", "dice")),
    *(
        Cell(f"wild/{name}", "prbcd", power)
        for name in ("amazon_photo", "coauthor_cs", "blogcatalog", "squirrel_filtered", "minesweeper", "tolokers")
        for power in (0.0, 0.05)
    ),
)
SETS = {"development": DEVELOPMENT, "test": TEST}


@cache
def clean_graph(data: str) -> Graph:
    """A graph without poison and without a split."""
    if data == "synthetic":
        return datasets.synthetic(2_500, mean_degree=4.0, homophily=0.8, seed=0, with_split=False)
    return load_graph(_file(f"{data}.npz")) if data.startswith("wild/") else datasets.load(data)


def _file(name: str) -> Path:
    folder = data_folder()
    if folder is None:
        raise InputError("set FOCUSEDCLEANER_DATA to the folder of the graphs: these are not downloaded")
    return folder / name


def graphs(cell: Cell) -> tuple[Graph, Graph]:
    """The clean and the poisoned graph, both with the defender's split."""
    clean = clean_graph(cell.data)
    published = cell.origin in ("prognn", "metapgd")
    if published:
        attacked = clean.with_split(load_split(_file(f"{cell.origin}/{cell.data}_{cell.origin}_splits.json")))
    elif cell.data in ("cora", "citeseer", "polblogs"):
        attacked = clean.with_split(load_split(_file(f"authors/{cell.data}_splits.json")))
    else:
        attacked = clean.with_drawn_split(1)
    poisoned = attacked
    if cell.power and published:
        kind = {"prognn": "meta", "metapgd": "metapgd"}[cell.origin]
        matrix = load_adjacency(_file(f"{cell.origin}/{cell.data}_{kind}_adj_{cell.power:g}.npz")).tocoo()
        pairs = np.column_stack([matrix.row, matrix.col])
        poisoned = replace(attacked, edges=Graph.from_pairs(clean.num_nodes, pairs).edges)
    elif cell.power:
        poisoned = attack(cell.origin).poison(attacked, cell.power).graph
    if cell.split != "attacker":
        assert clean.labels is not None
        train, val = LABELS[cell.split]
        split = Split.random(clean.labels, seed=7, train=train, val=val)
        attacked, poisoned = attacked.with_split(split), poisoned.with_split(split)
    return attacked, poisoned


def ceiling(clean: Graph, poisoned: Graph) -> FloatArray:
    """Scores of the edges by a classifier that was told the truth about the others (five folds)."""
    seen = poisoned.without_test_labels()
    table = EdgeFeatureExtractor(seen).extract(seen).table
    model = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.08, max_leaf_nodes=15, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    told = cross_val_predict(model, table, ~clean.has_edges(poisoned.edges), cv=folds, method="predict_proba")
    scores: FloatArray = told[:, 1]
    return scores


def compared(cell: Cell, clean: Graph, poisoned: Graph) -> dict[str, Any]:
    """What does not depend on the default: the rivals with a budget of 10 %, the ceiling, and the untouched graph."""
    budget = max(1, int(BUDGET * poisoned.num_edges))
    found: dict[str, Any] = {"nodes": poisoned.num_nodes, "edges": poisoned.num_edges}
    cleaned = {"untouched": poisoned}
    for rival in RIVALS:
        result = sanitizer(rival).sanitize(poisoned, budget)
        judged = score(result.removed, poisoned=poisoned, clean=clean)
        found[f"esr_{rival}"], cleaned[rival] = judged.esr, result.graph
    found["planted"], found["oracle"] = judged.attacked, judged.oracle_esr
    if judged.attacked >= 10:
        best = np.argsort(-ceiling(clean, poisoned), kind="stable")[:budget]
        found["ceiling"] = score(poisoned.edges[best], poisoned=poisoned, clean=clean).esr
    return found | {f"gcn_{what}": gcn_accuracy(graph, GCNS) for what, graph in cleaned.items()}


def measure(cell: Cell, clean: Graph, poisoned: Graph) -> dict[str, Any]:
    """What the default makes of a graph: its ranking, count, verdict, and its own budget."""
    start = time.perf_counter()
    own = sanitizer_for(poisoned, AUTO, {}).sanitize(poisoned)
    seconds = time.perf_counter() - start
    budget = max(1, int(BUDGET * poisoned.num_edges))
    ranked = np.concatenate([own.removed, own.suspects])  # together the ranking: suspects are those not removed
    chosen = score(own.removed, poisoned=poisoned, clean=clean)
    found: dict[str, Any] = {
        "method": own.method,
        "status": own.verdict.status,
        "esr": score(ranked[:budget], poisoned=poisoned, clean=clean).esr,
        "removed": chosen.removed,
        "precision": chosen.hits / max(chosen.removed, 1),
        "units": seconds / unit(),
        "gcn_own": gcn_accuracy(own.graph, GCNS),
        "calibration": calibration(own, clean),
    }
    if own.verdict.expected_precision is not None:
        found["expected_precision"] = own.verdict.expected_precision
    if own.estimate is not None:
        found |= {part: getattr(own.estimate, part) for part in ("number", "low", "high")}
    return found


def calibration(own: Sanitation, clean: Graph) -> list[list[float]]:
    """For each tenth of probability: edges, the sum of their probabilities, and how many are planted."""
    pairs = np.concatenate([own.removed, own.suspects])
    probabilities = np.concatenate([own.scores, own.suspect_scores])
    places = np.minimum((10 * probabilities).astype(int), 9)
    columns = (np.ones(len(pairs)), probabilities, ~clean.has_edges(pairs))
    return np.stack([np.bincount(places, column, 10) for column in columns], axis=1).round(3).tolist()


def table(cells: tuple[Cell, ...], results: Results, rivals: Results, before: Results) -> str:
    """A row for each cell that was measured."""

    def share(found: dict[str, Any], value: float | None) -> str:
        return f"{100 * value / found['oracle']:.0f} %" if found["planted"] and value is not None else "–"

    def rows() -> Iterator[tuple[str, ...]]:
        for cell in cells:
            if cell.key not in results:
                continue
            found, other, old = results.cells[cell.key], rivals.cells[cell.key], before.cells.get(cell.key, {})
            interval = f"{found['number']:,.0f} ({found['low']:,.0f}–{found['high']:,.0f})" if "low" in found else "–"
            best = max(other[key] for key in other if key.startswith("gcn_"))
            expected = f" ({100 * found['expected_precision']:.0f} %)" if "expected_precision" in found else ""
            yield (
                f"{cell.data}, {cell.origin} {cell.power:.0%}, {cell.split} split",
                share(other, found["esr"]),
                share(other, old.get("esr")),
                share(other, other.get("ceiling")),
                share(other, max(other[f"esr_{rival}"] for rival in RIVALS)),
                found["status"],
                f"{other['planted']:,}",
                interval,
                f"{found['removed']:,}, {100 * found['precision']:.0f} %{expected}" if found["removed"] else "0",
                f"{100 * other['gcn_untouched']:.1f}, {100 * found['gcn_own']:.1f}, {100 * best:.1f}",
                f"{found['units']:,.0f}",
            )

    head = (
        "graph",
        "ESR at 10 %, share of the oracle's",
        "version 1",
        "ceiling",
        "best of `agreement`, `cld`, `lp`",
        "verdict",
        "planted",
        "estimate",
        "removed, precision (expected)",
        "GCN: before, after, best other",
        "units",
    )
    return markdown_table(head, rows())


def digest(cells: tuple[Cell, ...], results: Results, rivals: Results) -> str:
    """The figures that issue from the table: coverage, false alarms, harm, precision."""
    done = [(results.cells[cell.key], rivals.cells[cell.key]) for cell in cells if cell.key in results]
    found = [(own, other) for own, other in done if own["status"] == "poisoned"]
    held = sum(own["low"] <= other["planted"] <= own["high"] for own, other in found)
    wrong = sum(other["planted"] == 0 for _, other in found)
    clean = [(own, other) for own, other in done if other["planted"] == 0]
    most = max((own["removed"] / other["edges"] for own, other in clean), default=0.0)
    gaps = [own["expected_precision"] - own["precision"] for own, _ in found if "expected_precision" in own]
    behind = [max(v for k, v in other.items() if k.startswith("gcn_")) - own["gcn_own"] for own, other in done]
    statuses = {status: sum(own["status"] == status for own, _ in done) for status in STATUSES}
    return (
        f"- Verdicts: {', '.join(f'{number} *{status}*' for status, number in statuses.items())}.\n"
        f"- Where it is *poisoned*, the interval holds the truth in {held} of {len(found)} cells; "
        f"{wrong} of these are clean.\n"
        f"- {len(clean)} clean graphs: at most {100 * most:.1f} % of the edges removed.\n"
        f"- Expected precision minus precision: {100 * np.mean(gaps or [0]):+.0f} points on average, "
        f"{100 * np.mean(np.abs(gaps or [0])):.0f} in modulus.\n"
        f"- GCN more than a point below the best of untouched, `agreement`, `cld` and `lp` in "
        f"{sum(gap > 0.01 for gap in behind)} of {len(done)} cells, at worst by {100 * max(behind):.1f} points.\n"
    )


def draw_calibration(results: Results, cells: tuple[Cell, ...], path: Path) -> None:
    """A reliability diagram: the share of planted edges by the probability that was given, over all cells."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "focusedcleaner"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(4.5, 4))
    axes.plot([0, 1], [0, 1], color="gray", linewidth=1)
    for status in STATUSES:
        tables = [results.cells[cell.key] for cell in cells if cell.key in results]
        tables = [np.array(found["calibration"]) for found in tables if found["status"] == status]
        if tables:
            edges, probabilities, planted = np.sum(tables, axis=0).T
            some = edges >= 20
            axes.plot(
                probabilities[some] / edges[some],
                planted[some] / edges[some],
                marker="o",
                label=f"{status} ({len(tables)})",
            )
    axes.set_xlabel("probability given")
    axes.set_ylabel("share that was planted")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write_page(results: Results, rivals: Results) -> None:
    """Write both tables, as far as they are measured, and their diagrams."""
    before, parts = Results("trust_before"), []
    for name, cells in SETS.items():
        done = sum(cell.key in results for cell in cells)
        text = f"{done} of {len(cells)} cells are measured.\n\n"
        if done:
            picture = f"images/trust-{name}.svg"
            draw_calibration(results, cells, PAGES / picture)
            text += f"{digest(cells, results, rivals)}\n{table(cells, results, rivals, before)}\n"
            text += f"![Reliability diagram: share of planted edges by the probability given]({picture})\n"
        parts.append(f"### The {name} set\n\n{text}")
    PAGE.write("\n".join(parts))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--set", choices=SETS, default="development")
    options.add_argument("--only", default="", help="cells whose name contains this")
    chosen = options.parse_args()

    def work() -> None:
        results, rivals = Results("trust"), Results("trust_rivals")
        for cell in SETS[chosen.set]:
            if cell.key in results or chosen.only not in cell.key:
                continue
            clean, poisoned = graphs(cell)
            for store, what in ((rivals, compared), (results, measure)):
                if cell.key not in store:
                    found = what(cell, clean, poisoned)
                    store.add(cell.key, {part: rounded(value) for part, value in found.items()})
        write_page(results, rivals)

    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

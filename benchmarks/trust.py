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

from benchmarks.common import Results, Section, exit_code, gcn_accuracy, markdown_table, parser, rounded, unit
from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.datasets.published import data_folder
from focusedcleaner.edge_features.extractor import EdgeFeatureExtractor
from focusedcleaner.errors import InputError
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.io import load_adjacency, load_graph, load_split
from focusedcleaner.sanitizers import default_method, sanitizer
from focusedcleaner.scoring import Score, score

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


def measure(cell: Cell) -> dict[str, Any]:
    """What the default makes of a graph with a budget of 10 % and with its own, beside its rivals and the ceiling."""
    clean, poisoned = graphs(cell)
    name = default_method(poisoned)
    start = time.perf_counter()
    own = sanitizer(name).sanitize(poisoned)
    seconds = time.perf_counter() - start
    budget = max(1, int(BUDGET * poisoned.num_edges))

    def judged(removed: IntArray) -> Score:
        return score(removed, poisoned=poisoned, clean=clean)

    chosen = judged(own.removed)
    found: dict[str, Any] = {
        "method": name,
        "planted": chosen.attacked,
        "removed": chosen.removed,
        "precision": chosen.precision,
        "own_esr": chosen.esr,
        "units": seconds / unit(),
        "nodes": poisoned.num_nodes,
        "edges": poisoned.num_edges,
    }
    if own.estimate is not None:
        found |= {part: getattr(own.estimate, part) for part in ("number", "low", "high")}
    found["esr"] = judged(sanitizer(name).sanitize(poisoned, budget).removed).esr
    cleaned = {"untouched": poisoned, "own": own.graph}
    for rival in RIVALS:
        result = sanitizer(rival).sanitize(poisoned, budget)
        found[f"esr_{rival}"], cleaned[rival] = judged(result.removed).esr, result.graph
    found["oracle"] = min(budget, chosen.attacked) / max(budget, chosen.attacked)
    if chosen.attacked >= 10:
        best = np.argsort(-ceiling(clean, poisoned), kind="stable")[:budget]
        found["ceiling"] = judged(poisoned.edges[best]).esr
    found |= {f"gcn_{what}": gcn_accuracy(graph, GCNS) for what, graph in cleaned.items()}
    return found


def table(results: Results, cells: tuple[Cell, ...]) -> str:
    """A row for each cell that was measured."""

    def share(cell: dict[str, Any], key: str) -> str:
        return f"{100 * cell[key] / cell['oracle']:.0f} %" if cell["planted"] and key in cell else "–"

    def rows() -> Iterator[tuple[str, ...]]:
        for cell in cells:
            if (found := results.cells.get(cell.key)) is None:
                continue
            rivals = [found[f"esr_{rival}"] for rival in RIVALS]
            interval = f"{found['number']:,.0f} ({found['low']:,.0f}–{found['high']:,.0f})" if "low" in found else "–"
            best = max(found[key] for key in found if key.startswith("gcn_") and key != "gcn_own")
            yield (
                f"{cell.data}, {cell.origin} {cell.power:.0%}, {cell.split} split",
                share(found, "esr"),
                share(found, "ceiling"),
                f"{100 * max(rivals) / found['oracle']:.0f} %" if found["planted"] else "–",
                f"{found['planted']:,}",
                interval,
                f"{found['removed']:,}, {100 * found['precision']:.0f} %" if found["removed"] else "0",
                f"{100 * found['gcn_untouched']:.1f}, {100 * found['gcn_own']:.1f}, {100 * best:.1f}",
                f"{found['units']:,.0f}",
            )

    head = (
        "graph",
        "ESR at 10 %, share of the oracle's",
        "ceiling",
        "best of `agreement`, `cld`, `lp`",
        "planted",
        "estimate",
        "removed, precision",
        "GCN: before, after, best other",
        "units",
    )
    return markdown_table(head, rows())


def write_page(results: Results) -> None:
    """Write both tables, as far as they are measured."""
    parts = []
    for name, cells in SETS.items():
        done = sum(cell.key in results for cell in cells)
        measured = f"{done} of {len(cells)} cells are measured.\n\n{table(results, cells) if done else ''}"
        parts.append(f"### The {name} set\n\n{measured}")
    PAGE.write("\n".join(parts))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--set", choices=SETS, default="development")
    options.add_argument("--only", default="", help="cells whose name contains this")
    chosen = options.parse_args()

    def work() -> None:
        results = Results("trust")
        for cell in SETS[chosen.set]:
            if cell.key not in results and chosen.only in cell.key:
                results.add(cell.key, {part: rounded(value) for part, value in measure(cell).items()})
                write_page(results)

    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

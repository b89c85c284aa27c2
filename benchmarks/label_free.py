"""The default without labels: ranking, count and verdict, beside methods that need none; resumable.

python -m benchmarks.label_free [--set development|test] [--only cora]

The labels are hidden from every sanitizer; attackers know them. Both sets are fixed in docs/label-free.md. Settings are
chosen on the development set alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from benchmarks.common import Results, Section, exit_code, markdown_table, parser, rounded
from benchmarks.trust import Cell as PoisonedCell
from benchmarks.trust import clean_graph, graphs
from focusedcleaner.attacks import attack
from focusedcleaner.edge_features.pair_features import PairFeatures
from focusedcleaner.graph import FloatArray, Graph, Split, pair_keys, pairs_of_keys, unique_keys
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

PAGE = Section("label-free.md")
TITLES = {
    "development": "The development set",
    "test": "The test set",
    "all labels": "With all labels and no split",
}
BUDGET = 0.1
RIVALS = ("jaccard", "svd", "link predictor")


class Cell(NamedTuple):
    """A graph, clean or poisoned. ``draw`` 0 is the poison of benchmarks/trust.py; any other number seeds a split of
    the attacker's and the attack."""

    data: str
    origin: str
    power: float
    draw: int = 0
    labels: bool = False
    """Whether all labels are known, without a split."""

    @property
    def key(self) -> str:
        return f"{self.data} | {self.origin} | {self.power:g} | {self.draw}" + (" | all labels" if self.labels else "")


CITATIONS = ("cora", "citeseer")
DEVELOPMENT = (
    *(Cell(data, origin, 0.1) for data in CITATIONS for origin in ("mettack", "minmax", "dice")),
    *(Cell(data, "clean", 0.0) for data in (*CITATIONS, "synthetic", "polblogs")),
)
TEST = (
    *(Cell(data, origin, 0.1, 5) for data in CITATIONS for origin in ("mettack", "minmax", "dice")),
    *(Cell(data, "prognn", power) for data in CITATIONS for power in (0.05, 0.1, 0.2)),
    *(Cell("citeseer", "metapgd", power) for power in (0.05, 0.1, 0.2)),
    Cell("polblogs", "prognn", 0.1),
    *(Cell(f"wild/{name}", "clean", 0.0) for name in ("minesweeper", "actor", "squirrel_filtered", "dblp")),
    Cell("wild/dblp", "prbcd", 0.05),
    Cell("wild/actor", "minmax", 0.1),
    Cell("wild/amazon_photo", "clean", 0.0),
)
ALL_LABELS = (
    *(Cell(data, origin, 0.1, 5, labels=True) for data in CITATIONS for origin in ("mettack", "minmax", "dice")),
    *(Cell(data, "clean", 0.0, labels=True) for data in CITATIONS),
    *(Cell(data, "prognn", 0.2, labels=True) for data in CITATIONS),
    Cell("citeseer", "metapgd", 0.1, labels=True),
)
SETS = {"development": DEVELOPMENT, "test": TEST, "all labels": ALL_LABELS}


def clean_and_poisoned(cell: Cell) -> tuple[Graph, Graph]:
    """Both graphs, with labels; `measure` hides them."""
    if cell.origin == "clean":
        return clean_graph(cell.data), clean_graph(cell.data)
    if not cell.draw:
        return graphs(PoisonedCell(cell.data, cell.origin, cell.power))
    clean = clean_graph(cell.data)
    assert clean.labels is not None
    clean = clean.with_split(Split.random(clean.labels, seed=cell.draw))
    return clean, attack(cell.origin).poison(clean, cell.power, seed=cell.draw).graph


def link_predictor(graph: Graph) -> FloatArray:
    """Score edges by a gradient boosting that tells edges from random pairs, five folds; high scores are suspicious.

    The edge itself contributes to none of its features.
    """
    drawn = np.sort(np.random.default_rng(0).integers(0, graph.num_nodes, (2 * graph.num_edges, 2)), axis=1)
    keys = unique_keys(pair_keys(drawn[drawn[:, 0] < drawn[:, 1]], graph.num_nodes))
    others = pairs_of_keys(keys, graph.num_nodes)
    others = np.random.default_rng(1).permutation(others[~graph.has_edges(others)])[: graph.num_edges]
    pairs = np.concatenate([graph.edges, others])
    labelled = replace(graph, labels=np.arange(graph.num_nodes) % 2)  # for the columns that are left out
    columns = PairFeatures(graph).columns(labelled, pairs)
    truth = np.arange(len(pairs)) < graph.num_edges
    for name in ("min_degree", "max_degree"):
        columns[name] = columns[name] - truth
    table = np.column_stack([columns[name] for name in PREDICTORS if name in columns])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = HistGradientBoostingClassifier(max_iter=60, learning_rate=0.08, max_leaf_nodes=15, random_state=0)
    likely = cross_val_predict(model, table, truth, cv=folds, method="predict_proba")[:, 1]
    return -likely[: graph.num_edges]


PREDICTORS = (
    "common_neighbours",
    "adamic_adar",
    "min_degree",
    "max_degree",
    "attribute_similarity",
    "tfidf_similarity",
)


def hidden(graph: Graph) -> Graph:
    """The graph without its labels."""
    return replace(graph, labels=None, split=None, class_names=None)


def esr(scores: FloatArray | None, clean: Graph, poisoned: Graph) -> float:
    """The ESR of a ranking with a budget of 10 %."""
    assert scores is not None
    chosen = np.argsort(-scores, kind="stable")[: int(BUDGET * poisoned.num_edges)]
    return score(poisoned.edges[chosen], poisoned=poisoned, clean=clean).esr


def compared(clean: Graph, poisoned: Graph) -> dict[str, Any]:
    """The rankings of methods that need no labels, and the oracle's."""
    seen, budget = hidden(poisoned), int(BUDGET * poisoned.num_edges)
    judged = score(poisoned.edges[:budget], poisoned=poisoned, clean=clean)
    found: dict[str, Any] = {"edges": poisoned.num_edges, "planted": judged.attacked}
    if judged.attacked:
        found["oracle"] = judged.oracle_esr
        for rival in RIVALS[:2]:
            if rival != "jaccard" or seen.attributes is not None:
                found[f"esr_{rival}"] = esr(sanitizer(rival).sanitize(seen, BUDGET).edge_scores, clean, poisoned)
        found["esr_link predictor"] = esr(link_predictor(seen), clean, poisoned)
    return found


def measure(clean: Graph, poisoned: Graph, *, labels: bool) -> dict[str, Any]:
    """One run without a budget, without labels or with all of them."""
    seen = poisoned.with_split(None).with_drawn_split(0, hide=False) if labels else hidden(poisoned)
    start = time.process_time()
    own = sanitizer("self-attack").sanitize(seen)
    seconds = time.process_time() - start
    assert own.estimate is not None
    return {
        "esr": esr(own.edge_scores, clean, poisoned),
        "status": own.verdict.status,
        **{part: getattr(own.estimate, part) for part in ("number", "low", "high")},
        "chosen": float(np.mean(own.trace["purposeful"][-2:])),
        "removed": len(own.removed),
        "hits": score(own.removed, poisoned=poisoned, clean=clean).hits,
        "expected_precision": own.verdict.expected_precision,
        "seconds": seconds,
    }


def table(cells: tuple[Cell, ...], results: Results, rivals: Results) -> str:
    """A row for each measured cell."""

    def share(found: dict[str, Any], name: str) -> str:
        return f"{100 * found[name] / found['oracle']:.0f} %" if name in found and "oracle" in found else "–"

    def rows() -> Iterator[tuple[str, ...]]:
        for cell in cells:
            if cell.key not in results or cell.key not in rivals:
                continue
            found = {**rivals.cells[cell.key], **results.cells[cell.key]}
            precision = f", {100 * found['hits'] / found['removed']:.0f} %" if found["removed"] else ""
            expected = f" ({100 * found['expected_precision']:.0f} %)" if found["removed"] else ""
            yield (
                f"{cell.data}, {cell.origin}{f' {cell.power:.0%}' if cell.power else ''}"
                + (", another draw" if cell.draw else ""),
                share(found, "esr"),
                *(share(found, f"esr_{rival}") for rival in RIVALS),
                found["status"],
                f"{found['planted']:,} of {found['edges']:,}",
                f"{found['number']:,.0f} ({found['low']:,.0f}–{found['high']:,.0f})",
                f"{found['removed']:,}{precision}{expected}",
                f"{found['seconds']:.0f}",
            )

    head = (
        "graph",
        "ESR at 10 %, share of the oracle's",
        *(f"{rival}" if rival == "link predictor" else f"`{rival}`" for rival in RIVALS),
        "verdict",
        "planted",
        "estimate",
        "removed, precision (expected)",
        "CPU s",
    )
    return markdown_table(head, rows())


def write_page(results: Results, rivals: Results) -> None:
    """Write both tables, as far as they are measured."""
    parts = []
    for name, cells in SETS.items():
        done = sum(cell.key in results for cell in cells)
        head = f"### {TITLES[name]}\n\n{done} of {len(cells)} cells are measured.\n\n"
        parts.append(head + table(cells, results, rivals))
    PAGE.write("\n".join(parts))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--set", choices=SETS, default="development")
    options.add_argument("--only", default="", help="cells whose name contains this")
    chosen = options.parse_args()

    def work() -> None:
        results, rivals = Results("label_free"), Results("label_free_rivals")
        for cell in SETS[chosen.set]:
            if (cell.key in results and cell.key in rivals) or chosen.only not in cell.key:
                continue
            graphs_of_cell = clean_and_poisoned(cell)
            for store, what in ((rivals, compared), (results, partial(measure, labels=cell.labels))):
                if cell.key not in store:
                    found = what(*graphs_of_cell)
                    store.add(cell.key, {part: rounded(value) for part, value in found.items()})
            write_page(results, rivals)
        write_page(results, rivals)

    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

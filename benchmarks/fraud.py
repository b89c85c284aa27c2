"""Planted groups of fake accounts in real bipartite graphs: ranking, verdict and count of dense-blocks; resumable.

python -m benchmarks.fraud [--set development|test|scale] [--only cora]

Both sets were fixed before the first experiment (docs/fraud.md): settings are chosen on the development set alone.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import Results, Section, exit_code, markdown_table, parser, peak_memory, rounded, unit
from focusedcleaner import datasets
from focusedcleaner.datasets.published import data_folder
from focusedcleaner.edge_features.dense_blocks import Incidence, objective, peel
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count
from focusedcleaner.graph import BoolArray, Graph, IntArray
from focusedcleaner.io import load_graph
from focusedcleaner.sanitizers import sanitizer

PAGE = Section("fraud.md")
CAMOUFLAGE = ("none", "random", "biased", "hijacked")
BLOCKS = (
    *((200, 200, density) for density in (0.05, 0.1, 0.2, 0.5)),
    *((50, 50, density) for density in (0.2, 0.5, 1.0)),
    (27, 10, 1.0),
)
FEWER_BLOCKS = ((200, 200, 0.2), (200, 200, 0.5), (50, 50, 1.0))
LARGE = ("coauthor_cs", "amazon_photo")
"""Graphs of a million edges and more, with fewer blocks and kinds of camouflage."""
NOTES = {"source_column": "account", "target_column": "item", "a_source": "0"}


class Cell(NamedTuple):
    """A graph with a planted block of so many accounts and items, or without one (density 0)."""

    data: str
    accounts: int = 0
    items: int = 0
    density: float = 0.0
    camouflage: str = "none"
    seed: int = 0

    @property
    def key(self) -> str:
        block = (
            f"{self.accounts} × {self.items} | {self.density:g} | {self.camouflage}" if self.density else "untouched"
        )
        return f"{self.data} | {block} | {self.seed}"


def _cells(data: str) -> Iterator[Cell]:
    if data == "reviews":
        for seed in range(5):
            yield Cell(data, seed=seed)
            yield from (Cell(data, 27, items, 1.0, kind, seed) for items in (9, 12) for kind in CAMOUFLAGE)
        return
    yield Cell(data)
    for accounts, items, density in FEWER_BLOCKS if data in LARGE else BLOCKS:
        kinds = CAMOUFLAGE[2:] if data in LARGE else CAMOUFLAGE
        if data != "texas" or items < 200:  # of 183 accounts, 200 can't be hijacked
            yield from (Cell(data, accounts, items, density, kind) for kind in kinds)


DEVELOPMENT = tuple(cell for data in ("cora", "dblp", "blogcatalog") for cell in _cells(data))
TEST = tuple(
    cell
    for data in ("reviews", "texas", "citeseer", "actor", "squirrel_filtered", "coauthor_cs", "amazon_photo")
    for cell in _cells(data)
)
SCALE = tuple(Cell(f"power law {edges:,}") for edges in (10_000, 100_000, 1_000_000))
SETS = {"development": DEVELOPMENT, "test": TEST, "scale": SCALE}


@cache
def incidence(data: str, seed: int = 0) -> Incidence:
    """Accounts × items of a graph; nodes without edges are left out."""
    if data == "reviews":
        return power_law(1_500, 400, 4_000, seed)
    if data.startswith("power law"):
        edges = int(data.removeprefix("power law ").replace(",", ""))
        return power_law(edges // 5, edges // 20, edges, seed)
    attributes = _graph(data).attributes
    assert attributes is not None
    accounts, items = (attributes != 0).nonzero()
    accounts, items = (np.unique(side, return_inverse=True)[1].astype(np.int64) for side in (accounts, items))
    return Incidence(accounts, items, int(accounts.max()) + 1, int(items.max()) + 1)


def _graph(data: str) -> Graph:
    if data in ("cora", "citeseer"):
        return datasets.load(data)
    folder = data_folder()
    if folder is None:
        raise InputError("set FOCUSEDCLEANER_DATA to the folder of the graphs: these are not downloaded")
    return load_graph(folder / "wild" / f"{data}.npz")


def power_law(accounts: int, items: int, edges: int, seed: int) -> Incidence:
    """Random edges: the k-th account draws with weight 1/√k, the k-th item with weight k^−0.8."""
    rng = np.random.default_rng(seed)
    weights = np.arange(1, accounts + 1) ** -0.5, np.arange(1, items + 1) ** -0.8
    i, j = (rng.choice(len(weight), edges, p=weight / weight.sum()) for weight in weights)
    keys = np.unique(i * items + j)
    i, j = (np.unique(side, return_inverse=True)[1] for side in (keys // items, keys % items))
    return Incidence(i, j, int(i.max()) + 1, int(j.max()) + 1)


class Planted(NamedTuple):
    """A graph of accounts and items with a block, and which of its edges are the block's new ones."""

    incidence: Incidence
    truth: BoolArray
    accounts: IntArray
    items: IntArray


def plant(clean: Incidence, cell: Cell) -> Planted:
    """Plant a block; the camouflage is not part of it."""
    rng = np.random.default_rng(cell.seed)
    width, total = clean.num_targets, clean.num_sources
    accounts = total + np.arange(cell.accounts)
    if cell.camouflage == "hijacked":
        accounts = rng.choice(total, cell.accounts, replace=False)
    items = rng.choice(width, cell.items, replace=False)
    i, j = np.nonzero(rng.random((cell.accounts, cell.items)) < cell.density)
    before, block = clean.sources * width + clean.targets, accounts[i] * width + items[j]
    others = block[:0]
    if cell.camouflage in ("random", "biased"):
        source = accounts[rng.integers(0, cell.accounts, len(i))]
        target = rng.integers(0, width, len(i))
        if cell.camouflage == "biased":
            target = clean.targets[rng.integers(0, clean.num_edges, len(i))]
        others = source * width + target
    keys = np.unique(np.concatenate([before, block, others]))
    truth = np.isin(keys, block) & ~np.isin(keys, before)
    whole = Incidence(keys // width, keys % width, max(total, int(accounts.max(initial=0)) + 1), width)
    return Planted(whole, truth, accounts, items)


def as_graph(whole: Incidence) -> Graph:
    """The bipartite graph, accounts first."""
    pairs = np.column_stack([whole.sources, whole.num_sources + whole.targets])
    nodes = whole.num_sources + whole.num_targets
    return Graph.from_pairs(nodes, pairs, names=tuple(range(nodes)), notes=NOTES)


@cache
def untouched_objectives(data: str, seed: int) -> tuple[float, float]:
    """The largest objective found in an untouched graph, FRAUDAR's and ours."""
    return peel(incidence(data, seed), 0.0)[0], peel(incidence(data, seed))[0]


@cache
def _unit() -> float:
    return unit()


def measure(cell: Cell) -> dict[str, Any]:
    """What dense-blocks makes of a graph, and what FRAUDAR's first block holds."""
    clean = incidence(cell.data, cell.seed)
    planted = (
        plant(clean, cell)
        if cell.density
        else Planted(clean, np.zeros(clean.num_edges, dtype=bool), *(2 * [clean.sources[:0]]))
    )
    whole, truth = planted.incidence, planted.truth
    graph = as_graph(whole)
    start = time.perf_counter()
    result = sanitizer("dense-blocks").sanitize(graph)
    seconds = time.perf_counter() - start
    assert result.edge_scores is not None
    numbers = graph.edge_numbers(np.column_stack([whole.sources, whole.num_sources + whole.targets]))
    scores, size = result.edge_scores[numbers], int(truth.sum())
    removed = np.isin(numbers, graph.edge_numbers(result.removed))
    found: dict[str, Any] = {
        "edges": whole.num_edges,
        "planted": size,
        "status": result.verdict.status,
        "reason": result.verdict.reason,
        "removed": int(removed.sum()),
        "units": seconds / _unit(),
        "seconds": seconds,
        "memory": peak_memory(),
    }
    if result.estimate is not None:
        found |= {part: getattr(result.estimate, part) for part in ("number", "low", "high")}
        found["precision"] = float(truth[removed].mean()) if removed.any() else 0.0
        found["expected_precision"] = result.verdict.expected_precision
    if size:
        found["recovered"] = float(truth[np.argsort(-scores, kind="stable")[:size]].mean())
        first = whole.inside(*peel(whole, 0.0)[1:]) * whole.weights[whole.targets]
        found["fraudar"] = float(truth[np.argsort(-first, kind="stable")[:size]].mean())
        sides = np.zeros(whole.num_sources, dtype=bool), np.zeros(whole.num_targets, dtype=bool)
        sides[0][planted.accounts], sides[1][planted.items] = True, True
        natural = untouched_objectives(cell.data, cell.seed)
        found["times_fraudar"], found["times"] = (
            objective(whole, *sides, null) / value for null, value in zip((0.0, 1.0), natural, strict=True)
        )
    return found


def table(cells: tuple[Cell, ...], results: Results) -> str:
    """A row for each graph and block; four values are those of the four kinds of camouflage."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for cell in cells:
        if cell.key in results:
            block = f"{cell.accounts} × {cell.items}, {cell.density:.0%}" if cell.density else "untouched"
            rows.setdefault(f"{cell.data}, {block}", []).append(results.cells[cell.key])

    def lines() -> Iterator[tuple[str, ...]]:
        for name, found in rows.items():
            statuses = [one["status"] for one in found]
            verdicts = ", ".join(f"{statuses.count(status)} {status}" for status in dict.fromkeys(statuses))
            if "recovered" not in found[0]:
                yield name, "–", "–", "–", verdicts, "–", "–"
                continue
            counted = [one for one in found if "number" in one]
            gap = "–"
            if counted:
                gap = f"{np.mean([one['number'] / one['planted'] for one in counted]):.2f}"
            yield (
                name,
                f"{_mean(found, 'times'):.1f} ({_mean(found, 'times_fraudar'):.1f})",
                " ".join(f"{100 * one['recovered']:.0f}" for one in found[:8]),
                f"{100 * _mean(found, 'fraudar'):.0f}",
                verdicts,
                " ".join(f"{100 * one['precision']:.0f}" for one in counted[:8]) or "–",
                gap,
            )

    head = (
        "graph, block, density",
        "g ÷ untouched (FRAUDAR's)",
        "% in the first \\|block\\|",
        "FRAUDAR, mean",
        "verdicts",
        "precision, %",
        "estimate ÷ truth",
    )
    return markdown_table(head, lines())


def digest(cells: tuple[Cell, ...], results: Results) -> str:
    """The figures that issue from the table."""
    done = [results.cells[cell.key] for cell in cells if cell.key in results]
    untouched = [one for one in done if not one["planted"]]
    blocks = [one for one in done if one["planted"]]
    counted = [one for one in blocks if "number" in one]
    text = f"- {count(len(untouched), 'untouched graph')}: {_statuses(untouched)}.\n"
    ranges = (
        ("at least twice", 2.0, np.inf),
        ("1.5 to 2 times", 1.5, 2.0),
        ("1 to 1.5 times", 1.0, 1.5),
        ("less than", 0.0, 1.0),
    )
    for name, low, high in ranges:
        some = [one for one in blocks if low <= one["times"] < high]
        if some:
            good = sum(one["recovered"] >= 0.9 for one in some)
            text += (
                f"- g {name} that of the untouched graph: {len(some)} planted blocks; at least 90 % of their edges in "
                f"the first \\|block\\| of the ranking in {good}, {100 * _mean(some, 'recovered'):.0f} % on average "
                f"(FRAUDAR's first block: {100 * _mean(some, 'fraudar'):.0f} %); {_statuses(some)}.\n"
            )
    paper = [one for one in blocks if one["times_fraudar"] > 2]
    good = sum(one["recovered"] >= 0.9 for one in paper)
    text += (
        f"- FRAUDAR's own g more than twice that of the untouched graph, which is what its guarantee asks for: "
        f"{len(paper)} blocks; at least 90 % in {good}.\n"
    )
    if counted:
        held = sum(one["low"] <= one["planted"] <= one["high"] for one in counted)
        off = [abs(one["expected_precision"] - one["precision"]) for one in counted]
        text += (
            f"- The interval of the count held the truth in {held} of {len(counted)} *poisoned* cells; the expected "
            f"precision was off by {100 * np.mean(off):.0f} points on average.\n"
        )
    return text


def _mean(found: list[dict[str, Any]], part: str) -> float:
    return float(np.mean([one[part] for one in found]))


def _statuses(found: list[dict[str, Any]]) -> str:
    statuses = [one["status"] for one in found]
    return ", ".join(f"{statuses.count(status)} *{status}*" for status in dict.fromkeys(statuses))


def write_page(results: Results) -> None:
    """Write both tables and the times, as far as they are measured."""
    parts = []
    for name in ("development", "test"):
        cells = SETS[name]
        done = sum(cell.key in results for cell in cells)
        if done:
            text = f"{digest(cells, results)}\n{table(cells, results)}"
            parts.append(f"### The {name} set\n\n{done} of {len(cells)} cells are measured.\n\n{text}")
    large = [cell for cell in (*TEST, *SCALE) if cell.key in results and not cell.density and cell.data != "reviews"]
    found = [(cell.data, results.cells[cell.key]) for cell in large]
    times = [
        (data, f"{one['edges']:,}", f"{one['seconds']:.1f}", f"{one['units']:,.0f}", f"{one['memory']:.1f}")
        for data, one in sorted(found, key=lambda pair: pair[1]["edges"])
    ]
    head = ("untouched graph", "edges", "seconds", "units", "peak memory of the process, GB")
    parts.append(f"### Time\n\n{markdown_table(head, times)}")
    PAGE.write("\n".join(parts))


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--set", choices=SETS, default="development")
    options.add_argument("--only", default="", help="cells whose name contains this")
    chosen = options.parse_args()

    def work() -> None:
        results = Results("fraud")
        for cell in SETS[chosen.set]:
            if cell.key not in results and chosen.only in cell.key:
                results.add(cell.key, {part: rounded(value) for part, value in measure(cell).items()})
        write_page(results)

    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

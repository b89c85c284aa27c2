"""Which cells are to be computed, in which order, and how long that takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import mean

from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Pruning, Sanitation, Statistics
from focusedcleaner.experiments.sources import clean_graph, published_graph
from focusedcleaner.experiments.store import CellResult

POWERS_FIRST = (0.0, 0.1, 0.25, 0.05, 0.2, 0.15)
"""The order in which powers are filled."""

_SECONDS = {
    "mettack": 60.0,
    "minmax": 20.0,
    "nettack": 5.0,
    "gcn": 1.2,
    "mlp": 0.7,
    "sgc": 0.4,
    "rgcn": 4.0,
    "prognn": 12.0,
    "median": 5.0,
    "simpgcn": 5.0,
    "gnnguard": 1.5,
    "elastic": 5.0,
    "air": 2.3,
    "maskgvae": 20.0,
    "lp": 5.0,
    "cld": 3.5,
}
"""What a cell takes on one core where none like it has been timed."""


def in_order(experiments: Iterable[Experiment], only: str = "") -> list[Cell]:
    """All cells, each once, so that the tables fill evenly: the first seed of everything, 10 % first, then the rest.

    Args:
        experiments: whose cells.
        only: a text that a cell's label must have in it.
    """
    wanted: dict[str, tuple[tuple[int, int, int], Cell]] = {}
    for place, experiment in enumerate(experiments):
        for cell in experiment.cells():
            if only not in cell.label:
                continue
            priority = (_seed(cell), _power_rank(cell), place)
            if cell.key not in wanted or priority < wanted[cell.key][0]:
                wanted[cell.key] = priority, cell
    return [cell for _, cell in sorted(wanted.values(), key=lambda one: one[0])]


def to_compute(cells: Iterable[Cell], known: Mapping[str, CellResult], with_arrays: set[str]) -> dict[str, Cell]:
    """What is missing, by key, every cell after those that it builds on.

    Args:
        cells: what is wanted, in order.
        known: the results that are there.
        with_arrays: the keys of results that others can build on.
    """
    missing: dict[str, Cell] = {}

    def add(cell: Cell) -> None:
        if cell.key in missing:
            return
        for needed in cell.inputs():
            if needed.key not in with_arrays:
                add(needed)
        missing[cell.key] = cell

    for cell in cells:
        if cell.key not in known:
            add(cell)
    return missing


class Estimate:
    """How long cells take, by like cells whose time is known.

    Args:
        cells: any cells.
        known: results by key, with their seconds.
    """

    def __init__(self, cells: Sequence[Cell], known: Mapping[str, CellResult]) -> None:
        timed: dict[tuple[str, ...], list[float]] = {}
        everyone = {one.key: one for cell in cells for one in (cell, *cell.inputs())}
        for key, one in everyone.items():
            for like in _likes(one) if key in known else ():
                timed.setdefault(like, []).append(known[key].seconds)
        self._means = {like: mean(seconds) for like, seconds in timed.items()}

    def seconds(self, cell: Cell) -> float:
        """The mean of like cells: of the same method on the same data set, else on any, else a table's value."""
        for like in _likes(cell):
            if like in self._means:
                return self._means[like]
        return _SECONDS.get(cell.method, 0.2 if isinstance(cell, Pruning | Statistics) else 3.0)

    def total(self, cells: Iterable[Cell]) -> float:
        return sum(self.seconds(cell) for cell in cells)


def check_sources(cells: Iterable[Cell]) -> None:
    """Load every graph that the cells start from, so that a missing file is told before anything is computed."""
    sources, published = set(), set()
    for cell in cells:
        sources.add(cell.source)
        poison = _poison(cell)
        if poison is not None and poison.attack == "published":
            published.add(poison)
    for source in sorted(sources, key=lambda one: one.label):
        clean_graph(source)
    for poison in sorted(published, key=lambda one: one.label):
        published_graph(poison)


def _likes(cell: Cell) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return (cell.kind, cell.method, cell.source.data), (cell.kind, cell.method)


def _poison(cell: Cell) -> Poison | None:
    if isinstance(cell, Accuracy):
        cell = cell.graph
    if isinstance(cell, Sanitation | Pruning):
        return cell.poison
    return cell if isinstance(cell, Poison) else None


def _seed(cell: Cell) -> int:
    """The seed, or the number of the split where that is what varies."""
    split = cell.source.split
    drawn = int(split.partition(" ")[2]) if split.startswith("random ") else 0
    return max(getattr(cell, "seed", 0), drawn)


def _power_rank(cell: Cell) -> int:
    poison = _poison(cell)
    power = 0.0 if poison is None else poison.power
    return POWERS_FIRST.index(power) if power in POWERS_FIRST else len(POWERS_FIRST)

"""Shared by all benchmarks: the unit of time, published poisoned graphs, stored results, pages and commands."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from focusedcleaner import datasets
from focusedcleaner.classifiers import classifier
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_adjacency, load_split
from focusedcleaner.io.convert import from_scipy
from focusedcleaner.io.transaction import write_files

RESULTS = Path(__file__).parent / "results"
PAGES = Path(__file__).parent.parent / "docs"


def unit() -> float:
    """Return the seconds of one dense float32 product 2485×2485 by 2485×1433 with two threads, the best of nine."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    left, right = torch.rand(2485, 2485), torch.rand(2485, 1433)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        left @ right
        times.append(time.perf_counter() - start)
    torch.set_num_threads(before)
    return min(times[1:])


def peak_memory() -> float:
    """Return the peak resident size of this process in GB, libraries included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@cache
def published(name: str, power: float) -> tuple[Graph, Graph]:
    """Return a clean graph and the same graph after Pro-GNN's METTACK, both with Pro-GNN's split."""
    folder = os.environ.get("FOCUSEDCLEANER_DATA")
    if not folder:
        raise InputError("set FOCUSEDCLEANER_DATA to the folder that holds prognn/: these graphs are not downloaded")
    clean = datasets.load(name)
    clean = replace(clean, names=tuple(range(clean.num_nodes)))  # keeps the order in which the stored results were made
    clean = clean.with_split(load_split(Path(folder) / "prognn" / f"{name}_prognn_splits.json"))
    if not power:
        return clean, clean
    adjacency = load_adjacency(Path(folder) / "prognn" / f"{name}_meta_adj_{power:g}.npz")
    parts = {name: getattr(clean, name) for name in ("attributes", "labels", "split", "names")}
    poisoned = from_scipy(adjacency, **parts)
    return clean, poisoned


class Results:
    """Cells by name in one JSON file, saved as soon as they are computed."""

    def __init__(self, name: str) -> None:
        self.path = RESULTS / f"{name}.json"
        self.cells: dict[str, Any] = self._saved()

    def __contains__(self, cell: str) -> bool:
        return cell in self.cells

    def _saved(self) -> dict[str, Any]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, cell: str, value: Mapping[str, Any]) -> None:
        """Save a cell, beside those that other processes have saved in the meantime."""
        self.cells = {**self.cells, **self._saved(), cell: dict(value)}
        self.path.parent.mkdir(exist_ok=True)
        write_files({self.path: (json.dumps(self.cells, indent=1, sort_keys=True) + "\n").encode()})


def in_subprocess(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` in a process of its own, for its peak memory, and return its JSON answer."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@dataclass(frozen=True)
class Section:
    """The part of a page in docs/ that a benchmark writes, between two comments.

    Args:
        page: file name.
        name: text of the first comment.
        end: text of the second comment.
    """

    page: str
    name: str = "measured"
    end: str = "end"

    def write(self, text: str) -> None:
        """Replace the section."""
        path, first, last = PAGES / self.page, f"<!-- {self.name} -->\n", f"<!-- {self.end} -->"
        before, _, rest = path.read_text(encoding="utf-8").partition(first)
        _, _, after = rest.partition(last)
        write_files({path: f"{before}{first}{text}{last}{after}".encode()})


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def gcn_accuracy(graph: Graph, seeds: int) -> float:
    """Return the mean test accuracy of a GCN over some seeds."""
    return float(np.mean([classifier("gcn").fit(graph, seed=seed).accuracy(graph) for seed in range(seeds)]))


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float, int]:
    """Return mean, standard deviation and number of values."""
    return float(np.mean(values)), float(np.std(values)), len(values)


def parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser described by the first line of a module's docstring."""
    return argparse.ArgumentParser(description=(doc or "").partition("\n")[0])


def cells_main(
    doc: str | None,
    name: str,
    cells: Iterable[tuple[str | float, ...]],
    measure: Callable[..., Mapping[str, Any]],
    write: Callable[[Results], None],
) -> int:
    """Measure the missing cells, save each at once and write the page; return the exit code.

    Args:
        doc: docstring of the benchmark's module, for its help.
        name: name of the results file.
        cells: arguments of `measure`, which also name the cell.
        measure: returns the figures of a cell.
        write: writes the page.
    """
    options = parser(doc)
    options.add_argument("--only", default="", help="cells whose name contains this")
    only: str = options.parse_args().only

    def work() -> None:
        results = Results(name)
        for cell in cells:
            key = " | ".join(f"{part:g}" if isinstance(part, float) else part for part in cell)
            if key not in results and only in key:
                results.add(key, {part: rounded(value) for part, value in measure(*cell).items()})
                write(results)

    return exit_code(work)


def grid_main(
    doc: str | None,
    run: Callable[[list[str], list[str], list[float], int], None],
    *,
    seeds: int,
    names: Sequence[str],
    powers: Sequence[float],
    **methods: Sequence[str],
) -> int:
    """Run a benchmark over methods, data sets, powers and seeds, each an option; return the exit code.

    Args:
        doc: docstring of the benchmark's module, for its help.
        run: called with methods, names, powers and the number of seeds.
        seeds: default of ``--seeds``.
        names: default of ``--names``.
        powers: default of ``--powers``.
        methods: the option for the methods, with its default.
    """
    ((option, choices),) = methods.items()
    options = parser(doc)
    options.add_argument("--seeds", type=int, default=seeds)
    for key, default in ((option, choices), ("names", names), ("powers", [f"{power:g}" for power in powers])):
        options.add_argument(f"--{key}", default=",".join(default))
    chosen = options.parse_args()
    wanted = [float(power) for power in chosen.powers.split(",")]
    return exit_code(lambda: run(getattr(chosen, option).split(","), chosen.names.split(","), wanted, chosen.seeds))


def rounded(value: Any) -> Any:
    """Round a number, or a list of them, to four decimals."""
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def exit_code(work: Callable[[], object]) -> int:
    """Do the work and return the exit code: 2, with one line of reason, if the input is at fault."""
    try:
        work()
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0

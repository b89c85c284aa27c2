"""What every benchmark needs: the unit of time, published poisoned graphs, and results that are kept at once."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

from focusedcleaner import datasets
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_adjacency, load_split
from focusedcleaner.io.convert import from_scipy
from focusedcleaner.io.disk import write_files

RESULTS = Path(__file__).parent / "results"
PAGES = Path(__file__).parent.parent / "docs"


def unit() -> float:
    """Seconds of one dense float32 product of a 2485×2485 by a 2485×1433 matrix with two threads, the best of nine."""
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
    """The largest resident size of this process so far, in GB, libraries included."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


@cache
def published(name: str, power: float) -> tuple[Graph, Graph]:
    """A clean graph and the same after Pro-GNN's METTACK, both with Pro-GNN's split."""
    folder = os.environ.get("FOCUSEDCLEANER_DATA")
    if not folder:
        raise InputError("set FOCUSEDCLEANER_DATA to the folder that holds prognn/: these graphs are not downloaded")
    clean = datasets.load(name)
    clean = clean.with_split(load_split(Path(folder) / "prognn" / f"{name}_prognn_splits.json"))
    if not power:
        return clean, clean
    adjacency = load_adjacency(Path(folder) / "prognn" / f"{name}_meta_adj_{power:g}.npz")
    poisoned = from_scipy(adjacency, attributes=clean.attributes, labels=clean.labels, split=clean.split)
    return clean, poisoned


class Results:
    """Cells by name in one JSON file, written as soon as they are known."""

    def __init__(self, name: str) -> None:
        self.path = RESULTS / f"{name}.json"
        self.cells: dict[str, Any] = self._kept()

    def __contains__(self, cell: str) -> bool:
        return cell in self.cells

    def _kept(self) -> dict[str, Any]:
        return json.loads(self.path.read_text()) if self.path.exists() else {}

    def add(self, cell: str, value: Mapping[str, Any]) -> None:
        """Keep a cell, beside whatever another process has kept in the meantime."""
        self.cells = {**self.cells, **self._kept(), cell: dict(value)}
        self.path.parent.mkdir(exist_ok=True)
        write_files({self.path: (json.dumps(self.cells, indent=1, sort_keys=True) + "\n").encode()})


def apart(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` in a process of its own, so that its memory is its own; its JSON answer."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@dataclass(frozen=True)
class Section:
    """A part of a page in docs/ that a benchmark writes: what stands between two comments.

    Args:
        page: the file's name.
        name: of the first comment.
        end: of the second.
    """

    page: str
    name: str = "measured"
    end: str = "end"

    def write(self, text: str) -> None:
        """Replace the part."""
        path, first, last = PAGES / self.page, f"<!-- {self.name} -->\n", f"<!-- {self.end} -->"
        before, _, rest = path.read_text(encoding="utf-8").partition(first)
        _, _, after = rest.partition(last)
        write_files({path: f"{before}{first}{text}{last}{after}".encode()})


def only_asked(about: str | None) -> str:
    """The command's one option, ``--only``: a text that the name of a cell must have in it."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--only", default="", help="cells whose name contains this")
    only: str = parser.parse_args().only
    return only


def fill(
    name: str,
    cells: Iterable[tuple[str | float, ...]],
    measure: Callable[..., Mapping[str, Any]],
    write: Callable[[Results], None],
    *,
    only: str,
) -> None:
    """Measure the cells that are not there yet; each is kept at once, and the page written.

    Args:
        name: of the results' file.
        cells: what `measure` is called with.
        measure: returns a cell's figures.
        write: writes the page.
        only: a text that the name of a cell must have in it.
    """
    results = Results(name)
    for cell in cells:
        key = " | ".join(f"{part:g}" if isinstance(part, float) else part for part in cell)
        if key not in results and only in key:
            results.add(key, {part: rounded(value) for part, value in measure(*cell).items()})
            write(results)


def rounded(value: Any) -> Any:
    """A number, or a list of them, to four decimals."""
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return round(value, 4) if isinstance(value, float) else value


def ended(work: Callable[[], object]) -> int:
    """Do the work; the exit code, 2 with one line of reason where the input is at fault."""
    try:
        work()
    except InputError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0

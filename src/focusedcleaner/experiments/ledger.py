"""The small results that the package brings: numbers of cells in sorted CSV files, a line a cell."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.io.disk import prefix_errors, write_files

FOLDER = Path(__file__).parent / "results"


@cache
def shipped() -> Mapping[str, CellResult]:
    """What the package brings, by key."""
    folder = files("focusedcleaner.experiments") / "results"
    known: dict[str, CellResult] = {}
    for path in folder.iterdir():
        if path.name.endswith(".csv"):
            known.update(read(path.read_text(encoding="utf-8")))
    return known


def read(text: str) -> dict[str, CellResult]:
    """The results in a file's text, by key."""
    rows = csv.DictReader(io.StringIO(text))
    about = ("key", "cell", "seconds")
    return {
        row["key"]: CellResult(
            {name: _number(value) for name, value in row.items() if name not in about}, float(row["seconds"])
        )
        for row in rows
    }


def texts(cells: Iterable[Cell], known: Mapping[str, CellResult]) -> dict[str, str]:
    """The files' texts by name: of those cells whose results are known, by kind and data set, sorted."""
    groups: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        if cell.key in known:
            groups.setdefault(f"{cell.kind}-{cell.source.data}.csv", {})[cell.key] = cell
    return {name: _text(group.values(), known) for name, group in sorted(groups.items())}


def write(cells: Iterable[Cell], known: Mapping[str, CellResult], folder: Path = FOLDER) -> int:
    """Replace the files of a folder by the results of these cells; how many there are."""
    contents = texts(cells, known)
    with prefix_errors(folder):
        folder.mkdir(exist_ok=True)
    write_files({folder / name: text.encode() for name, text in contents.items()})
    for path in folder.glob("*.csv"):
        if path.name not in contents:
            path.unlink()
    return sum(text.count("\n") - 1 for text in contents.values())


def _text(cells: Iterable[Cell], known: Mapping[str, CellResult]) -> str:
    ordered = sorted(cells, key=lambda cell: (cell.label, cell.key))
    columns = list(known[ordered[0].key].values)
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["key", "cell", *columns, "seconds"])
    for cell in ordered:
        values = known[cell.key].values
        numbers = ["" if values.get(name) is None else values[name] for name in columns]
        writer.writerow([cell.key, cell.label, *numbers, known[cell.key].seconds])
    return buffer.getvalue()


def _number(text: str) -> float | int | None:
    if not text:
        return None
    return int(text) if text.lstrip("-").isdecimal() else float(text)

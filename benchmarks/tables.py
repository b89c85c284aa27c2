"""python -m benchmarks.tables [EDGES]: seconds and peak memory of reading generated edge tables, a process each."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.common import peak_memory, unit
from focusedcleaner.errors import InputWarning
from focusedcleaner.io import load_graph

EDGES, EDGES_PER_NODE = 10_000_000, 10


def write_tables(folder: Path, edges: int) -> list[Path]:
    """Write random edges as CSV and Parquet, once with whole numbers as ids and once with text."""
    generator = np.random.default_rng(0)
    ends = generator.integers(0, edges // EDGES_PER_NODE, size=(edges, 2))
    numbers = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1]})
    texts = numbers.select(pl.format("user_{}", pl.all().cast(pl.String)).name.keep())
    paths = []
    for name, table in (("numbers", numbers), ("text", texts)):
        paths += [folder / f"{name}.csv", folder / f"{name}.parquet"]
        table.write_csv(paths[-2])
        table.write_parquet(paths[-1])
    return paths


def measure(path: Path) -> None:
    """Read one table and print a row."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        graph = load_graph(path)
    seconds = time.perf_counter() - start
    size = path.stat().st_size / 2**30
    print(f"| {path.name} | {size:.2f} GB | {graph.num_edges:,} | {seconds:.1f} s | {peak_memory():.2f} GB |")  # noqa: T201


def main(words: list[str]) -> None:
    if words and Path(words[0]).is_file():
        measure(Path(words[0]))
        return
    print(f"unit: {unit():.3f} s\n\n| table | size | edges | time | peak memory |\n| --- | --- | --- | --- | --- |")  # noqa: T201
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as folder:
        for path in write_tables(Path(folder), int(words[0]) if words else EDGES):
            subprocess.run([sys.executable, "-m", "benchmarks.tables", str(path)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])

"""Time, memory and speed-up of whole runs on generated graphs of 10⁵ to 10⁷ edges, in threads and on Ray workers.

python -m benchmarks.scale [--only TEXT] measures the missing cells, each in a process of its own, and writes
docs/scale.md. A cell is removed from benchmarks/results/scale.json to measure it again. The graphs are kept in a folder
beside other temporary files.
"""

from __future__ import annotations

import hashlib
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scale_page
from benchmarks.common import Results, exit_code, in_subprocess, parser, peak_memory, unit
from focusedcleaner.datasets import synthetic
from focusedcleaner.engine.ray_blocks import ray_executor
from focusedcleaner.io.folder import is_folder, open_folder
from focusedcleaner.io.folder_writer import write_folder
from focusedcleaner.sanitizers import sanitizer

EDGES = (100_000, 1_000_000, 10_000_000)
METHODS = ("agreement", "cld", "lp", "self-attack")
COUNTS = (("threads", 1), ("threads", 2), ("workers", 1), ("workers", 2))
CLASSES, ATTRIBUTES, MEAN_DEGREE = 16, 64, 10.0
BUDGET, ROUNDS = 0.1, 20
"""Share of the edges that go, and the rounds in which methods that work in rounds remove them."""
SHORT = 4
"""Rounds on Ray workers, which are measured by the round only."""
FOLDER = Path(tempfile.gettempdir()) / "focusedcleaner-scale"
STORED_BYTES, MESSAGES = 2**27, 200


def key(method: str, edges: int, kind: str, count: int) -> str:
    """The name of a cell."""
    return f"{method} | {edges} | {kind} {count}"


def graph_folder(edges: int) -> Path:
    """The graph folder with so many edges, drawn unless it is there."""
    path = FOLDER / str(edges)
    if not is_folder(path):
        in_subprocess("benchmarks.scale", "draw", str(edges))
    return path


def draw(edges: int) -> dict[str, Any]:
    """Draw a homophilous graph with five edges a node, and write its folder."""
    FOLDER.mkdir(exist_ok=True)
    start = time.perf_counter()
    graph = synthetic(round(2 * edges / MEAN_DEGREE), MEAN_DEGREE, CLASSES, num_attributes=ATTRIBUTES, seed=0)
    drawn = time.perf_counter()
    write_folder(FOLDER / str(edges), dict(graph.notes), graph)
    return {
        "draw_seconds": round(drawn - start, 2),
        "write_seconds": round(time.perf_counter() - drawn, 2),
        "peak_gb": round(peak_memory(), 2),
    }


class _Enough(Exception):
    """As many rounds were measured as are wanted."""


def measure(method: str, edges: int, kind: str, count: int) -> dict[str, Any]:
    """Time one run from the opening of the folder to the result, in this process."""
    in_rounds = method in ("cld", "lp")
    wanted = SHORT if kind == "workers" and in_rounds else math.inf
    settings = {"edges_per_round": round(BUDGET * edges / ROUNDS)} if in_rounds else {}
    ends: list[float] = []

    def progress(done: int, total: int, stage: str = "") -> None:
        ends.append(time.perf_counter())
        if len(ends) >= wanted:
            raise _Enough

    cleaner, removed = sanitizer(method, **settings), None
    with ray_executor(workers=count) if kind == "workers" else nullcontext() as executor, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start, used = time.perf_counter(), time.process_time()
        try:
            graph = open_folder(FOLDER / str(edges))
            threads = count if kind == "threads" else 1
            result = cleaner.sanitize(graph, BUDGET, progress=progress, threads=threads, executor=executor)
            removed = hashlib.sha256(np.ascontiguousarray(result.removed).tobytes()).hexdigest()[:16]
        except _Enough:
            pass
        answer: dict[str, Any] = {"nodes": round(2 * edges / MEAN_DEGREE), "edges": edges, "peak_gb": peak_memory()}
        if kind == "workers":
            answer["worker_gb"] = _largest_worker()
        if removed is not None:
            answer |= {"seconds": time.perf_counter() - start, "removed": removed}
            answer["cpu_seconds"] = time.process_time() - used
    rounds = np.diff([start, *ends])
    if in_rounds:
        answer |= {"first_round_seconds": float(rounds[0]), "round_seconds": float(np.median(rounds[1:]))}
        answer["rounds"] = len(rounds)
    return {name: round(value, 3) if isinstance(value, float) else value for name, value in answer.items()} | {
        "unit": round(unit(), 4)
    }


def _largest_worker() -> float:
    """The largest peak of the memory of a Ray worker's own, without what it shares with others, in GB."""
    peaks = [0.0]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if not (process / "cmdline").read_bytes().startswith(b"ray::BlockWorker"):
                continue
            lines = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
            peaks.append((float(lines["VmRSS"].split()[0]) - float(lines["RssShmem"].split()[0])) / 2**20)
        except (OSError, KeyError):  # it has ended
            continue
    return max(peaks)


def store_speed() -> dict[str, Any]:
    """Measure the object store: bytes in, bytes out as copies, and a message with its answer."""
    import ray

    ray.init(num_cpus=1, include_dashboard=False, logging_level="ERROR")
    array = np.ones(STORED_BYTES, dtype=np.uint8)
    put, got = [], []
    for _ in range(5):
        start = time.perf_counter()
        reference = ray.put(array)
        put.append(time.perf_counter() - start)
        start = time.perf_counter()
        ray.get(reference).copy()
        got.append(time.perf_counter() - start)

    class Echo:
        def answer(self) -> None:
            return

    actor: Any = ray.remote(Echo).remote()
    ray.get(actor.answer.remote())
    start = time.perf_counter()
    for _ in range(MESSAGES):
        ray.get(actor.answer.remote())
    message = (time.perf_counter() - start) / MESSAGES
    ray.shutdown()
    return {
        "put_gb_per_second": round(STORED_BYTES / float(np.median(put)) / 1e9, 3),
        "get_gb_per_second": round(STORED_BYTES / float(np.median(got)) / 1e9, 3),
        "message_seconds": round(message, 6),
        "unit": round(unit(), 4),
    }


def ingest_speed(edges: int, suffix: str) -> dict[str, Any]:
    """Time ``focusedcleaner ingest`` of an edge table, in a process of its own."""
    import polars as pl

    ends = np.load(graph_folder(edges) / "edges.npy", mmap_mode="r")
    with tempfile.TemporaryDirectory(dir=FOLDER) as name:
        table = Path(name) / f"edges.{suffix}"
        frame = pl.DataFrame({"source": ends[:, 0], "target": ends[:, 1]})
        frame.write_parquet(table) if suffix == "parquet" else frame.write_csv(table)
        del frame
        program = [sys.executable, "-c", "from focusedcleaner.cli import main; main()"]
        command = [*program, "ingest", str(table), "--out", str(Path(name) / "graph")]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    answer = {"edges": edges, "seconds": round(seconds, 2), "edges_per_second": round(edges / seconds)}
    return answer | {"peak_gb": round(peak, 2), "unit": round(unit(), 4)}


def cells() -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of every cell, and the words that measure it."""
    yield "object store", ("store",)
    for edges in EDGES:
        yield f"draw | {edges}", ("draw", str(edges))
    for suffix in ("parquet", "csv"):
        yield f"ingest | {EDGES[-1]} | {suffix}", ("ingest", str(EDGES[-1]), suffix)
    for edges in EDGES:
        for method in METHODS:
            for kind, count in COUNTS:
                yield key(method, edges, kind, count), ("run", method, str(edges), kind, str(count))


def run(only: str = "") -> None:
    """Measure the missing cells whose name contains ``only``, and write the page."""
    results = Results("scale")
    for name, words in cells():
        if name in results or only not in name:
            continue
        if words[0] == "draw" and is_folder(FOLDER / words[1]):
            continue
        if words[0] == "run":
            graph_folder(int(words[2]))
        results.add(name, in_subprocess("benchmarks.scale", *words))
        scale_page.write(results.cells)
    scale_page.write(results.cells)


def main(words: list[str]) -> int:
    kinds = {"draw": draw, "run": measure, "store": store_speed, "ingest": ingest_speed}
    if words and words[0] in kinds:
        arguments = [int(word) if word.isdecimal() else word for word in words[1:]]
        sys.stdout.write(json.dumps(kinds[words[0]](*arguments)) + "\n")  # type: ignore[operator]
        return 0
    options = parser(__doc__)
    options.add_argument("--only", default="", help="cells whose name contains this")
    only: str = options.parse_args(words).only
    return exit_code(lambda: run(only))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

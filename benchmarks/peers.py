"""Speed, memory and accuracy beside DeepRobust, GreatX, PyGOD and published figures; resumable; fills docs/peers.md.

python -m benchmarks.peers [--venv FOLDER] [--only TEXT] [--page]

The other libraries are installed into an environment of their own, in the cache or in FOLDER. Every measurement is a
process of its own, written to benchmarks/results/peers.json as soon as it is finished. --page only writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks import peers_page, peers_theirs
from benchmarks.common import Results, exit_code, in_subprocess, parser, peak_memory, published, rounded
from focusedcleaner.attacks import attack
from focusedcleaner.classifiers import classifier
from focusedcleaner.datasets.published import cache_folder
from focusedcleaner.graph import Graph, IntArray
from focusedcleaner.io import save_graph
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score

OURS = "focusedcleaner"
INSTALLED = ("torch==2.13.0", "torch_geometric==2.8.1", "deeprobust==0.2.11", "greatx==0.0.1b0", "pygod==1.1.0")
NAME, POWER, BUDGET = "cora", 0.1, 0.1
ATTACKS = ("mettack", "minmax", "pgd")
TRAININGS = ("gcn", "gcn after jaccard", "gcn after svd", "rgcn", "simpgcn", "median", "gnnguard", "elastic", "prognn")
SANITIZERS = ("cld", "self-attack", "agreement", "jaccard", "svd", "linkpred", "random")
DETECTORS = ("DOMINANT", "AnomalyDAE", "CoLA", "OCGNN")
THEIRS = {
    "deeprobust": (*ATTACKS, *(name for name in TRAININGS if name not in ("gnnguard", "elastic"))),
    "greatx": (*ATTACKS, "gcn", "gcn after jaccard", "rgcn", "median", "gnnguard"),
    "pygod": DETECTORS,
}
"""What is measured of each library: what it has of ours, and what runs without torch_sparse."""
SEEDS = 5
"""Trainings of a model of ours; Pro-GNN is trained once."""


def cells() -> Iterator[tuple[str, str]]:
    """Library and task; ours beside theirs."""
    yield from ((OURS, task) for task in (*ATTACKS, *TRAININGS, *SANITIZERS))
    yield from ((library, task) for library, tasks in THEIRS.items() for task in tasks)


def ours(task: str) -> dict[str, Any]:
    """Measure a task of ours in this process."""
    clean, poisoned = published(NAME, POWER)
    if task in ATTACKS:
        method = attack(task, **({"variant": "published"} if task == "minmax" else {}))
        start = time.process_time()
        done = method.poison(clean, POWER)
        steps = {"minmax": 200, "pgd": 50}.get(task, len(done.added) + len(done.removed))
        found: dict[str, Any] = {"seconds": [(time.process_time() - start) / steps]}
    elif task in SANITIZERS:
        start = time.process_time()
        result = sanitizer(task).sanitize(poisoned, BUDGET)
        found = {"seconds": [time.process_time() - start], "esr": [score(result, clean=clean).esr]}
    else:
        found = peers_theirs.trainings(lambda: 0.0, 0)
        for seed in range(1 if task == "prognn" else SEEDS):
            start = time.process_time()
            found["accuracy"].append(_trained(task, poisoned, seed))
            found["seconds"].append(time.process_time() - start)
    return found | {"peak_gb": peak_memory()}


def _trained(task: str, poisoned: Graph, seed: int) -> float:
    """Clean the graph if the task says so, train a model and return its test accuracy."""
    model, _, method = task.partition(" after ")
    if method:
        settings, budget = ({"threshold": 0.01}, "auto") if method == "jaccard" else ({}, BUDGET)
        poisoned = sanitizer(method, **settings).sanitize(poisoned, budget).graph
    return classifier(model).fit(poisoned, seed=seed).accuracy(poisoned)


def theirs(python: Path, library: str, task: str) -> dict[str, Any]:
    """Measure a task of another library, on the same graph, in its own environment."""
    clean, poisoned = published(NAME, POWER)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        save_graph(clean if task in ATTACKS else poisoned, path)
        command = [str(python), peers_theirs.__file__, library, task, str(path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if "scores" in found:
        found["esr"] = [edge_esr(np.array(scores), clean, poisoned) for scores in found.pop("scores")]
    return found


def edge_esr(scores: Any, clean: Graph, poisoned: Graph) -> float:
    """The ESR of the edges with the highest scores, E values; a budget of `BUDGET`."""
    highest = np.argsort(-scores, kind="stable")[: int(BUDGET * poisoned.num_edges)]
    removed: IntArray = poisoned.edges[highest]
    return score(removed, poisoned=poisoned, clean=clean).esr


def environment(folder: Path) -> Path:
    """The Python of the environment with the other libraries, made unless it is there."""
    python, ready = folder / "bin" / "python", folder / "ready"
    if not ready.exists():
        venv.create(folder, with_pip=True)
        constraints = Path(__file__).parent.parent / "constraints.txt"
        subprocess.run([python, "-m", "pip", "install", "-q", "-c", constraints, *INSTALLED], check=True)
        ready.touch()
    return python


def cpu_unit() -> float:
    """Half the CPU seconds of the unit's product in one thread, the best of nine: the unit on a free machine."""
    torch.set_num_threads(1)
    left, right = torch.rand(2485, 2485), torch.rand(2485, 1433)
    times = []
    for _ in range(10):
        start = time.process_time()
        left @ right
        times.append(time.process_time() - start)
    return min(times[1:]) / 2


def run(folder: Path, only: str) -> None:
    """Measure the missing cells, each in one thread, and write the page after each."""
    results = Results("peers")
    os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"))
    if peers_page.UNIT not in results:
        results.add(peers_page.UNIT, {"seconds": rounded(cpu_unit())})
    for library, task in cells():
        key = f"{library} | {task}"
        if key in results or only not in key:
            continue
        if library == OURS:
            found = in_subprocess("benchmarks.peers", "--run", task)
        else:
            found = theirs(environment(folder), library, task)
        results.add(key, {part: rounded(value) for part, value in found.items()})
        peers_page.write()
    peers_page.write()


def main() -> int:
    options = parser(__doc__)
    options.add_argument("--venv", type=Path, default=cache_folder() / "peers", help="environment of the others")
    options.add_argument("--only", default="", help="cells whose name contains this")
    options.add_argument("--page", action="store_true", help="write the page and measure nothing")
    options.add_argument("--run", help=argparse.SUPPRESS)
    chosen = options.parse_args()
    work: Callable[[], object] = lambda: run(chosen.venv, chosen.only)  # noqa: E731
    if chosen.run:
        work = lambda: sys.stdout.write(json.dumps(ours(chosen.run)) + "\n")  # noqa: E731
    elif chosen.page:
        work = peers_page.write
    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

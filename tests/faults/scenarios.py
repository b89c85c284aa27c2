"""The commands that write, each with the folder that it starts from and what may be in that folder afterwards."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from focusedcleaner.cli import main
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.io import disk, load_graph, save_graph
from focusedcleaner.io.folder import is_folder, open_folder
from focusedcleaner.runs import read_run
from focusedcleaner.sanitizers import focused
from focusedcleaner.sanitizers.iterative import Journal
from tests.faults.disk_steps import DiskSteps, Fault
from tests.hostile.child import Outcome, in_child
from tests.review.sample_runs import a_store

SANITIZE = ("sanitize", "graph.npz", "--method", "cld", "--budget", "6", "--edges-per-round", "2", "--out", "RUN")
ATTACK = ("attack", "graph.npz", "--method", "mettack", "--out", "p.npz", "--power")
_UNCOMPARED = ("checkpoint.npz", "review.sqlite", "review.sqlite-shm", "review.sqlite-wal")
"""Files that may be ahead of a state, or whose bytes depend on more than their content."""


MEGABYTES = 4096
"""Memory of a child: polars reserves much more than it uses."""


@dataclass(frozen=True)
class Scenario:
    """A command; ``again`` is what a user types after it was cut off."""

    name: str
    command: tuple[str, ...]
    again: tuple[str, ...]
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands that make the folder it starts from; "interrupt" stands for a `sanitize` with Ctrl-C in round 2."""
    without: tuple[str, ...] = field(default=())
    """Files that the new state may still lack, as they are written in a second step."""


def _scenarios() -> Iterator[Scenario]:
    report = ("RUN/report.html",)
    yield Scenario("sanitize", SANITIZE, (*SANITIZE, "--resume"), without=report)
    interrupted = (("interrupt",), ("restore", "RUN", "--limit", "3"))
    yield Scenario("sanitize-resumed", (*SANITIZE, "--resume"), (*SANITIZE, "--resume"), interrupted, report)
    yield Scenario("attack", (*ATTACK, "4"), (*ATTACK, "4", "--resume"))
    powers = (*ATTACK, "2,3,4")
    yield Scenario("attack-powers", powers, (*powers, "--resume"))
    done = (SANITIZE, ("judge",))
    table = (
        *SANITIZE[:1],
        "graph.csv",
        "--nodes",
        "graph.nodes.csv",
        "--method",
        "svd",
        "--budget",
        "6",
        "--out",
        "RUN",
    )
    csv = (("table",),)
    yield Scenario("sanitize-csv", table, (*table, "--resume"), csv, report)
    yield Scenario("apply-table", ("apply", "RUN", "--force"), ("apply", "RUN", "--force"), (*csv, table))
    ingest = ("ingest", "graph.npz", "--out", "GRAPH")
    yield Scenario("ingest", ingest, (*ingest, "--resume"))
    folder = ("sanitize", "GRAPH", *SANITIZE[2:])
    yield Scenario("sanitize-folder", folder, (*folder, "--resume"), (ingest,), report)
    for name, words in {
        "apply": ("apply", "RUN", "--force"),
        "apply-csv": ("apply", "RUN", "--force", "--out", "reviewed.csv"),
        "report": ("report", "RUN", "--truth", "graph.npz"),
        "restore": ("restore", "RUN", "--limit", "3", "--force", "--out", "restored.csv"),
        "export": ("review", "RUN", "--export", "verdicts.csv", "--force"),
    }.items():
        second = ("restored.csv", "restored.nodes.csv") if name == "restore" else ()
        yield Scenario(name, words, words, done, second)


SCENARIOS = {scenario.name: scenario for scenario in _scenarios()}


def prepare(scenario: Scenario, folder: Path) -> None:
    """Make the folder that a scenario starts from."""
    folder.mkdir()
    with inside(folder):
        save_graph(synthetic(num_nodes=60, num_attributes=40, seed=1), "graph.npz")
        for words in scenario.setup:
            if words == ("table",):
                save_graph(synthetic(num_nodes=60, num_attributes=4, seed=1), "graph.csv")
                continue
            if words == ("judge",):
                with a_store(read_run("RUN")) as store:
                    store.decide(1, "ann", "planted")
                    store.decide(2, "ann", "genuine")
                continue
            prepare = _interrupted if words == ("interrupt",) else lambda words=words: main(words)  # type: ignore[misc]
            outcome = in_child(prepare, megabytes=MEGABYTES)
            assert outcome.code == (2 if words == ("interrupt",) else 0), outcome.err


def _interrupted() -> None:
    whole = focused._Cleaning.round

    def stop(self: focused._Cleaning, journal: Journal, size: int) -> Journal:
        if journal.rounds == 1:
            raise KeyboardInterrupt
        return whole(self, journal, size)

    focused._Cleaning.round = stop  # type: ignore[method-assign]
    main(SANITIZE)


def run_with_fault(words: tuple[str, ...], folder: Path, fault: Fault = "kill", at: int = 0) -> Outcome:
    """Run a command in a child that has a fault at a step, with a checkpoint after every round and every flip."""

    def run() -> None:
        os.chdir(folder)
        disk.SAVE_EVERY = -1.0
        DiskSteps(fault, at, folder.with_suffix(".steps") if not at else None)
        main(list(words))

    return in_child(run, megabytes=MEGABYTES)


def count_steps(scenario: Scenario, start: Path, place: Path) -> int:
    """Run the whole command in ``place`` and count its steps."""
    shutil.copytree(start, place)
    outcome = run_with_fault(scenario.command, place)
    assert outcome.code == 0, outcome.err
    return len(place.with_suffix(".steps").read_text().splitlines())


def opened_state(folder: Path) -> dict[str, str]:
    """Open everything in a folder, which completes what was committed; return a digest of each visible file."""
    with inside(folder):
        for path in Path().iterdir():
            if path.name.startswith("."):
                continue
            if path.is_dir():
                open_folder(path, verify=True) if is_folder(path) else read_run(path)
            else:
                with suppress(InputError), warnings.catch_warnings():  # not a graph file by its name
                    warnings.simplefilter("ignore", InputWarning)
                    load_graph(path)
        if Path("RUN").is_dir():
            for path in Path("RUN").glob("*.npz"):
                if path.name != "checkpoint.npz":
                    load_graph(path)
    return state(folder)


def state(folder: Path) -> dict[str, str]:
    """A digest of each visible file, timings aside."""
    digests = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in Path(name).parts)
        if path.is_dir() or hidden or path.name in _UNCOMPARED:
            continue
        content = path.read_bytes()
        if path.name == "run.json":
            content = json.dumps({**json.loads(content), "seconds": 0}).encode()
        elif path.name == "report.html":
            content = re.sub(rb"\d+(\.\d+)?(\s|&nbsp;|\xc2\xa0|\xe2\x80\xaf)s(?=\W)", b"", content)
        digests[name] = hashlib.sha256(content).hexdigest()
    return digests


def litter(folder: Path) -> list[str]:
    """Hidden files and folders."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".*")]


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)

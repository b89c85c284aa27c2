"""Writing a run folder."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.runs import RunFolder, free_path, write_run
from focusedcleaner.sanitizers import Sanitation


def test_the_record(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN", source={"graph": "mine"})
    record = json.loads(Path("RUN/run.json").read_text())
    assert record["method"] == "cld"
    assert record["settings"]["detector"]["tau"] == 0.6
    assert (record["budget"], record["removed"], record["seed"], record["status"]) == (12, 12, 4, "complete")
    assert set(record["versions"]) == {"focusedcleaner", "python", "torch", "numpy", "scipy"}
    assert record["input"] == {
        "graph": "mine",
        "nodes": 150,
        "edges": 300,
        "fingerprint": sanitation.poisoned.fingerprint(),
    }


def test_the_tables(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN")
    with open("RUN/removed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0])[:4] == ["rank", "u", "v", "score"]
    u, v = sanitation.removed[0]
    assert (rows[0]["rank"], rows[0]["u"], rows[0]["v"]) == ("1", f"node {u}, “{u}”", f"node {v}, “{v}”")
    assert len(rows[0]["classes_u"].split(";")) == 5
    trace = Path("RUN/trace.csv").read_text().splitlines()
    assert trace[0].startswith("round,removed,")
    assert trace[-1].split(",")[1] == "12"


def test_a_taken_place_is_refused(sanitation: Sanitation, folder: Path) -> None:
    Path("RUN").mkdir()
    with pytest.raises(InputError, match="RUN: exists already"):
        write_run(sanitation, "RUN")
    assert os.listdir("RUN") == []


def test_a_place_that_fails_leaves_nothing(folder: Path) -> None:
    with pytest.raises(RuntimeError), RunFolder.opened(Path("RUN")):
        raise RuntimeError
    assert os.listdir() == []


def test_free_path_counts(folder: Path) -> None:
    assert free_path("data/my.npz", "lp") == Path("runs/my-lp")
    Path("runs/my-lp").mkdir(parents=True)
    Path("runs/.my-lp-2.part").mkdir()
    assert free_path("data/my.npz", "lp") == Path("runs/my-lp-3")

"""Run folders of sanitizers that also insert edges."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io import load_graph
from focusedcleaner.runs import read_run, write_run
from focusedcleaner.sanitizers import Sanitation


def test_added_edges_round_trip(flipped: Sanitation, folder: Path) -> None:
    write_run(flipped, "RUN")
    run = read_run("RUN")
    assert run.added.tolist() == flipped.added.tolist()
    assert run.added_scores == pytest.approx(flipped.added_scores)
    assert run.removed.tolist() == flipped.removed.tolist()
    assert run.graph == flipped.graph == load_graph("RUN/sanitized.npz")
    assert run.poisoned == flipped.poisoned
    assert run.record["added"] == len(flipped.added) > 0
    with open("RUN/added.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    u, v = flipped.added[0]
    assert list(rows[0]) == ["rank", "u", "v", "score"]
    assert (rows[0]["rank"], rows[0]["u"], rows[0]["v"]) == ("1", f"node {u}", f"node {v}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "RUN/added.csv: its columns must begin with"),
        ("rank,u,v,score\n", "run.json tells of 12 added edges, added.csv of 0"),
        ("rank,u,v,score\n1,nobody,node 1,0\n", "RUN/added.csv: names node 'nobody'"),
        (None, "RUN/added.csv: there is no such file"),
    ],
)
def test_damaged_added_edges_are_refused(flipped: Sanitation, folder: Path, content: str | None, message: str) -> None:
    write_run(flipped, "RUN")
    if content is None:
        Path("RUN/added.csv").unlink()
    else:
        Path("RUN/added.csv").write_text(content)
    with pytest.raises(InputError, match=message):
        read_run("RUN")

"""Run folders of runs with a verdict and with edges that were listed, not removed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.runs import RunFolder, read_run, write_run
from focusedcleaner.sanitizers import Sanitation
from tests.sanitizers.helpers import FOUND, Judge


@pytest.fixture
def ranked(graph: Graph, folder: Path) -> Sanitation:
    named = replace(graph, names=tuple(f"={node}" for node in range(graph.num_nodes)))
    return replace(Judge("uncertain").sanitize(named), warnings=("two edges were merged",))


def test_suspects_and_verdict_there_and_back(ranked: Sanitation) -> None:
    write_run(ranked, "RUN")
    run = read_run("RUN")
    assert sorted(os.listdir("RUN")) == ["removed.csv", "run.json", "sanitized.npz", "suspects.csv", "trace.csv"]
    assert Path("RUN/suspects.csv").read_text().startswith("rank,u,v,score,planted,common_neighbours,")
    assert ",'=" in Path("RUN/suspects.csv").read_text(), "what a spreadsheet would compute must be escaped"
    assert run.suspects.tolist() == ranked.suspects.tolist()
    assert np.allclose(run.suspect_scores, ranked.suspect_scores)
    assert set(run.suspect_evidence) == set(ranked.suspect_evidence)
    assert (run.verdict.status, run.verdict.reason) == (ranked.verdict.status, ranked.verdict.reason)
    assert run.headline == ranked.headline
    assert run.record["warnings"] == ["two edges were merged"]
    assert len(run.removed) == 0
    assert run.graph == run.poisoned


def test_a_run_is_shown_with_its_suspects_if_nothing_was_removed(ranked: Sanitation, graph: Graph) -> None:
    write_run(ranked, "RANKED")
    run = read_run("RANKED")
    assert run.listing == "suspects.csv"
    assert run.flagged.removed.tolist() == ranked.suspects.tolist()
    assert run.flagged.poisoned == run.poisoned
    write_run(Judge().sanitize(graph), "CLEANED")
    cleaned = read_run("CLEANED")
    assert (len(cleaned.removed), len(cleaned.suspects), cleaned.listing) == (FOUND, FOUND, "removed.csv")
    assert cleaned.flagged is cleaned


def test_an_estimate_there_and_back(graph: Graph, folder: Path) -> None:
    found = Judge().sanitize(graph)
    write_run(found, "RUN")
    assert read_run("RUN").headline == found.headline
    assert found.headline == "Poisoned: about 8 edges planted (6–12, nine times in ten), expected precision 0.75"


def test_suspects_of_an_earlier_run_do_not_stay(ranked: Sanitation, graph: Graph) -> None:
    write_run(ranked, "RUN")
    with RunFolder.opened(Path("RUN"), resume=True) as folder:
        folder.finish(replace(ranked, suspects=np.empty((0, 2), np.int64), suspect_scores=np.empty(0)), {})
    assert not Path("RUN/suspects.csv").exists()
    assert read_run("RUN").listing == "removed.csv"


def test_a_run_without_a_verdict_is_read(ranked: Sanitation) -> None:
    write_run(replace(ranked, suspects=np.empty((0, 2), np.int64)), "RUN")
    record = json.loads(Path("RUN/run.json").read_text())
    Path("RUN/run.json").write_text(
        json.dumps({key: record[key] for key in record if key not in ("verdict", "suspects", "warnings")})
    )
    run = read_run("RUN")
    assert run.headline == "Uncertain: a ranking only"
    assert run.verdict.reason == "this run was made before verdicts were kept"
    assert run.record["warnings"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], "run.json tells of 16 suspects edges, suspects.csv of 15"),
        (lambda rows: [*rows[:-1], rows[1]], "suspects.csv: every line must be another edge of the cleaned graph"),
        (lambda rows: [*rows[:-1], "16,'=0,'=0" + ",0" * (rows[0].count(",") - 2)], "every line must be another edge"),
        (lambda rows: [*rows[:-1], rows[-1].replace("'=", "n", 1)], "suspects.csv: names node"),
        (lambda rows: [rows[0].replace("score", "u"), *rows[1:]], "its columns must begin with rank, u, v, score"),
    ],
)
def test_damaged_suspects_are_told(ranked: Sanitation, change: object, message: str) -> None:
    write_run(ranked, "RUN")
    rows = Path("RUN/suspects.csv").read_text().splitlines()
    Path("RUN/suspects.csv").write_text("\n".join(change(rows)) + "\n")  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        read_run("RUN")


def test_missing_suspects_are_told(ranked: Sanitation) -> None:
    write_run(ranked, "RUN")
    Path("RUN/suspects.csv").unlink()
    with pytest.raises(InputError, match=r"RUN/suspects\.csv: "):
        read_run("RUN")

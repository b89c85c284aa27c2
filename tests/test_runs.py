"""Run folders: written, read back, and refused when they are damaged or taken."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph
from focusedcleaner.restore.missing import Missing
from focusedcleaner.run_record import check_same_configuration, read_record
from focusedcleaner.runs import RunFolder, free_path, read_missing, read_run, write_missing, write_run
from focusedcleaner.sanitizers import FocusedCleaner, Jaccard, Sanitation


@pytest.fixture
def sanitation(graph: Graph) -> Sanitation:
    """A graph with names, sanitized."""
    names = tuple(f"node {number}, “{number}”" for number in range(graph.num_nodes))
    named = Graph(graph.num_nodes, graph.edges, graph.attributes, graph.labels, graph.split, names)
    return FocusedCleaner().sanitize(named, 12, seed=4)


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


def test_there_and_back(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN", source={"graph": "mine"})
    run = read_run("RUN")
    assert os.listdir() == ["RUN"]
    assert sorted(os.listdir("RUN")) == ["removed.csv", "run.json", "sanitized.npz", "trace.csv"]
    assert run.complete
    assert run.graph == sanitation.graph == load_graph("RUN/sanitized.npz")
    assert run.poisoned == sanitation.poisoned
    assert run.removed.tolist() == sanitation.removed.tolist()
    assert np.allclose(run.scores, sanitation.scores, rtol=1e-8)
    assert set(run.evidence) == set(sanitation.evidence)
    assert run.evidence["classes_u"].shape == (12, 5)
    assert np.allclose(run.evidence["classes_u"], sanitation.evidence["classes_u"], atol=1e-4)


def test_nothing_removed_is_a_run_too(sanitation: Sanitation, folder: Path) -> None:
    empty = Sanitation(
        sanitation.poisoned, np.empty((0, 2), np.int64), np.empty(0), {}, {}, "cld", {}, budget=3, seed=0, seconds=0.0
    )
    write_run(empty, "RUN")
    assert len(read_run("RUN").removed) == 0


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.json", "{", "RUN/run.json: is not JSON"),
        ("run.json", "[]", "RUN/run.json: is not the record of a run"),
        ("removed.csv", "", "RUN/removed.csv: its columns must begin with"),
        ("removed.csv", "rank,u,v,score\n1,2\n", "RUN/removed.csv: a row has too few"),
        ("removed.csv", "rank,u,v,score\n1,a,b,0\n", "RUN/removed.csv: names node 'a'"),
        ("removed.csv", "rank,u,v,score\n", "run.json tells of 12 removed edges, removed.csv of 0"),
        ("sanitized.npz", "", "RUN/sanitized.npz: "),
    ],
)
def test_a_damaged_run_is_told(sanitation: Sanitation, folder: Path, file: str, content: str, message: str) -> None:
    write_run(sanitation, "RUN")
    Path("RUN", file).write_text(content)
    with pytest.raises(InputError, match=message):
        read_run("RUN")


def test_a_score_that_is_no_number(graph: Graph, folder: Path) -> None:
    write_run(FocusedCleaner().sanitize(graph, 1), "RUN")
    Path("RUN/removed.csv").write_text("rank,u,v,score\n1,0,1,high\n")
    with pytest.raises(InputError, match="is not a number"):
        read_run("RUN")


def test_proposed_edges_there_and_back(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN")
    run = read_run("RUN")
    assert read_missing(run) is None
    missing = Missing(sanitation.removed[:2], np.array([0.9, 0.8]), {}, candidates=10, reach=0.5)
    write_missing(run, missing)
    assert read_missing(run).tolist() == sanitation.removed[:2].tolist()  # type: ignore[union-attr]
    v, u = (run.graph.name(node) for node in run.graph.edges[0])
    with open("RUN/missing.csv", "w", newline="") as file:
        csv.writer(file).writerows([["rank", "u", "v", "score"], [1, u, v, 0.5]])
    with pytest.raises(InputError, match="proposes an edge that the cleaned graph has"):
        read_missing(run)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, "RUN was made with seed 4, not 5: resume with the same"),
        ({"budget": "auto"}, "RUN was made with budget 12, not auto: resume with the same"),
        ({"fingerprint": "other"}, "RUN was made from another graph or another split: resume with the same"),
    ],
)
def test_another_configuration_is_named(
    sanitation: Sanitation, folder: Path, changes: dict[str, object], message: str
) -> None:
    write_run(sanitation, "RUN")
    record = read_record(Path("RUN"))
    same = {**{key: record[key] for key in ("method", "settings", "budget", "seed")}, **record["input"]}
    check_same_configuration(Path("RUN"), record, same)
    with pytest.raises(InputError, match=message):
        check_same_configuration(Path("RUN"), record, {**same, **changes})


def test_a_finished_run_without_its_name_gets_it(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN")
    Path("RUN").rename(".RUN.part")
    with pytest.raises(InputError, match=r"RUN: a run was cut off here .*: take it over with --resume"):
        write_run(sanitation, "RUN")
    assert os.listdir() == [".RUN.part"]
    with RunFolder.opened(Path("RUN"), resume=True) as taken:
        assert taken.work == Path("RUN")
    assert os.listdir() == ["RUN"]
    assert read_run("RUN").complete


def test_a_run_replaces_another_whole(sanitation: Sanitation, flipped: Sanitation, folder: Path) -> None:
    write_run(flipped, "RUN")
    for name in ("report.html", "missing.csv", "checkpoint.npz", "notes.txt"):
        Path("RUN", name).write_text("old")
    with RunFolder.opened(Path("RUN"), resume=True) as run:
        run.finish(sanitation, {}, status="interrupted")
        assert sorted(os.listdir("RUN")) == [
            *("checkpoint.npz", "notes.txt", "removed.csv", "run.json", "sanitized.npz", "trace.csv")
        ]
        run.finish(sanitation, {})
    assert "checkpoint.npz" not in os.listdir("RUN")
    assert read_run("RUN").removed.tolist() == sanitation.removed.tolist()


def test_files_of_two_runs_are_noticed(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN")
    write_run(replace(sanitation, removed=sanitation.poisoned.edges[:12]), "OTHER")
    for file in ("removed.csv", "sanitized.npz"):
        before = Path("RUN", file).read_bytes()
        Path("RUN", file).write_bytes(Path("OTHER", file).read_bytes())
        with pytest.raises(InputError, match=r"RUN: sanitized.npz does not belong to this run"):
            read_run("RUN")
        Path("RUN", file).write_bytes(before)
    assert read_run("RUN").complete


def test_a_record_of_an_older_version_is_read(sanitation: Sanitation, folder: Path) -> None:
    write_run(sanitation, "RUN")
    record = json.loads(Path("RUN/run.json").read_text())
    for name in ("auto_budget", "added", "estimate", "seconds", "versions"):
        del record[name]
    del record["input"]["fingerprint"]
    Path("RUN/run.json").write_text(json.dumps(record))
    assert read_run("RUN").record["seconds"] == 0.0


def test_scores_that_are_not_of_the_last_result_are_removed(graph: Graph, folder: Path) -> None:
    scored = Jaccard().sanitize(graph, 5)
    for scores, expected in ((True, True), (False, False)):
        with RunFolder.opened(Path("RUN"), resume=Path("RUN").exists()) as place:
            place.finish(scored, {}, status="interrupted", scores=scores)
        assert Path("RUN/scores.csv").exists() == expected
        assert read_run("RUN").removed.tolist() == scored.removed.tolist()

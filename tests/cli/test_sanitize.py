"""``focusedcleaner sanitize``."""

from __future__ import annotations

import csv
import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.runs import read_run
from tests.cli.conftest import JSON, RESULT, fails
from tests.conftest import Command


def test_sanitize_tells_what_it_did(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--method", "cld", "--budget", "5%", "--out", "RUN")
    assert done.exit_code == 0, done.output
    assert sorted(os.listdir("RUN")) == RESULT
    assert os.listdir() == ["RUN"]
    assert done.stdout.startswith(
        "Uncertain: a ranking only\nThe method cld ranks edges; it can't tell whether any was"
    )
    for words in (
        "that is not a finding.",
        "Removed 15 of 300 edges",
        "method",
        "same class",
        "The first edges that were removed",
        "common neighbour",
        "RUN/removed",
    ):
        assert words in done.stdout


def test_sanitize_first_says_what_it_read_and_what_it_will_take(cli: Command, graph: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None), "graph.npz")
    done = cli("sanitize", "graph.npz", "--budget", "5%", "--method", "cld")
    size, labels, attributes, method, forecast = done.stderr.splitlines()
    assert size == "graph: 150 nodes, 300 edges"
    assert labels.startswith("labels: 5 classes, 150 labelled nodes; 80.0 % of the edges within a class; split drawn:")
    assert attributes.startswith("attributes: 200 columns; ")
    assert method == "method: cld, as asked"
    assert re.fullmatch(r"forecast: about \d+ s and 0\.\d GB", forecast)


def test_with_json_only_the_drawn_split_is_noted(cli: Command, graph: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None), "graph.npz")
    done = cli("sanitize", "graph.npz", "--budget", "5%", "--method", "jaccard", "--json")
    drawn = "15 for training, 135 for validation, 0 for testing"
    assert done.stderr == f"note: the graph has no split, so one was drawn (seed 0): {drawn}\n"


def test_a_budget_that_is_too_large_is_refused_before_anything_is_said(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--budget", "99%", "--method", "cld")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: budget 99% is 297 edges, but at most")


def test_sanitize_json(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--budget", "5%", "--method", "lp", "--json")
    fields = json.loads(done.stdout)
    assert list(fields) == JSON
    assert (fields["status"], fields["estimate"], fields["expected_precision"]) == ("uncertain", None, None)
    assert fields["reason"] == "the method lp ranks edges; it can't tell whether any was planted"
    assert fields["caveat"] == "15 edges were removed because the budget says so; that is not a finding"
    assert fields["warnings"] == []
    assert (fields["method"], fields["budget"], fields["removed"]) == ("lp", 15, 15)
    assert fields["out"] == "runs/graph-lp"
    assert done.stdout.count("\n") == 1


def test_default_folders_are_counted(cli: Command, graph_file: Path) -> None:
    for _ in range(2):
        assert cli("sanitize", graph_file, "--method", "cld", "--budget", "3").exit_code == 0
    assert sorted(os.listdir("runs")) == ["graph-cld", "graph-cld-2"]


def test_the_record_names_what_was_typed(cli: Command, graph_file: Path, graph: Graph) -> None:
    relative = os.path.relpath(graph_file)
    cli("sanitize", relative, "--method", "cld", "--budget", "3", "--out", "RUN", "--seed", "7")
    text = Path("RUN/run.json").read_text()
    source = json.loads(text)["input"]
    assert source["graph"] == relative
    assert re.fullmatch("[0-9a-f]{64}", source["sha256"])
    assert source["fingerprint"] == graph.fingerprint()
    assert os.getcwd() not in text


def test_auto_is_the_default_and_keeps_the_settings(
    cli: Command, poisoned: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_graph(poisoned, "graph.npz")
    for module in ("focusedcleaner.sanitizers", "focusedcleaner.cli.sanitize"):
        monkeypatch.setattr(f"{module}.default_method", lambda graph: "jaccard")
    assert cli("sanitize", "graph.npz", "--budget", "3", "--set", "threshold=0.1", "--out", "ONE").exit_code == 0
    words = ("--method", "auto", "--set", "threshold=0.1", "--out", "OTHER")
    assert cli("sanitize", "graph.npz", "--budget", "3", *words).exit_code == 0
    assert Path("ONE/removed.csv").read_bytes() == Path("OTHER/removed.csv").read_bytes()
    done = cli("sanitize", "graph.npz", "--set", "threshold=0", "--json")
    fields = json.loads(done.stdout)
    assert (fields["method"], fields["out"]) == ("jaccard", "runs/graph-jaccard")
    assert json.loads(Path("runs/graph-jaccard/run.json").read_text())["settings"]["threshold"] == 0
    refused = cli("sanitize", "graph.npz", "--set", "tau=0.5", "--out", "RUN")
    assert refused.exit_code == 2
    assert refused.stderr == (
        "error: auto chose jaccard for this graph: jaccard has no setting 'tau'; its settings are threshold, distance; "
        "or choose another method\n"
    )
    assert not Path("RUN").exists()


def test_settings_of_a_named_method_are_checked_before_the_graph_is_read(cli: Command) -> None:
    fails(cli("sanitize", "nothing.npz", "--method", "lp", "--set", "taw=1"), "lp has no setting 'taw'", left=[])


def test_settings_reach_the_method(cli: Command, graph_file: Path) -> None:
    words = ("--set", "tau=0.5", "--set", "inner=unrolled", "--set", "steps=20", "--edges-per-round", "2")
    cli("sanitize", graph_file, "--method", "cld", "--budget", "4", "--out", "RUN", *words)
    settings = json.loads(Path("RUN/run.json").read_text())["settings"]
    assert settings["detector"]["tau"] == 0.5
    assert settings["inner"] == {"kind": "Unrolled", "steps": 20, "rate": 0.1, "momentum": 0.9}
    assert settings["edges_per_round"] == 2


def test_a_preset_sets_the_method_and_its_settings(cli: Command, graph_file: Path) -> None:
    words = ("--preset", "paper", "--set", "steps=10", "--budget", "4", "--out", "RUN")
    assert cli("sanitize", graph_file, *words).exit_code == 0
    record = json.loads(Path("RUN/run.json").read_text())
    assert record["method"] == "cld"
    assert record["settings"]["victim_ends"] == 2
    assert (record["settings"]["inner"]["kind"], record["settings"]["inner"]["steps"]) == ("TwoLayer", 10)
    fails(cli("sanitize", "nothing.npz", "--preset", "newspaper"), "there is no preset 'newspaper'", left=["RUN"])


def test_ids_of_the_owner_come_back(cli: Command, graph: Graph, folder: Path) -> None:
    people = replace(graph, names=tuple(f"person-{number:03d}" for number in range(150)))
    save_graph(people, "mail.csv")
    os.rename("mail.nodes.csv", "people.csv")
    assert (
        cli(
            "sanitize", "mail.csv", "--method", "cld", "--nodes", "people.csv", "--budget", "5", "--out", "RUN"
        ).exit_code
        == 0
    )
    with open("RUN/removed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row[end].startswith("person-") for row in rows for end in "uv")
    cleaned = load_graph("RUN/sanitized.npz")
    assert cleaned.names == people.names
    assert cleaned.split == people.split
    assert cli("sanitize", "RUN/sanitized.npz", "--method", "cld", "--budget", "2", "--out", "AGAIN").exit_code == 0


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("0", "budget 0 is not above 0"),
        ("-1", "budget -1 is not above 0"),
        ("300%", "budget 300% is more than all edges (100%)"),
        ("abc", "budget 'abc' is neither a number of edges (500), a fraction (0.1) nor a percentage (10%)"),
        ("301", "budget 301 is more than the graph's 300 edges"),
        ("299", "can be removed without isolating a node"),
        ("100%", "can be removed without isolating a node"),
        ("0.1%", "budget 0.1% allows no edge"),
        ("1.5", "1.5"),
        ("nan", "budget"),
        ("", "budget"),
    ],
)
def test_bad_budgets(cli: Command, graph_file: Path, budget: str, message: str) -> None:
    fails(cli("sanitize", graph_file, "--method", "cld", "--budget", budget, "--out", "RUN"), message, left=[])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--method", "clean"], "there is no method 'clean'; there are cld, lp, focused-none"),
        (["--method", "auto", "--set", "taw=1"], "auto chose self-attack for this graph: self-attack has no setting"),
        (["--method", "lp", "--set", "taw=1"], "error: lp has no setting 'taw'; its settings are "),
        (["--method", "lp", "--set", "name=x"], "error: lp has no setting 'name'; its settings are "),
        (["--method", "self-attack", "--set", "trees=999999"], "trees must lie in [1, 10000], not 999999"),
        (["--set", "tau"], "a setting is written key=value, not 'tau'"),
        (["--set", "tau=high"], "tau must be a number, not 'high'"),
        (["--set", "tau=2"], "tau must lie in [0, 1], not 2"),
        (["--set", "edges_per_round=1", "--edges-per-round", "2"], "the setting edges_per_round is given twice"),
        (["--edges-per-round", "0"], "--edges-per-round"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "x"], "--seed"),
        (["--colour", "red"], "--colour"),
        (["--adjacency", "nothing.npz"], "nothing.npz: there is no such file"),
        (["--split", "nothing.json"], "nothing.json: there is no such file"),
        (["--nodes", "nothing.csv"], "a node table goes with an edge table"),
    ],
)
def test_bad_options(cli: Command, graph_file: Path, words: list[str], message: str) -> None:
    fails(cli("sanitize", graph_file, "--method", "cld", "--out", "RUN", *words), message, left=[])


def test_a_folder_that_exists(cli: Command, graph_file: Path) -> None:
    Path("RUN").mkdir()
    Path("RUN/thesis.txt").write_text("mine")
    fails(cli("sanitize", graph_file, "--out", "RUN"), "RUN: exists already", left=["RUN"])
    fails(
        cli("sanitize", graph_file, "--out", "RUN", "--resume"),
        "RUN: is not a run folder",
        left=["RUN"],
    )
    assert os.listdir("RUN") == ["thesis.txt"]


def test_a_folder_that_cannot_be_written(cli: Command, graph_file: Path) -> None:
    Path("file").write_text("")
    fails(
        cli("sanitize", graph_file, "--out", "file/RUN"),
        "can't be written: file is not a folder",
        left=["file"],
    )
    fails(
        cli("sanitize", graph_file, "--out", "no/RUN"),
        "can't be written: no does not exist",
        left=["file"],
    )
    fails(cli("sanitize", graph_file, "--out", "x" * 300), "File name too long", left=["file"])


def test_a_place_for_runs_that_is_a_file(cli: Command, graph_file: Path) -> None:
    Path("runs").write_text("")
    fails(cli("sanitize", graph_file), "the folder runs can't be made", left=["runs"])


def test_the_folder_is_checked_before_the_graph_is_read(cli: Command) -> None:
    Path("RUN").mkdir()
    fails(cli("sanitize", "nothing.npz", "--out", "RUN"), "RUN: exists already", left=["RUN"])


def test_scores_of_every_edge_are_written_by_the_owners_ids(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, names=tuple(f"={node}" for node in range(150))), "named.npz")
    words = ("sanitize", "named.npz", "--method", "agreement", "--budget", "9")
    done = cli(*words, "--scores", "--out", "RUN")
    assert done.exit_code == 0, done.output
    assert "RUN/scores.csv" in done.stdout
    assert sorted(os.listdir("RUN")) == sorted([*RESULT, "scores.csv"])
    with open("RUN/scores.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["rank", "u", "v", "score", "removed"]
    assert len(rows) == 300
    assert all(row[end].startswith("'=") for row in rows for end in "uv")
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    with open("RUN/removed.csv", newline="") as file:
        removed = {(row["u"], row["v"]): row["score"] for row in csv.DictReader(file)}
    assert {(row["u"], row["v"]): row["score"] for row in rows if row["removed"] == "1"} == removed
    assert read_run("RUN").graph.num_edges == 291
    assert cli(*words, "--out", "PLAIN").exit_code == 0
    assert sorted(os.listdir("PLAIN")) == RESULT
    refused = cli(*words, "--scores", "--out", "PLAIN", "--resume")
    assert refused.stderr.splitlines()[-1] == "error: PLAIN is complete and has no scores.csv: choose another folder"
    assert cli(*words, "--scores", "--out", "RUN", "--resume").exit_code == 0


@pytest.mark.usefixtures("judge")
def test_probabilities_are_among_the_scores_of_a_poisoned_graph(cli: Command, graph_file: Path) -> None:
    for status, column in (("poisoned", ",planted"), ("uncertain", "")):
        cli("sanitize", graph_file, "--method", "judge", "--set", f"status={status}", "--scores", "--out", status)
        assert Path(status, "scores.csv").read_text().splitlines()[0] == f"rank,u,v,score,removed{column}"


def test_scores_are_refused_before_the_graph_is_read(cli: Command) -> None:
    words = ("sanitize", "nothing.npz", "--method", "cld", "--scores")
    fails(cli(*words), "cld scores only the edges that it removes: scores of all edges come from self-attack", left=[])


def test_a_graph_that_was_not_scored_has_no_scores(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--scores", "--out", "RUN")
    assert done.exit_code == 0, done.output
    assert "note: no scores.csv was written: Not suitable: too small" in done.stderr
    assert not Path("RUN/scores.csv").exists()

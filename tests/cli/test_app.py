"""The commands, as a user types them."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import Result

from focusedcleaner import datasets
from focusedcleaner.attacks import Dice, attack
from focusedcleaner.cli import demo
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_graph, save_graph, save_split

Command = Callable[..., Result]
RESULT = ["removed.csv", "report.html", "run.json", "sanitized.npz", "trace.csv"]


@pytest.fixture
def poisoned(graph: Graph) -> Graph:
    return Dice().poison(graph, "20%", seed=0).graph


# sanitize ------------------------------------------------------------------------------------------------------------


def test_sanitize_tells_what_it_did(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--budget", "5%", "--out", "RUN")
    assert done.exit_code == 0, done.output
    assert sorted(os.listdir("RUN")) == RESULT
    assert os.listdir() == ["RUN"]
    for words in (
        "Removed 15 of 300 edges",
        "method",
        "same class",
        "Removed first",
        "common neighbour",
        "RUN/removed",
    ):
        assert words in done.stdout
    assert done.stderr == ""


def test_sanitize_json(cli: Command, graph_file: Path) -> None:
    done = cli("sanitize", graph_file, "--budget", "5%", "--method", "lp", "--json")
    fields = json.loads(done.stdout)
    assert list(fields) == ["method", "budget", "removed", "seconds", "out"]
    assert (fields["method"], fields["budget"], fields["removed"]) == ("lp", 15, 15)
    assert fields["out"] == "runs/graph-lp"
    assert done.stdout.count("\n") == 1


def test_default_folders_are_counted(cli: Command, graph_file: Path) -> None:
    for _ in range(2):
        assert cli("sanitize", graph_file, "--budget", "3").exit_code == 0
    assert sorted(os.listdir("runs")) == ["graph-cleaned", "graph-cleaned-2"]


def test_the_record_names_what_was_typed(cli: Command, graph_file: Path, graph: Graph) -> None:
    relative = os.path.relpath(graph_file)
    cli("sanitize", relative, "--budget", "3", "--out", "RUN", "--seed", "7")
    text = Path("RUN/run.json").read_text()
    source = json.loads(text)["input"]
    assert source["graph"] == relative
    assert re.fullmatch("[0-9a-f]{64}", source["sha256"])
    assert source["fingerprint"] == graph.fingerprint()
    assert os.getcwd() not in text


def test_settings_reach_the_method(cli: Command, graph_file: Path) -> None:
    words = ("--set", "tau=0.5", "--set", "inner=unrolled", "--set", "steps=20", "--edges-per-round", "2")
    cli("sanitize", graph_file, "--budget", "4", "--out", "RUN", *words)
    settings = json.loads(Path("RUN/run.json").read_text())["settings"]
    assert settings["detector"]["tau"] == 0.5
    assert settings["inner"] == {"kind": "Unrolled", "steps": 20, "rate": 0.1, "momentum": 0.9}
    assert settings["edges_per_round"] == 2


def test_ids_of_the_owner_come_back(cli: Command, graph: Graph, folder: Path) -> None:
    people = replace(graph, names=tuple(f"person-{number:03d}" for number in range(150)))
    save_graph(people, "mail.csv")
    os.rename("mail.nodes.csv", "people.csv")
    assert cli("sanitize", "mail.csv", "--nodes", "people.csv", "--budget", "5", "--out", "RUN").exit_code == 0
    with open("RUN/removed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row[end].startswith("person-") for row in rows for end in "uv")
    cleaned = load_graph("RUN/sanitized.npz")
    assert cleaned.names == people.names
    assert cleaned.split == people.split
    assert cli("sanitize", "RUN/sanitized.npz", "--budget", "2", "--out", "AGAIN").exit_code == 0


def test_a_graph_without_split_gets_one(cli: Command, graph: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None), "bare.npz")
    done = cli("sanitize", "bare.npz", "--budget", "2", "--out", "RUN", "--seed", "5")
    assert done.exit_code == 0
    assert done.stderr.startswith(
        "note: the graph has no split, so one was drawn (seed 5): 15 nodes for training, 15 for"
    )
    assert load_graph("RUN/sanitized.npz").split == Split.random(graph.labels, seed=5)  # type: ignore[arg-type]


def test_what_had_to_be_changed_is_noted(cli: Command, graph: Graph, graph_file: Path) -> None:
    adjacency = sp.triu(graph.adjacency()).tocsr()
    sp.save_npz("upper.npz", adjacency)
    done = cli("sanitize", graph_file, "--adjacency", "upper.npz", "--budget", "2", "--out", "RUN")
    assert done.exit_code == 0
    assert done.stderr == "note: upper.npz: 300 edges were given in one direction only and were made undirected\n"


def test_adjacency_split_and_component(cli: Command, graph: Graph, poisoned: Graph, folder: Path) -> None:
    save_graph(replace(graph, split=None), "clean.npz")
    sp.save_npz("poisoned.npz", poisoned.adjacency())
    assert graph.split is not None
    save_split(graph.split, "split.json")
    words = ("--adjacency", "poisoned.npz", "--split", "split.json", "--largest-component")
    done = cli("sanitize", "clean.npz", *words, "--budget", "10", "--out", "RUN", "--json")
    assert done.exit_code == 0
    assert done.stderr == ""
    source = json.loads(Path("RUN/run.json").read_text())["input"]
    component = poisoned.largest_component()
    assert (source["nodes"], source["edges"]) == (component.num_nodes, component.num_edges)
    assert component.num_nodes < graph.num_nodes
    scored = cli("score", "RUN", "--truth", "clean.npz", "--largest-component", "--json")
    assert scored.exit_code == 2


# score ---------------------------------------------------------------------------------------------------------------


def test_score(cli: Command, graph: Graph, poisoned: Graph, graph_file: Path) -> None:
    save_graph(poisoned, "poisoned.npz")
    cli("sanitize", "poisoned.npz", "--budget", "10%", "--out", "RUN")
    done = cli("score", "RUN", "--truth", graph_file, "--json")
    fields = json.loads(done.stdout)
    assert list(fields) == ["esr", "f1", "cr", "oracle_esr", "attacked", "removed", "hits"]
    attacked = len(poisoned.added_edges(graph))
    union = attacked + fields["removed"] - fields["hits"]
    assert (fields["attacked"], fields["removed"]) == (attacked, 30)
    assert fields["esr"] == pytest.approx(fields["hits"] / union)
    assert fields["oracle_esr"] == pytest.approx(min(attacked, 30) / max(attacked, 30))
    table = cli("score", "RUN", "--truth", graph_file)
    assert re.search(r"ESR +[\d.]+ % +100\.0 %", table.stdout)


def test_score_without_an_attack_has_nulls(cli: Command, graph_file: Path) -> None:
    cli("sanitize", graph_file, "--budget", "3", "--out", "RUN")
    fields = json.loads(cli("score", "RUN", "--truth", graph_file, "--json").stdout)
    assert fields["cr"] is None
    assert fields["esr"] == 0.0
    assert "–" in cli("score", "RUN", "--truth", graph_file).stdout


def test_truth_is_aligned_by_names(cli: Command, graph: Graph, poisoned: Graph, folder: Path) -> None:
    names = tuple(f"n{number}" for number in range(150))
    save_graph(replace(poisoned, names=names), "poisoned.npz")
    order = np.random.default_rng(0).permutation(150)
    save_graph(replace(graph, names=names).subgraph(order), "shuffled.npz")
    save_graph(replace(graph, names=names), "clean.npz")
    save_graph(replace(graph, names=(*names[:-1], "stranger")), "other.npz")
    cli("sanitize", "poisoned.npz", "--out", "RUN")
    straight = cli("score", "RUN", "--truth", "clean.npz", "--json").stdout
    assert json.loads(straight)["hits"] > 0
    assert cli("score", "RUN", "--truth", "shuffled.npz", "--json").stdout == straight
    assert "the truth has no node 'n149'" in cli("score", "RUN", "--truth", "other.npz").stderr


@pytest.mark.parametrize(
    ("run", "truth", "message"),
    [
        ("nowhere", "cora", "error: nowhere: there is no such run folder"),
        (".", "cora", "error: .: is not a run folder: it has no run.json"),
        ("RUN", "nothing.npz", "error: nothing.npz: there is no such file"),
        ("RUN", "small.npz", "error: the truth has 20 nodes and the run's graph 150: they can't be compared"),
    ],
)
def test_score_of_what_is_not_there(cli: Command, graph_file: Path, run: str, truth: str, message: str) -> None:
    cli("sanitize", graph_file, "--budget", "3", "--out", "RUN")
    save_graph(Graph.from_pairs(20, [[0, 1]]), "small.npz")
    done = cli("score", run, "--truth", truth)
    assert done.exit_code == 2
    assert done.stderr == f"{message}\n"


# The others ----------------------------------------------------------------------------------------------------------


def test_demo(cli: Command, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_graph", lambda seed: ("Small", graph))
    monkeypatch.setattr(demo, "SEEDS", 1)
    done = cli("demo")
    assert done.exit_code == 0, done.output
    for words in ("edges planted", "of these were planted", "ESR", "oracle", "poisoned", "cleaned", "Next"):
        assert words in done.stdout
    fields = json.loads(cli("demo", "--json").stdout)
    assert set(fields["accuracy"]) == {"clean", "poisoned", "cleaned"}
    planted = attack("mettack").poison(graph, "10%").added
    assert fields["planted"] == len(planted) >= 28
    assert fields["removed"] == (graph.num_edges + 2 * len(planted) - 30) // 10
    assert done.stdout.endswith("judge the edges one by one\n")
    for words in ("runs/demo-cld/report.html", "focusedcleaner review runs/demo-cld "):
        assert words in done.stdout
    assert (fields["run"], fields["report"]) == ("runs/demo-cld-2", "runs/demo-cld-2/report.html")
    assert fields["review"] == "focusedcleaner review runs/demo-cld-2"
    assert os.listdir() == ["runs"]
    assert sorted(os.listdir("runs")) == ["demo-cld", "demo-cld-2"]
    assert sorted(os.listdir("runs/demo-cld")) == RESULT
    assert "Against the truth" in Path(fields["report"]).read_text(encoding="utf-8")


def test_demo_where_nothing_can_be_written(cli: Command, folder: Path) -> None:
    Path("runs").touch()
    done = cli("demo")
    assert done.exit_code == 2
    assert done.stderr.startswith("error: the folder runs can't be made: File exists")


def test_demo_without_cora(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def nowhere(name: str, **options: Any) -> Graph:
        raise InputError("cora could not be found")

    monkeypatch.setattr(datasets, "load", nowhere)
    name, graph = demo._graph(0)
    assert name == "Synthetic"
    assert 2000 < graph.num_nodes < 2700
    assert capsys.readouterr().err == "note: cora could not be found; a synthetic graph of its size stands in\n"


def test_datasets(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FOCUSEDCLEANER_DATA", raising=False)
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    listed = cli("datasets")
    assert listed.exit_code == 0
    assert cli("datasets", "list").stdout == listed.stdout
    assert "2,485 nodes, 5,069 edges" in listed.stdout
    assert "not here yet: focusedcleaner datasets get citeseer" in listed.stdout
    entries = json.loads(cli("datasets", "list", "--json").stdout)["datasets"]
    assert [entry["name"] for entry in entries] == ["cora", "citeseer", "polblogs"]
    assert entries[0]["path"] is None
    unknown = cli("datasets", "get", "pubmed")
    assert unknown.exit_code == 2
    assert unknown.stderr == "error: there is no data set 'pubmed'; known are cora, citeseer, polblogs\n"


def test_datasets_get_says_where(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = replace(datasets.info("polblogs"), path=tmp_path / "polblogs.npz")
    monkeypatch.setattr(datasets, "get", lambda name, progress: entry.path)
    monkeypatch.setattr(datasets, "info", lambda name: entry)
    assert cli("datasets", "get", "polblogs").stdout == f"{entry.path}\n"
    assert json.loads(cli("datasets", "get", "polblogs", "--json").stdout)["path"] == str(entry.path)


def test_a_file_wins_over_a_name(cli: Command, graph: Graph, graph_file: Path) -> None:
    os.rename(graph_file, "cora")
    done = cli("sanitize", "cora", "--budget", "2", "--out", "RUN")
    assert done.stderr == "error: cora: is not a graph file by its name, which must end in .npz, .csv, .graphml\n"


def test_methods(cli: Command) -> None:
    shown = cli("methods")
    for word in ("cld", "lp", "focused-none", "dice", "gcn", "tau"):
        assert word in shown.stdout
    listed = json.loads(cli("methods", "--json").stdout)
    assert [method["name"] for method in listed["sanitizers"]][:3] == ["cld", "lp", "focused-none"]


def test_help_and_version(cli: Command) -> None:
    assert cli("--version").stdout.startswith("focusedcleaner 0.")
    for words in ((), ("--help",), ("sanitize", "--help"), ("datasets", "--help")):
        shown = cli(*words)
        assert shown.exit_code == 0
        assert "Usage" in shown.stdout

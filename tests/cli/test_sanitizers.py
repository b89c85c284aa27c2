"""``sanitize`` with every method: chosen budgets, added edges, interruptions."""

from __future__ import annotations

import json
import os
from functools import partialmethod
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from focusedcleaner.runs import RunFolder, read_run, write_run
from focusedcleaner.sanitizers import SANITIZERS, Interrupted, Jaccard, Sanitation, SelfAttack, gasoline
from focusedcleaner.sanitizers.iterative import Journal
from focusedcleaner.scoring import score
from tests.cli.conftest import JSON
from tests.conftest import Command
from tests.sanitizers.helpers import Chooser

QUICK = {
    "maskgvae": ("--set", "partition_epochs=5"),
    "gasoline": ("--set", "folds=2"),
    "gasoline-d": ("--set", "folds=2"),
    "self-attack": ("--set", "rounds=1", "--set", "attackers=dice"),
}
SELF_ATTACK = {"rounds": 2, "trees": 10, "attackers": "dice,random"}


def test_an_interrupted_auto_budget_is_reported_without_a_total(cli: Command, graph: Graph, graph_file: Path) -> None:
    with pytest.raises(Interrupted) as stop:
        Chooser(interrupted=True).sanitize(graph)
    with RunFolder.opened(Path("RUN")) as folder:
        folder.finish(stop.value.sanitation, {}, status="interrupted")
    scored = cli("score", "RUN", "--truth", graph_file)
    assert scored.stderr == "note: RUN was interrupted: 7 edges were removed\n"


def test_auto_on_the_command_line(cli: Command, graph_file: Path) -> None:
    words = ("sanitize", graph_file, "--method", "jaccard", "--out", "RUN")
    refused = cli(*words, "--budget", "auto")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: jaccard can't choose its budget: give one (10%); ")
    assert not os.path.exists("RUN")
    done = cli(*words, "--set", "threshold=0")
    assert done.exit_code == 0, done.output
    assert "as the method chose" in done.stdout
    record = json.loads(Path("RUN/run.json").read_text())
    assert record["auto_budget"] is True
    assert record["budget"] == record["removed"] > 0
    again = cli(*words, "--set", "threshold=0", "--budget", "auto", "--resume")
    assert again.stderr == "note: RUN is complete already\n"
    other = cli(*words, "--set", "threshold=0", "--budget", str(record["budget"]), "--resume")
    assert other.stderr == f"error: RUN was made with budget auto, not {record['budget']}: resume with the same\n"
    capped = cli("sanitize", graph_file, "--method", "jaccard", "--set", "threshold=0", "--budget", "2", "--json")
    assert json.loads(capped.stdout)["removed"] == 2
    refused = cli("sanitize", graph_file, "--method", "jaccard", "--budget", "30", "--out", "PLAIN")
    assert json.loads(Path("PLAIN/run.json").read_text())["auto_budget"] is False


def test_a_record_without_auto_budget_can_be_resumed(cli: Command, graph_file: Path) -> None:
    words = ("sanitize", graph_file, "--method", "svd", "--budget", "5", "--out", "RUN")
    assert cli(*words).exit_code == 0
    record = json.loads(Path("RUN/run.json").read_text())
    Path("RUN/run.json").write_text(json.dumps({k: v for k, v in record.items() if k not in ("auto_budget", "added")}))
    assert cli(*words, "--resume").stderr == "note: RUN is complete already\n"


def test_only_removed_edges_are_scored(flipped: Sanitation, cli: Command) -> None:
    poisoned = flipped.poisoned
    clean = poisoned.without_edges(flipped.removed[:2])
    save_graph(clean, "clean.npz")
    write_run(flipped, "RUN")
    found = json.loads(cli("score", "RUN", "--truth", "clean.npz", "--json").stdout)
    value = score(flipped.removed, poisoned=poisoned, clean=clean)
    assert (found["attacked"], found["removed"], found["hits"]) == (2, 3, 2)
    assert found["esr"] == pytest.approx(value.esr) == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", [name for name in SANITIZERS.names() if not name.startswith(("cld", "lp", "focused"))])
def test_every_method_on_the_command_line(name: str, cli: Command, graph: Graph, graph_file: Path) -> None:
    words = ("sanitize", graph_file, "--method", name, "--budget", "12", "--out", "RUN", *QUICK.get(name, ()))
    done = cli(*words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    inserts = SANITIZERS.make(name).inserts
    assert [key for key in told if key != "added"] == JSON
    assert ("added" in told) == inserts
    assert (told["method"], told["budget"]) == (name, 12)
    assert told["removed"] + told.get("added", 0) == 12
    run = read_run("RUN")
    assert run.poisoned.fingerprint() == graph.fingerprint()
    assert run.record["settings"] == json.loads(json.dumps(run.record["settings"]))
    assert ("added.csv" in os.listdir("RUN")) == inserts
    shown = cli(*words, "--resume").stdout
    assert name in shown
    assert ("and added" in shown) == inserts
    assert ("RUN/added.csv" in shown) == inserts


def test_an_interrupted_filter_leaves_nothing(cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(self: Jaccard, graph: Graph) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Jaccard, "similarities", interrupt)
    stopped = cli("sanitize", graph_file, "--method", "jaccard", "--out", "RUN")
    assert (stopped.exit_code, stopped.stderr.splitlines()[-1]) == (2, "interrupted; nothing was written")
    assert os.listdir() == []


def test_a_resumed_gasoline_run_writes_the_same_files(
    cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("sanitize", graph_file, "--method", "gasoline", "--budget", "12", "--edges-per-round", "3")
    assert cli(*words, "--out", "WHOLE").exit_code == 0
    whole = gasoline._Cleaning.round

    def interrupted(self: Any, journal: Journal, size: int) -> Journal:
        if journal.rounds == 2:
            raise KeyboardInterrupt
        return whole(self, journal, size)

    monkeypatch.setattr(gasoline._Cleaning, "round", interrupted)
    stopped = cli(*words, "--out", "RUN")
    assert stopped.exit_code == 2
    assert stopped.stderr.splitlines()[-1].startswith(
        "interrupted after 6 of 12 edges; the result so far is in RUN; continue with: "
    )
    so_far = read_run("RUN")
    assert len(so_far.removed) + len(so_far.added) == 6
    monkeypatch.setattr(gasoline._Cleaning, "round", whole)
    assert cli(*words, "--out", "RUN", "--resume").exit_code == 0
    for file in ("removed.csv", "added.csv", "sanitized.npz", "trace.csv"):
        assert Path("RUN", file).read_bytes() == Path("WHOLE", file).read_bytes(), file


@pytest.fixture(scope="module")
def clean() -> Graph:
    return synthetic(num_nodes=300, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.5, seed=2)


@pytest.fixture(scope="module")
def poisoned(clean: Graph) -> Graph:
    return attack("mettack").poison(clean, "10%").graph


def test_the_estimate_is_printed_and_recorded(cli: Command, poisoned: Graph, folder: Path) -> None:
    save_graph(poisoned, folder / "bad.npz")
    quick = [word for key, value in SELF_ATTACK.items() for word in ("--set", f"{key}={value}")]
    result = cli("sanitize", "bad.npz", "--method", "self-attack", "--budget", "10", "--out", "RUN", *quick)
    assert result.exit_code == 0, result.output
    assert "because the budget says so" in " ".join(result.stdout.split())
    record = json.loads((folder / "RUN" / "run.json").read_text())
    assert not record["auto_budget"]
    assert record["estimate"]["low"] <= record["estimate"]["number"] <= record["estimate"]["high"]
    assert "planted with probability" in result.stdout
    assert "nine times in ten" in (folder / "RUN" / "report.html").read_text()
    header = (folder / "RUN" / "removed.csv").read_text().splitlines()[0].split(",")
    assert {"planted", "class_agreement", "training_ends", "common_neighbours"} <= set(header)


def test_sanitize_without_a_method(cli: Command, poisoned: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    save_graph(poisoned, "graph.npz")
    monkeypatch.setattr(SelfAttack, "__init__", partialmethod(SelfAttack.__init__, **SELF_ATTACK))
    assert cli("sanitize", "graph.npz").exit_code == 0
    record = json.loads(Path("runs/graph-self-attack/run.json").read_text())
    assert record["method"] == "self-attack"
    refused = cli("sanitize", "graph.npz", "--set", "tau=0.7", "--budget", "3")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("error: auto chose self-attack for this graph: self-attack has no setting 'tau'")

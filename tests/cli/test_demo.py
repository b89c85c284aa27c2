"""``focusedcleaner demo``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.cli import demo
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from tests.cli.conftest import RESULT
from tests.conftest import Command

pytestmark = pytest.mark.slow


def test_demo(cli: Command, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "_graph", lambda seed: ("Small", graph))
    monkeypatch.setattr(demo, "SEEDS", 1)
    monkeypatch.setattr("focusedcleaner.sanitizers.default_method", lambda graph: "cld")
    done = cli("demo")
    assert done.exit_code == 0, done.output
    for words in (
        "edges planted",
        "of these had been planted",
        "FocusedCleaner (cld)",
        "ESR",
        "oracle",
        "poisoned",
        "cleaned",
        "Next",
    ):
        assert words in done.stdout
    fields = json.loads(cli("demo", "--json").stdout)
    assert fields["method"] == "cld"
    assert set(fields["accuracy"]) == {"clean", "poisoned", "cleaned"}
    planted = attack("mettack").poison(graph, "10%").added
    assert fields["planted"] == len(planted) >= 28
    assert (fields["removed"], fields["status"]) == (32, "uncertain")
    assert "Uncertain: a ranking only" in done.stdout
    assert done.stdout.endswith("judge the edges one by one\n")
    for words in ("runs/demo-cld/report.html", "focusedcleaner review runs/demo-cld "):
        assert words in done.stdout
    assert (fields["run"], fields["report"]) == ("runs/demo-cld-2", "runs/demo-cld-2/report.html")
    assert fields["review"] == "focusedcleaner review runs/demo-cld-2"
    assert os.listdir() == ["runs"]
    assert sorted(os.listdir("runs")) == ["demo-cld", "demo-cld-2"]
    assert sorted(os.listdir("runs/demo-cld")) == sorted(RESULT)
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
    assert capsys.readouterr().err == "note: cora could not be found; a synthetic graph of its size is used instead\n"

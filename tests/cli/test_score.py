"""``focusedcleaner score``."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.io import save_graph
from tests.conftest import Command


def test_score(cli: Command, graph: Graph, poisoned: Graph, graph_file: Path) -> None:
    save_graph(poisoned, "poisoned.npz")
    cli("sanitize", "poisoned.npz", "--method", "cld", "--budget", "10%", "--out", "RUN")
    done = cli("score", "RUN", "--truth", graph_file, "--json")
    fields = json.loads(done.stdout)
    assert list(fields) == ["esr", "f1", "precision", "cr", "oracle_esr", "attacked", "removed", "hits"]
    attacked = len(poisoned.added_edges(graph))
    union = attacked + fields["removed"] - fields["hits"]
    assert (fields["attacked"], fields["removed"]) == (attacked, 30)
    assert fields["esr"] == pytest.approx(fields["hits"] / union)
    assert fields["oracle_esr"] == pytest.approx(min(attacked, 30) / max(attacked, 30))
    table = cli("score", "RUN", "--truth", graph_file)
    assert re.search(r"ESR +[\d.]+ % +100\.0 %", table.stdout)
    assert fields["precision"] == pytest.approx(fields["hits"] / 30)
    assert re.search(rf"precision +{100 * fields['precision']:.1f} % +100\.0 % +planted, of all removed", table.stdout)
    assert re.search(rf"recall \(CR\) +{100 * fields['cr']:.1f} %", table.stdout)
    assert "the harmonic mean of precision and recall" in table.stdout


def test_score_without_an_attack_has_nulls(cli: Command, graph_file: Path) -> None:
    cli("sanitize", graph_file, "--method", "cld", "--budget", "3", "--out", "RUN")
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
    cli("sanitize", "poisoned.npz", "--method", "cld", "--out", "RUN")
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
    cli("sanitize", graph_file, "--method", "cld", "--budget", "3", "--out", "RUN")
    save_graph(Graph.from_pairs(20, [[0, 1]]), "small.npz")
    done = cli("score", run, "--truth", truth)
    assert done.exit_code == 2
    assert done.stderr == f"{message}\n"

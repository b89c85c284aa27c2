"""The restore command."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from focusedcleaner.attacks import Dice
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.runs import RunFolder, write_run
from focusedcleaner.sanitizers import sanitizer

pytestmark = pytest.mark.slow

Command = Callable[..., Result]


def rows_of(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))


@pytest.fixture
def poisoned_file(graph: Graph, tmp_path: Path) -> Path:
    path = tmp_path / "poisoned.npz"
    save_graph(Dice().poison(graph, "20%", seed=0).graph, path)
    return path


@pytest.fixture
def cleaned(cli: Command, poisoned_file: Path) -> None:
    done = cli("sanitize", poisoned_file, "--method", "agreement", "--budget", "5%", "--out", "RUN")
    assert done.exit_code == 0, done.output


@pytest.mark.usefixtures("cleaned")
def test_restore_proposes_and_inserts_nothing(cli: Command) -> None:
    before = load_graph("RUN/sanitized.npz")
    done = cli("restore", "RUN", "--limit", "12")
    assert done.exit_code == 0, done.output
    for words in ("12 edges that may be missing", "RUN/missing.csv", "Nothing was inserted"):
        assert words in done.stdout
    rows = rows_of("RUN/missing.csv")
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 13)]
    assert {"u", "v", "score", "class_agreement", "common_neighbours", "attribute_similarity"} <= set(rows[0])
    assert load_graph("RUN/sanitized.npz") == before
    removed = {(row["u"], row["v"]) for row in rows_of("RUN/removed.csv")}
    assert not removed & {(row["u"], row["v"]) for row in rows}
    assert not [name for name in os.listdir("RUN") if name.endswith(".part")]


@pytest.mark.usefixtures("cleaned")
def test_restore_writes_the_graph_that_was_asked_for(cli: Command) -> None:
    fields = json.loads(cli("restore", "RUN", "--limit", "2%", "--out", "full.npz", "--json").stdout)
    cleaned, full = load_graph("RUN/sanitized.npz"), load_graph("full.npz")
    assert fields["proposed"] == full.num_edges - cleaned.num_edges == cleaned.num_edges // 50
    assert (fields["missing"], fields["out"], fields["seed"]) == ("RUN/missing.csv", "full.npz", 0)
    first = Path("RUN/missing.csv").read_text()
    refused = cli("restore", "RUN", "--limit", "2%", "--out", "full.npz")
    assert refused.exit_code == 2
    assert "exists already" in refused.stderr
    record = Path("RUN/run.json")
    record.write_text(record.read_text().replace('"complete"', '"interrupted"'))
    again = cli("restore", "RUN", "--limit", "2%", "--out", "full.npz", "--force")
    assert again.exit_code == 0
    assert "RUN was interrupted" in again.stderr
    assert Path("RUN/missing.csv").read_text() == first


def test_resuming_a_run_deletes_its_proposals(folder: Path, graph: Graph) -> None:
    sanitation = sanitizer("random").sanitize(graph, 5)
    write_run(sanitation, "RUN")
    Path("RUN/missing.csv").write_text("rank,u,v,score\n")
    with RunFolder.opened(Path("RUN"), resume=True) as run:
        run.finish(sanitation, {})
    assert not Path("RUN/missing.csv").exists()


@pytest.mark.usefixtures("cleaned")
def test_score_counts_proposals_apart(cli: Command, graph_file: Path, graph: Graph, poisoned_file: Path) -> None:
    plain = json.loads(cli("score", "RUN", "--truth", graph_file, "--json").stdout)
    assert "restored" not in plain
    assert "cut by the attacker" not in cli("score", "RUN", "--truth", graph_file).stdout
    cut = graph.added_edges(load_graph(poisoned_file))
    lines = [f"{rank},{u},{v},0.5" for rank, (u, v) in enumerate(cut[:3].tolist(), start=1)]
    Path("RUN/missing.csv").write_text("\n".join(["rank,u,v,score", *lines]) + "\n")
    fields = json.loads(cli("score", "RUN", "--truth", graph_file, "--json").stdout)
    restored = fields.pop("restored")
    assert fields == plain
    assert restored == {"precision": 1.0, "recall": 3 / len(cut), "cut": len(cut), "proposed": 3, "hits": 3}
    assert "3 of them rightly" in " ".join(cli("score", "RUN", "--truth", graph_file).stdout.split())


@pytest.mark.usefixtures("cleaned")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: there is no such run folder"),
        (["RUN", "--limit", "0"], "limit 0 is not above 0"),
        (["RUN", "--limit", "many"], "limit 'many' is neither a number of edges"),
        (["RUN", "--out", "graph.doc"], "its name must end in .npz or .csv or "),
        (["RUN", "--out", "no/graph.npz"], "there is no folder no"),
        (["RUN", "--out", "RUN/sanitized.npz", "--force"], "is the run's cleaned graph itself"),
    ],
)
def test_user_errors_print_one_line(cli: Command, words: list[str], message: str) -> None:
    done = cli("restore", *words)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert not Path("RUN/missing.csv").exists()


@pytest.mark.usefixtures("cleaned")
def test_proposals_of_another_graph_are_refused(cli: Command, graph_file: Path) -> None:
    u, v = load_graph("RUN/sanitized.npz").edges[0]
    Path("RUN/missing.csv").write_text(f"rank,u,v,score\n1,{u},{v},0.5\n")
    done = cli("score", "RUN", "--truth", graph_file)
    assert done.exit_code == 2
    assert "proposes an edge that the cleaned graph has" in done.stderr

"""The classify command: what a user types, what comes back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from focusedcleaner.classifiers import CLASSIFIERS, classifier
from focusedcleaner.classifiers.base import NetworkClassifier
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_graph, save_graph, save_split
from tests.conftest import Command

pytestmark = pytest.mark.slow


def test_one_model_as_json(cli: Command, graph_file: Path, graph: Graph) -> None:
    result = cli("classify", graph_file, "--model", "gcn", "--seeds", 2, "--seed", 3, "--json")
    assert result.exit_code == 0, result.output
    fields = json.loads(result.stdout)
    expected = [classifier("gcn").fit(graph, seed=seed).accuracy(graph) for seed in (3, 4)]
    assert fields["model"] == "gcn"
    assert fields["accuracies"] == pytest.approx(expected)
    assert fields["accuracy_mean"] == pytest.approx(np.mean(expected))
    assert fields["accuracy_std"] == pytest.approx(np.std(expected))


def test_several_models_make_a_table(cli: Command, graph_file: Path) -> None:
    result = cli("classify", graph_file, "--model", "mlp, sgc", "--seeds", 1)
    assert result.exit_code == 0, result.output
    rows = [line.split()[0] for line in result.stdout.splitlines() if "%" in line]
    assert rows == ["mlp", "sgc"]


def test_all_models(cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = NetworkClassifier._train

    def train_briefly(model: NetworkClassifier, graph: Graph, seed: int) -> None:
        model.epochs = 2
        train(model, graph, seed)

    monkeypatch.setattr(NetworkClassifier, "_train", train_briefly)
    result = cli("classify", graph_file, "--model", "all", "--seeds", 1, "--json")
    assert result.exit_code == 0, result.output
    assert [row["model"] for row in json.loads(result.stdout)["models"]] == list(CLASSIFIERS.names())


def test_a_run_folder_stands_for_its_cleaned_graph(cli: Command, graph_file: Path, folder: Path) -> None:
    assert cli("sanitize", graph_file, "--method", "cld", "--budget", 20, "--out", "RUN").exit_code == 0
    by_run = cli("classify", "RUN", "--seeds", 1, "--json")
    by_file = cli("classify", folder / "RUN" / "sanitized.npz", "--seeds", 1, "--json")
    assert by_run.exit_code == 0, by_run.output
    assert json.loads(by_run.stdout)["accuracies"] == json.loads(by_file.stdout)["accuracies"]
    assert load_graph(folder / "RUN" / "sanitized.npz").num_edges == load_graph(graph_file).num_edges - 20


def test_a_run_is_measured_before_and_after(cli: Command, graph_file: Path, graph: Graph) -> None:
    assert cli("sanitize", graph_file, "--method", "agreement", "--budget", 60, "--out", "RUN").exit_code == 0
    words = ("classify", "RUN", "--model", "sgc", "--seeds", 2)
    fields = json.loads(cli(*words, "--json").stdout)
    before = [classifier("sgc").fit(graph, seed=seed).accuracy(graph) for seed in (0, 1)]
    assert fields["before"]["accuracies"] == pytest.approx(before)
    assert fields["after"]["accuracies"] == fields["accuracies"]
    assert fields["difference"] == pytest.approx(fields["accuracy_mean"] - np.mean(before))
    assert "note" not in fields
    shown = cli(*words)
    assert shown.stderr == ""
    text = " ".join(shown.stdout.split())
    assert "model before ± after ± difference seconds each" in text
    assert "300 edges before the sanitation and 240 after it" in text
    assert f"sgc {100 * np.mean(before):.1f} %" in text
    assert f"{100 * fields['difference']:+.1f} points" in text


def test_after_a_run_that_used_all_labels_the_figures_carry_a_note(cli: Command, graph: Graph) -> None:
    save_graph(graph.with_split(None), "whole.npz")
    assert cli("sanitize", "whole.npz", "--method", "agreement", "--budget", 9, "--out", "RUN").exit_code == 0
    done = cli("classify", "RUN", "--model", "sgc", "--seeds", 1, "--json")
    assert done.exit_code == 0, done.output
    drawn, seen = done.stderr.splitlines()
    assert drawn.endswith("a split was drawn (seed 0): 15 for training, 15 for validation, 120 for testing")
    assert seen == f"note: {json.loads(done.stdout)['note']}"
    assert "has seen the labels of these test nodes" in seen


def test_other_edges_have_no_before(cli: Command, graph_file: Path, graph: Graph) -> None:
    cli("sanitize", graph_file, "--method", "agreement", "--budget", 9, "--out", "RUN")
    sp.save_npz("other.npz", graph.adjacency())
    for words in (("--adjacency", "other.npz"), ("--largest-component",)):
        done = cli("classify", "RUN", *words, "--model", "sgc", "--seeds", 1, "--json")
        assert done.exit_code == 0, done.output
        assert "before" not in json.loads(done.stdout)


def test_a_run_without_labels_costs_one_line(cli: Command, graph: Graph) -> None:
    save_graph(Graph(graph.num_nodes, graph.edges), "bare.npz")
    assert cli("sanitize", "bare.npz", "--method", "svd", "--budget", 9, "--out", "RUN").exit_code == 0
    done = cli("classify", "RUN")
    assert done.exit_code == 2
    assert done.stderr == ("error: the graph has no labels: there is nothing to learn and nothing to compare with\n")


def test_an_interrupted_run_is_noted(cli: Command, graph_file: Path, folder: Path) -> None:
    cli("sanitize", graph_file, "--method", "cld", "--budget", 20, "--out", "RUN")
    record = json.loads((folder / "RUN" / "run.json").read_text())
    (folder / "RUN" / "run.json").write_text(json.dumps({**record, "status": "interrupted"}))
    assert "only partly cleaned" in cli("classify", "RUN", "--model", "sgc", "--seeds", 1).stderr


def test_another_adjacency(cli: Command, graph_file: Path, graph: Graph, folder: Path) -> None:
    fewer = replace(graph, edges=graph.edges[::2])
    sp.save_npz(folder / "other.npz", fewer.adjacency())
    save_graph(fewer, folder / "fewer.npz")
    replaced = cli("classify", graph_file, "--adjacency", "other.npz", "--seeds", 1, "--json")
    direct = cli("classify", "fewer.npz", "--seeds", 1, "--json")
    assert json.loads(replaced.stdout)["accuracies"] == json.loads(direct.stdout)["accuracies"]


def test_a_contradicting_split_is_refused_unless_meant(cli: Command, graph_file: Path, graph: Graph) -> None:
    other = Split.random(graph.labels, seed=99)  # type: ignore[arg-type]
    save_split(other, Path("other.json"))
    refused = cli("classify", graph_file, "--split", "other.json")
    assert refused.exit_code == 2
    assert "--force-split" in refused.stderr
    meant = cli("classify", graph_file, "--split", "other.json", "--force-split", "--model", "sgc", "--seeds", 1)
    assert meant.exit_code == 0, meant.output


def test_a_setting_reaches_the_model(cli: Command, graph_file: Path) -> None:
    one = cli("classify", graph_file, "--model", "sgc", "--set", "hops=1", "--seeds", 1, "--json")
    many = cli("classify", graph_file, "--model", "sgc", "--set", "hops=8", "--seeds", 1, "--json")
    assert json.loads(one.stdout)["accuracies"] != json.loads(many.stdout)["accuracies"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "gin"], "there is no classifier 'gin'"),
        (["--model", ""], "there is no classifier ''"),
        (["--model", "gcn,sgc", "--set", "hops=1"], "--set goes with one model"),
        (["--model", "gcn", "--set", "hops=1"], "no setting 'hops'"),
        (["--seeds", "0"], "--seeds"),
    ],
)
def test_mistakes_cost_one_line(cli: Command, graph_file: Path, words: list[str], said: str) -> None:
    result = cli("classify", graph_file, *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_folder_that_is_no_run(cli: Command, folder: Path) -> None:
    (folder / "things").mkdir()
    result = cli("classify", "things")
    assert (result.exit_code, "neither a graph folder nor a run folder" in result.stderr) == (2, True)


def test_nothing_to_measure(cli: Command, graph: Graph, folder: Path) -> None:
    assert graph.labels is not None
    assert graph.split is not None
    labels = graph.labels.copy()
    labels[graph.split.test] = -1
    save_graph(replace(graph, labels=labels), folder / "unknown.npz")
    save_graph(Graph(graph.num_nodes, graph.edges), folder / "bare.npz")
    assert "no test node has a label" in cli("classify", "unknown.npz").stderr
    assert "no labels" in cli("classify", "bare.npz").stderr

"""Edges that may be missing: candidates by brute force, and what a list of proposals promises."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import Result

from focusedcleaner.attacks import Dice
from focusedcleaner.datasets import synthetic
from focusedcleaner.edge_features.pair_features import PairFeatures
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, IntArray, Split
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.restore import Missing, missing, missing_edges
from focusedcleaner.restore.candidates import Candidates, distance_two, most_alike_pairs
from focusedcleaner.restore.hiding import WAYS, at_training_nodes, within_classes
from focusedcleaner.runs import RunFolder, write_run
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.scoring import score_restored
from tests.strategies import labelled_graphs

Command = Callable[..., Result]
Pairs = set[tuple[int, int]]


def pairs_of(keys: IntArray, num_nodes: int) -> Pairs:
    return {divmod(int(key), num_nodes) for key in keys}


def as_set(pairs: IntArray) -> Pairs:
    return {(int(u), int(v)) for u, v in pairs}


# Candidates ----------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs())
def test_pairs_at_distance_two_are_those_with_a_common_neighbour(graph: Graph) -> None:
    dense = graph.adjacency().toarray()
    expected = {(u, v) for u, v in combinations(range(graph.num_nodes), 2) if dense[u] @ dense[v] > 0}
    assert pairs_of(distance_two(graph), graph.num_nodes) == expected


@settings(deadline=None, max_examples=40)
@given(graph=labelled_graphs(), most=st.integers(0, 40))
def test_bounded_walks_go_over_rare_middles_first(graph: Graph, most: int) -> None:
    expected: Pairs = set()
    walked = 0
    neighbours = [np.flatnonzero(row) for row in graph.adjacency().toarray()]
    for middle in sorted(range(graph.num_nodes), key=lambda node: len(neighbours[node])):
        around = set(combinations(neighbours[middle].tolist(), 2))
        walked += len(around)
        if walked > most:
            break
        expected |= around
    assert pairs_of(distance_two(graph, most), graph.num_nodes) == expected


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10_000), most_alike=st.integers(1, 8), num_nodes=st.integers(1, 12))
def test_most_alike_pairs_are_the_best_of_all_products(seed: int, most_alike: int, num_nodes: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((num_nodes, 6)) * (rng.random((num_nodes, 6)) < 0.4)
    rows = np.sort(rng.choice(num_nodes, rng.integers(1, num_nodes + 1), replace=False))
    expected: Pairs = set()
    for node in rows.tolist():
        others = sorted((-float(dense[node] @ dense[other]), other) for other in range(num_nodes) if other != node)
        expected |= {(min(node, v), max(node, v)) for product, v in others[:most_alike] if product < -1e-12}
    found = most_alike_pairs(sp.csr_array(dense), rows, most_alike)
    assert pairs_of(found, num_nodes) == expected


def test_blocks_do_not_change_what_is_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rare, everyone = PairFeatures.of(synthetic(num_nodes=60, seed=0)).tfidf, np.arange(60)
    assert rare is not None
    whole = most_alike_pairs(rare, everyone, 4)
    monkeypatch.setattr("focusedcleaner.restore.candidates.BLOCK", 100)
    np.testing.assert_array_equal(most_alike_pairs(rare, everyone, 4), whole)


def test_training_nodes_are_compared_first_where_not_all_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=60, seed=0)
    assert graph.split is not None
    rare = PairFeatures.of(graph).tfidf
    assert rare is not None
    monkeypatch.setattr("focusedcleaner.restore.candidates.MOST_PRODUCTS", 60 * len(graph.split.train))
    found = Candidates.of(graph, rare, most_alike=3).alike
    np.testing.assert_array_equal(found, most_alike_pairs(rare, graph.split.train, 3))


# Hiding --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_hidden_edges_are_edges_and_nobody_is_left_alone(way: str) -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    hidden = WAYS[way](graph, graph.labels, 12, np.random.default_rng(0))
    assert 0 < len(hidden) <= 12
    assert as_set(hidden) <= as_set(graph.edges)
    assert ((graph.without_edges(hidden).degrees > 0) == (graph.degrees > 0)).all()
    np.testing.assert_array_equal(hidden, WAYS[way](graph, graph.labels, 12, np.random.default_rng(0)))


def test_edges_are_hidden_where_attackers_cut() -> None:
    graph = synthetic(num_nodes=120, seed=2)
    assert graph.labels is not None
    assert graph.split is not None
    for way in (within_classes, at_training_nodes):
        hidden = way(graph, graph.labels, 10, np.random.default_rng(0))
        assert (np.diff(graph.labels[hidden], axis=1) == 0).all()
    assert (np.isin(hidden, graph.split.train).sum(axis=1) == 1).all()


# Proposals -----------------------------------------------------------------------------------------------------------


def proposals(graph: Graph, limit: int | str = 15, **options: object) -> Missing:
    return missing_edges(graph, limit, repeats=1, trees=10, **options)  # type: ignore[arg-type]


@settings(deadline=None, max_examples=4)
@given(seed=st.integers(0, 2**32 - 1), num_nodes=st.integers(80, 150), columns=st.sampled_from([0, 40]))
def test_proposals_are_pairs_without_an_edge(seed: int, num_nodes: int, columns: int) -> None:
    graph = synthetic(num_nodes=num_nodes, num_attributes=columns, seed=seed % 100)
    before = graph.fingerprint()
    excluded = Candidates.of(graph, None, most_alike=1).pairs(graph)[:20]
    found = proposals(graph, seed=seed, excluded=excluded)
    assert len(found.pairs) == len(found.scores) <= 15
    assert all(len(column) == len(found.pairs) for column in found.evidence.values())
    assert (found.pairs[:, 0] < found.pairs[:, 1]).all()
    assert len(as_set(found.pairs)) == len(found.pairs)
    assert not as_set(found.pairs) & (as_set(graph.edges) | as_set(excluded))
    assert (np.diff(found.scores) <= 0).all()
    assert ((found.scores >= 0) & (found.scores <= 1)).all()
    assert graph.fingerprint() == before


def test_a_longer_list_of_the_same_seed_begins_with_the_shorter_one() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    short, long = proposals(graph, "5%", seed=2), proposals(graph, 20, seed=2)
    assert len(short.pairs) == graph.num_edges // 20
    np.testing.assert_array_equal(long.pairs[: len(short.pairs)], short.pairs)
    np.testing.assert_array_equal(long.scores[: len(short.pairs)], short.scores)


def test_edges_that_were_cut_are_found() -> None:
    clean, cut = circles_of_friends()
    graph = clean.without_edges(cut)
    found = missing_edges(graph, len(cut), repeats=1, trees=40)
    assert found.candidates > 10 * len(cut)
    assert score_restored(found.pairs, poisoned=graph, clean=clean).recall > 0.8
    assert 0.5 < found.reach <= 1


def circles_of_friends() -> tuple[Graph, IntArray]:
    """Forty circles of seven, in which all know each other, with a few acquaintances between; and one edge of each."""
    rng = np.random.default_rng(0)
    circles = [list(range(7 * number, 7 * number + 7)) for number in range(40)]
    friends = [pair for circle in circles for pair in combinations(circle, 2)]
    labels = np.repeat(np.arange(40) % 2, 7)
    graph = Graph.from_pairs(280, [*friends, *rng.integers(0, 280, (150, 2)).tolist()], labels=labels)
    return graph.with_split(Split.random(labels)), np.array([circle[:2] for circle in circles])


def test_test_labels_are_not_looked_at() -> None:
    graph = synthetic(num_nodes=120, seed=3)
    assert graph.labels is not None
    assert graph.split is not None
    wrong = graph.labels.copy()
    wrong[graph.split.test] = (wrong[graph.split.test] + 1) % graph.num_classes
    other = replace(graph, labels=wrong)
    np.testing.assert_array_equal(proposals(graph).pairs, proposals(other).pairs)


def test_few_shown_candidates_weigh_as_much_as_all(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = synthetic(num_nodes=150, seed=3)
    whole = proposals(graph, 300).scores.sum()
    monkeypatch.setattr(missing, "MOST_SHOWN", 300)
    assert proposals(graph, 300).scores.sum() == pytest.approx(whole, rel=0.6)


def test_nothing_is_proposed_where_nothing_can_be_learnt() -> None:
    couples = Graph(4, [[0, 1], [2, 3]], labels=[0, 1, 0, 1], split=Split([0, 1], [], [2, 3]))
    found = missing_edges(couples, 1)
    assert len(found.pairs) == len(found.scores) == 0
    assert np.isnan(found.reach)


def test_a_graph_without_a_split_is_refused() -> None:
    with pytest.raises(InputError, match="has no split"):
        missing_edges(synthetic(num_nodes=50, seed=0, with_split=False))


@pytest.mark.parametrize("limit", [0, -3, "x", "200%"])
def test_limits_are_checked(limit: int | str) -> None:
    with pytest.raises(InputError, match="limit"):
        missing_edges(synthetic(num_nodes=50, seed=0), limit)


def rows_of(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))


# The command ---------------------------------------------------------------------------------------------------------


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


def test_a_run_that_goes_on_forgets_the_proposals_for_what_it_was(folder: Path, graph: Graph) -> None:
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
        (["RUN", "--out", "graph.txt"], "its name must end in .npz or .csv or .graphml"),
        (["RUN", "--out", "no/graph.npz"], "there is no folder no"),
        (["RUN", "--out", "RUN/sanitized.npz", "--force"], "is the run's cleaned graph itself"),
    ],
)
def test_mistakes_cost_one_line(cli: Command, words: list[str], message: str) -> None:
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

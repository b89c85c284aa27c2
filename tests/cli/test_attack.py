"""``focusedcleaner attack``, as a user types it."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusedcleaner.attacks import Dice, Mettack, mettack
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_graph, save_graph, save_split
from focusedcleaner.io.folder import open_folder
from focusedcleaner.io.folder_writer import FolderWriter, write_folder
from tests.conftest import Command

SANITIZE = ("sanitize", "poisoned.npz", "--method", "focused-none", "--budget", "3")


def test_one_power_gives_one_file(cli: Command, graph: Graph, graph_file: Path) -> None:
    done = cli("attack", graph_file, "--power", "5%", "--out", "poisoned.npz", "--json")
    assert done.exit_code == 0, done.output
    fields = json.loads(done.stdout)
    assert list(fields) == ["method", "power", "added", "removed", "seconds", "out"]
    assert (fields["method"], fields["power"], fields["out"]) == ("mettack", "5%", "poisoned.npz")
    poisoned = load_graph("poisoned.npz")
    assert fields["added"] + fields["removed"] == 15
    assert poisoned == replace(Mettack().poison(graph, 15).graph, notes=poisoned.notes)
    assert poisoned.split == graph.split
    assert os.listdir() == ["poisoned.npz"]


def test_powers_are_prefixes_of_one_attack(cli: Command, graph: Graph, graph_file: Path) -> None:
    done = cli("attack", graph_file, "--power", "4%,2%,7", "--out", "p.npz", "--json")
    assert done.exit_code == 0, done.output
    fields = json.loads(done.stdout)["poisonings"]
    assert [one["power"] for one in fields] == ["4%", "2%", "7"]
    assert [one["added"] + one["removed"] for one in fields] == [12, 6, 7]
    assert sorted(os.listdir()) == ["p-2%.npz", "p-4%.npz", "p-7.npz"]
    assert load_graph("p-7.npz").edges.tolist() == Mettack().poison(graph, 7).graph.edges.tolist()


def test_words_for_people(cli: Command, graph_file: Path) -> None:
    done = cli("attack", graph_file, "--method", "dice", "--power", "2%,4%")
    assert done.exit_code == 0, done.output
    assert "graph-dice-2%.npz  2%: 3 edges added, 3 removed" in done.stdout
    assert "dice, seed 0" in done.stdout
    assert sorted(os.listdir()) == ["graph-dice-2%.npz", "graph-dice-4%.npz"]


def test_targets_go_by_their_names(cli: Command, graph: Graph) -> None:
    save_graph(replace(graph, names=tuple(f"n{node}" for node in range(graph.num_nodes))), "named.npz")
    done = cli("attack", "named.npz", "--method", "nettack", "--targets", "n7, n12", "--set", "per_target=2", "--json")
    assert done.exit_code == 0, done.output
    before, after = load_graph("named.npz"), load_graph("named-nettack.npz")
    changed = np.concatenate([after.added_edges(before), before.added_edges(after)])
    assert len(changed) == 4
    assert all({7, 12} & set(pair) for pair in changed.tolist())


def test_a_poisoned_file_keeps_its_split(cli: Command, graph: Graph, graph_file: Path) -> None:
    cli("attack", graph_file, "--power", "5%", "--out", "poisoned.npz", "--method", "random")
    save_split(Split(*(np.array(part) for part in ([0, 1, 2], [3], [4]))), "other.json")
    words = (*SANITIZE, "--split", "other.json", "--out", "RUN")
    refused = cli(*words)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert "other.json: is another split than the one that poisoned.npz carries" in refused.stderr
    assert graph.split is not None
    save_split(graph.split, "same.json")
    assert cli(*SANITIZE, "--split", "same.json", "--out", "SAME").exit_code == 0
    save_split(Split(graph.split.train[:-1], graph.split.val, graph.split.test), "fewer.json")
    forced = (*SANITIZE, "--split", "fewer.json", "--force-split", "--out", "OTHER")
    assert cli(*forced).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--power", "0"), "power 0 is not above 0"),
        (("--power", "101%"), "power 101% is more than all edges"),
        (("--power", "5%,400"), "power 400 is more than the graph's 300 edges"),
        (("--power", "5%,5%"), "power 5% is given twice"),
        (("--power", "much"), "power 'much' is neither"),
        (("--method", "magic"), "there is no attack 'magic'"),
        (("--set", "strength=3"), "mettack has no setting 'strength'"),
        (("--out", "poisoned.doc"), "must end in"),
        (("--out", "nowhere/poisoned.npz"), "there is no folder nowhere"),
        (("--targets", "3"), "--targets goes with nettack"),
        (("--method", "nettack", "--targets", "3,999"), "there is no node '999' to be a target"),
        (("--method", "dice", "--resume"), "can't be resumed"),
    ],
)
def test_mistakes_cost_one_line(cli: Command, graph_file: Path, words: tuple[str, ...], message: str) -> None:
    done = cli("attack", graph_file, *words)
    assert done.exit_code == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert os.listdir() == []


def test_a_graph_without_training_nodes_is_told(cli: Command, graph: Graph) -> None:
    assert graph.split is not None
    save_graph(graph.with_split(Split(np.array([]), graph.split.val, graph.split.test)), "none.npz")
    done = cli("attack", "none.npz")
    assert done.exit_code == 2
    assert "the split has no training node" in done.stderr


def test_nothing_is_overwritten(cli: Command, graph_file: Path) -> None:
    Path("p.npz").write_text("precious")
    done = cli("attack", graph_file, "--method", "random", "--out", "p.npz")
    assert done.exit_code == 2
    assert "p.npz: exists already" in done.stderr
    assert Path("p.npz").read_text() == "precious"


def test_an_interrupted_attack_goes_on(cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("attack", graph_file, "--power", "2%,4%")
    assert cli(*words, "--out", "whole.npz").exit_code == 0
    whole = mettack.MettackSearch.next_flip
    flips = 0

    def interrupted(self: Any) -> Any:
        nonlocal flips
        flips += 1
        if flips == 5:
            raise KeyboardInterrupt
        return whole(self)

    monkeypatch.setattr(mettack.MettackSearch, "next_flip", interrupted)
    stopped = cli(*words, "--out", "p.npz")
    assert stopped.exit_code == 2
    assert "interrupted after 4 of 12 flips, which are kept; continue with: focusedcleaner attack" in stopped.stderr
    assert stopped.stderr.strip().endswith("--resume")
    assert not Path("p-2%.npz").exists()
    monkeypatch.setattr(mettack.MettackSearch, "next_flip", whole)
    refused = cli(*words, "--out", "p.npz")
    assert refused.exit_code == 2
    assert "an attack was interrupted here: continue it with --resume" in refused.stderr
    done = cli(*words, "--out", "p.npz", "--resume")
    assert done.exit_code == 0, done.output
    for power in ("2%", "4%"):
        assert load_graph(f"p-{power}.npz") == load_graph(f"whole-{power}.npz")
    assert not [name for name in os.listdir() if name.startswith(".")]


def test_resuming_nothing_begins(cli: Command, graph_file: Path) -> None:
    done = cli("attack", graph_file, "--power", "3", "--out", "p.npz", "--resume")
    assert done.exit_code == 0
    assert "so it starts from the beginning" in done.stderr


def test_resuming_a_finished_attack_finds_it_complete(cli: Command, graph_file: Path) -> None:
    words = ("attack", graph_file, "--power", "2%,4%", "--out", "p.npz")
    first = cli(*words, "--json")
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    again = cli(*words, "--resume", "--json")
    assert again.exit_code == 0, again.output
    assert again.stderr == "note: p-2%.npz is complete already\n"
    for one, other in zip(*(json.loads(done.stdout)["poisonings"] for done in (first, again)), strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    for other_attack in (("--seed", "1"), ("--set", "lambda_=0.5"), ("--power", "2%,4%,6%")):
        refused = cli(*words, "--resume", *other_attack)
        assert refused.exit_code == 2
        assert "exists already" in refused.stderr
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


def test_a_graph_folder_gives_a_graph_folder(cli: Command, graph: Graph) -> None:
    named = replace(graph, names=tuple(range(1000, 1000 + graph.num_nodes)))
    write_folder(Path("G"), {}, named)
    done = cli("attack", "G/", "--method", "dice", "--power", "5%,10%", "--out", "P/", "--json")
    assert done.exit_code == 0, done.output
    assert sorted(os.listdir()) == ["G", "P-10%", "P-5%"]
    expected = Dice().poison(named, "10%").graph
    poisoned = open_folder(Path("P-10%"))
    assert poisoned.edges.tolist() == expected.edges.tolist()
    assert (list(poisoned.names or ()), poisoned.split) == (list(named.names or ()), graph.split)
    again = cli("attack", "G", "--method", "dice", "--power", "5%,10%", "--out", "P")
    assert again.exit_code == 2
    assert "P-5%: exists already" in again.stderr
    sanitized = cli("sanitize", "P-10%", "--method", "jaccard", "--budget", "10%", "--out", "RUN", "--json")
    assert sanitized.exit_code == 0, sanitized.output
    scored = cli("score", "RUN", "--truth", "G", "--json")
    assert scored.exit_code == 0, scored.output
    assert json.loads(scored.stdout)["attacked"] == len(expected.added_edges(named))
    measured = cli("classify", "RUN", "--model", "sgc", "--seeds", "1", "--json")
    assert measured.exit_code == 0, measured.output
    assert {"before", "after"} <= set(json.loads(measured.stdout))


def test_a_graph_folder_as_a_file(cli: Command, graph: Graph) -> None:
    write_folder(Path("G"), {}, graph)
    done = cli("attack", "G", "--method", "random", "--out", "p.npz")
    assert done.exit_code == 0, done.output
    assert load_graph("p.npz").num_edges == 330
    named_by_default = cli("attack", "G", "--method", "random")
    assert named_by_default.exit_code == 0, named_by_default.output
    assert open_folder(Path("G-random")).num_edges == 330
    refused = cli("attack", "p.npz", "--method", "random", "--out", "P")
    assert refused.exit_code == 2
    assert "must end in" in refused.stderr


def test_a_finished_attack_on_a_graph_folder_is_recognized(cli: Command, graph: Graph) -> None:
    write_folder(Path("G"), {}, graph)
    words = ("attack", "G", "--power", "2%", "--out", "P", "--json")
    first = cli(*words)
    assert first.exit_code == 0, first.output
    again = cli(*words, "--resume")
    assert again.exit_code == 0, again.output
    assert "P is complete already" in again.stderr
    assert json.loads(again.stdout)["added"] == json.loads(first.stdout)["added"]
    assert sorted(os.listdir()) == ["G", "P"]


def test_a_folder_that_was_cut_off_is_completed(cli: Command, graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kill while the folder is written leaves its part; the same command completes it, another one refuses it."""
    write_folder(Path("G"), {}, graph)
    words = ("attack", "G", "--method", "dice", "--power", "5%", "--out", "P")
    whole = FolderWriter.finish

    def killed(self: FolderWriter) -> None:
        raise SystemExit(9)

    monkeypatch.setattr(FolderWriter, "finish", killed)
    cli(*words)
    assert ".P.part" in os.listdir()
    assert not Path("P").exists()
    monkeypatch.setattr(FolderWriter, "finish", whole)
    other = cli(*words, "--seed", "7")
    assert other.exit_code == 2
    assert "begun from another file or with other options" in other.stderr
    done = cli(*words)
    assert done.exit_code == 0, done.output
    assert open_folder(Path("P"), verify=True).num_edges == 301  # 8 added, 7 removed
    assert sorted(os.listdir()) == ["G", "P"]

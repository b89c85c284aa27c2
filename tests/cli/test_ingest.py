"""``focusedcleaner ingest``, and the commands on the graph folder that it writes."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest

from focusedcleaner.engine.parallel import Threads
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.folder_writer import FolderWriter
from focusedcleaner.runs import read_run
from tests.cli.conftest import fails
from tests.conftest import Command

STORED = ["removed.parquet", "report.html", "run.json", "sanitized.parquet", "split.parquet", "trace.csv"]


@pytest.fixture
def named_table(graph: Graph, folder: Path) -> Path:
    """An edge table whose ids are neither numbers of nodes nor in order, and its node table; without a split."""
    names = [f"n{(7 * node) % graph.num_nodes}" for node in range(graph.num_nodes)]
    parts = {part: getattr(graph, part) for part in ("attributes", "labels")}
    save_graph(Graph(graph.num_nodes, graph.edges, names=names, **parts), "graph.csv")
    return Path("graph.csv")


def done(result: Any) -> Any:
    assert result.exit_code == 0, result.output
    return result


def rows(path: Path) -> list[tuple[frozenset[str], float]]:
    """The edges of a table with their scores, in order."""
    frame = pl.read_parquet(path) if path.suffix == ".parquet" else pl.read_csv(path, infer_schema_length=None)
    ends = frame.select(pl.col("u", "v").cast(pl.String)).rows()
    return [(frozenset(pair), score) for pair, score in zip(ends, frame["score"].to_list(), strict=True)]


def same(one: list[tuple[frozenset[str], float]], other: list[tuple[frozenset[str], float]]) -> bool:
    """Whether edges and scores are equal; a CSV file has nine digits."""
    return [pair for pair, _ in one] == [pair for pair, _ in other] and all(
        float(f"{a:.9g}") == float(f"{b:.9g}") for (_, a), (_, b) in zip(one, other, strict=True)
    )


def test_ingest_says_what_the_folder_holds(cli: Command, graph_file: Path) -> None:
    told = done(cli("ingest", graph_file, "--out", "G"))
    assert told.stdout.startswith("G  150 nodes, 300 edges, 200 attributes  ")
    assert os.listdir() == ["G"]
    fields = json.loads(done(cli("ingest", graph_file, "--out", "H", "--json")).stdout)
    assert (fields["nodes"], fields["edges"], fields["attributes"], fields["out"]) == (150, 300, 200, "H")
    assert load_graph("G").fingerprint() == load_graph("H").fingerprint()


@pytest.mark.parametrize("method", ["agreement", "cld", "lp"])
def test_a_folder_gives_the_edges_of_the_file(method: str, cli: Command, graph_file: Path) -> None:
    options = ("--method", method, "--budget", "8%", *(["--edges-per-round", "8"] if method != "agreement" else []))
    done(cli("ingest", graph_file, "--out", "G"))
    done(cli("sanitize", "G", *options, "--out", "STORED", "--threads", 2))
    done(cli("sanitize", graph_file, *options, "--out", "FILE", "--threads", 1))
    assert sorted(os.listdir("STORED")) == STORED
    assert same(rows(Path("STORED/removed.parquet")), rows(Path("FILE/removed.csv")))
    stored, file = read_run("STORED"), read_run("FILE")
    assert len(stored.removed) == 24
    left = [
        {frozenset(str(run.graph.name(node)) for node in pair) for pair in run.graph.edges} for run in (stored, file)
    ]
    assert left[0] == left[1]
    table = pl.read_parquet("STORED/sanitized.parquet").rows()
    assert {frozenset(map(str, pair)) for pair in table} == left[0]
    assert len(table) == 276


def test_a_table_with_names_and_a_drawn_split(cli: Command, named_table: Path) -> None:
    options = ("--method", "cld", "--budget", "20", "--edges-per-round", "5", "--seed", "3")
    done(cli("ingest", named_table, "--out", "G"))
    done(cli("sanitize", "G", *options, "--out", "STORED"))
    done(cli("sanitize", named_table, *options, "--out", "FILE"))
    assert same(rows(Path("STORED/removed.parquet")), rows(Path("FILE/removed.csv")))
    split = pl.read_parquet("STORED/split.parquet")
    of_file = read_run("FILE").graph
    assert of_file.split is not None
    train = {of_file.name(node) for node in of_file.split.train}
    assert set(split.filter(pl.col("split") == "train")["id"]) == train


def test_any_number_of_threads_gives_the_same_bytes(cli: Command, graph_file: Path) -> None:
    done(cli("ingest", graph_file, "--out", "G"))
    for threads in (1, 2, 3):
        done(cli("sanitize", "G", "--method", "agreement", "--scores", "--out", f"R{threads}", "--threads", threads))
    for name in ("removed.parquet", "scores.parquet", "sanitized.parquet"):
        assert len({Path(f"R{threads}", name).read_bytes() for threads in (1, 2, 3)}) == 1
    assert len(pl.read_parquet("R1/scores.parquet")) == 300


@pytest.mark.parametrize("threads", [0, -1])
def test_fewer_threads_than_one_are_refused(threads: int, cli: Command, graph_file: Path) -> None:
    fails(cli("sanitize", graph_file, "--threads", threads), "--threads", left=[])


def test_a_run_is_resumed_with_another_number_of_threads(cli: Command, graph_file: Path, interrupt_at: Any) -> None:
    words = ("sanitize", "G", "--method", "cld", "--budget", "20", "--edges-per-round", "5", "--out")
    done(cli("ingest", graph_file, "--out", "G"))
    done(cli(*words, "WHOLE", "--threads", 1))
    interrupt_at(2)
    assert cli(*words, "RUN", "--threads", 2).exit_code == 2
    assert sorted(os.listdir("RUN")) == sorted([*STORED, "checkpoint.npz"])
    assert len(read_run("RUN").removed) == 10
    interrupt_at(-1)
    done(cli(*words, "RUN", "--threads", 3, "--resume"))
    assert Path("RUN/removed.parquet").read_bytes() == Path("WHOLE/removed.parquet").read_bytes()
    assert sorted(os.listdir("RUN")) == STORED


def test_the_commands_on_a_run_of_a_folder(cli: Command, graph_file: Path, poisoned: Graph) -> None:
    save_graph(poisoned, "poisoned.npz")
    done(cli("ingest", "poisoned.npz", "--out", "G"))
    done(cli("ingest", graph_file, "--out", "CLEAN"))
    done(cli("sanitize", "G", "--method", "agreement", "--budget", "20", "--out", "RUN", "--truth", "CLEAN"))
    done(cli("sanitize", "poisoned.npz", "--method", "agreement", "--budget", "20", "--out", "FILE"))
    score = [done(cli("score", run, "--truth", graph_file, "--json")).stdout for run in ("RUN", "FILE")]
    assert score[0] == score[1] == done(cli("score", "RUN", "--truth", "CLEAN", "--json")).stdout
    done(cli("report", "RUN", "--truth", graph_file))
    done(cli("check", "RUN"))
    done(cli("review", "RUN", "--export", "verdicts.csv"))
    assert done(cli("apply", "RUN")).stdout.startswith("RUN/reviewed.parquet  ")
    assert len(pl.read_parquet("RUN/reviewed.parquet")) == poisoned.num_edges - 20
    done(cli("apply", "RUN", "--out", "reviewed.npz"))
    assert load_graph("reviewed.npz").num_edges == poisoned.num_edges - 20
    done(cli("restore", "RUN", "--limit", "2"))
    assert "after" in done(cli("classify", "RUN", "--model", "sgc", "--seeds", "1", "--set", "epochs=5")).stdout


def test_a_run_finds_its_folder_after_both_were_moved(cli: Command, graph_file: Path) -> None:
    os.mkdir("data")
    done(cli("ingest", graph_file, "--out", "data/G"))
    done(cli("sanitize", "data/G", "--method", "jaccard", "--budget", "5", "--out", "data/RUN"))
    assert json.loads(Path("data/RUN/run.json").read_text())["input"]["folder"] == "G"
    os.rename("data", "elsewhere")
    done(cli("report", "elsewhere/RUN"))
    os.rename("elsewhere/G", "elsewhere/H")
    fails(cli("report", "elsewhere/RUN"), "that the run was made from is gone: put it back", left=["elsewhere"])
    done(cli("ingest", graph_file, "--out", "whole"))
    done(cli("generate", "--out", "elsewhere/G", "--nodes", "150", "--edges", "300", "--seed", "9"))
    fails(
        cli("report", "elsewhere/RUN"),
        "is another graph than the one that the run was made from",
        left=["elsewhere", "whole"],
    )


def test_a_folder_that_was_altered_is_noticed_before_any_work(cli: Command, graph_file: Path) -> None:
    done(cli("ingest", graph_file, "--out", "G"))
    content = bytearray(Path("G/x_data.npy").read_bytes())
    content[-1] ^= 1
    Path("G/x_data.npy").write_bytes(content)
    for command in ("sanitize", "check", "attack", "classify"):
        fails(cli(command, "G"), "G: x_data.npy was altered: block 1 of 1", left=["G"])


def test_options_that_make_another_graph_go_to_ingest(cli: Command, graph_file: Path) -> None:
    done(cli("ingest", graph_file, "--out", "G", "--largest-component"))
    assert load_graph("G").num_nodes < 150
    fails(cli("sanitize", "G", "--largest-component"), "G: --largest-component goes with a graph file", left=["G"])
    fails(cli("sanitize", "G", "--source", "a"), "--source goes with an edge table, and G is none", left=["G"])


def test_a_folder_that_is_none(cli: Command, folder: Path) -> None:
    os.mkdir("D")
    message = "D: is a folder, but neither a graph folder nor a run folder: it has no graph.json and no run.json"
    fails(cli("sanitize", "D"), message, left=["D"])
    fails(cli("ingest", "D", "--out", "G"), message, left=["D"])


def test_places_and_files_that_can_not_be_used(cli: Command, graph_file: Path) -> None:
    done(cli("ingest", graph_file, "--out", "G"))
    fails(cli("ingest", graph_file, "--out", "G"), "G: exists already", left=["G"])
    fails(cli("ingest", graph_file, "--out", "no/G"), "no/G: there is no folder no", left=["G"])
    fails(cli("ingest", "no.csv", "--out", "H"), "no.csv: there is no such file", left=["G"])
    assert "G is complete already" in done(cli("ingest", graph_file, "--out", "G", "--resume")).stderr
    done(cli("generate", "--out", "other.npz"))
    fails(cli("ingest", "other.npz", "--out", "G", "--resume"), "made of another file", left=["G", "other.npz"])


def test_an_interrupted_ingest_names_the_command_that_continues_it(
    cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(self: FolderWriter, about: Any = None) -> None:
        whole(self, about)
        if len(self.files) == 3:
            raise KeyboardInterrupt

    whole = FolderWriter.note
    with monkeypatch.context() as patch:
        patch.setattr(FolderWriter, "note", stop)
        stopped = cli("ingest", graph_file, "--out", "G")
    assert stopped.exit_code == 2
    assert stopped.stderr.endswith(f"continue with: focusedcleaner ingest {graph_file} --out G --resume\n")
    done(cli("ingest", graph_file, "--out", "G", "--resume"))
    assert os.listdir() == ["G"]


def test_another_engine_computes_the_blocks(cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    addresses, computed = [], []

    class Elsewhere(Threads):
        def map(self, kernel: Any, blocks: Any, *shared: Any) -> Any:
            computed.append(len(blocks))
            return super().map(kernel, blocks, *shared)

    @contextmanager
    def ray_executor(address: str | None = None, *, workers: int | None = None) -> Any:
        addresses.append(address)
        if address == "nowhere:1":
            raise InputError("there is no Ray cluster at nowhere:1")
        yield Elsewhere(1)

    module = ModuleType("focusedcleaner.engine.ray_blocks")
    module.ray_executor = ray_executor  # type: ignore[attr-defined]
    monkeypatch.setitem(__import__("sys").modules, module.__name__, module)
    done(cli("ingest", graph_file, "--out", "G"))
    words = ("sanitize", "G", "--method", "agreement", "--budget", "9", "--engine")
    done(cli(*words, "local", "--out", "HERE"))
    assert (addresses, computed) == ([], [])
    done(cli(*words, "ray", "--address", "head:6379", "--out", "THERE"))
    assert addresses == ["head:6379"]
    assert computed
    assert Path("HERE/removed.parquet").read_bytes() == Path("THERE/removed.parquet").read_bytes()
    left = ["G", "HERE", "THERE"]
    fails(cli(*words, "ray", "--address", "nowhere:1", "--out", "R"), "no Ray cluster at nowhere:1", left=left)
    fails(cli(*words, "local", "--address", "a:1", "--out", "R"), "--address is that of a Ray cluster", left=left)
    fails(cli(*words, "spark", "--out", "R"), "there is no engine 'spark': it is local or ray", left=left)

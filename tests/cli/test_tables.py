"""Tables as people have them, from `check` to `apply`: every kind of file that newcomers came with."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from focusedcleaner.cli.inputs import source_record
from focusedcleaner.cli.options import SanitizeOptions
from focusedcleaner.io import load_graph
from focusedcleaner.runs import read_run
from tests.conftest import Command

Rows = list[list[object]]
SVD = ("--method", "svd", "--budget", "5")


def friends(kind: Callable[[int], object] = lambda node: node) -> Rows:
    """Two communities of 30 with a few edges between them; some are given in both directions."""
    generator = np.random.default_rng(0)
    pairs = [(u + 30 * c, v + 30 * c) for c in range(2) for u, v in generator.integers(0, 30, (150, 2)) if u != v]
    pairs += [(u, 30 + v) for u, v in generator.integers(0, 30, (6, 2))] + [(pairs[0][1], pairs[0][0])]
    return [[kind(int(u)), kind(int(v))] for u, v in pairs]


def write(path: str, rows: Rows, header: list[str] | None = None, delimiter: str = ",") -> None:
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([*([header] if header else []), *rows])


def reviews() -> Rows:
    generator = np.random.default_rng(1)
    return [
        [int(user), int(item), int(stars), f"2024-01-{day:02d}"]
        for user, item, stars, day in generator.integers(1, [40, 25, 6, 29], (300, 4))
    ]


def accounts(header: list[str]) -> None:
    generator = np.random.default_rng(2)
    rows: Rows = [
        [node, ["US", "DE", "FR", ""][generator.integers(4)], 18 + node, f"{generator.normal(1e4, 5e3):.2f}",
         ["yes", "no"][node % 2], f"20{10 + node % 10}-03-01", 1 if node % 9 == 0 else ""]
        for node in range(60)
    ]  # fmt: skip
    write("accounts.csv", rows, header)


ACCOUNT = ["account_id", "country", "age", "balance", "active", "joined", "is_fraud"]


def make(name: str) -> tuple[str, ...]:
    """Write the files of a kind, and return the words that read them."""
    if name == "user_id,friend_id":
        write("graph.csv", friends(), ["user_id", "friend_id"])
    elif name == "unknown names":
        write("graph.csv", [[*row, "x"] for row in friends(lambda node: f"n{node}")], ["who", "whom", "how"])
        return "graph.csv", "--source", "who", "--target", "whom"
    elif name == "no header":
        write("graph.csv", friends(lambda node: f"n{node}"))
    elif name == "user,item,rating,date":
        write("graph.csv", reviews(), ["user", "item", "rating", "date"])
    elif name == "snap":
        rows = [f"{u}\t{v}" for u, v in friends()]
        Path("graph.txt").write_text("\n".join(["# Directed graph", "# FromNodeId\tToNodeId", *rows, ""]))
        return ("graph.txt",)
    elif name == "tsv with weights":
        write("graph.tsv", [[*row, 0.5] for row in friends()], ["source", "target", "weight"], "\t")
        return ("graph.tsv",)
    elif name == "parquet":
        dated = [[*row, day] for row, (_, _, _, day) in zip(friends(), reviews(), strict=False)]
        pl.DataFrame(dated, ["sender", "receiver", "date"], orient="row").write_parquet("graph.parquet")
        return ("graph.parquet",)
    elif name == "accounts":
        write("graph.csv", [[*row, 7.5] for row in friends()], ["payer", "payee", "amount"])
        accounts(ACCOUNT)
        return "graph.csv", "--nodes", "accounts.csv"
    return ("graph.csv",)


KINDS = [
    "user_id,friend_id", "unknown names", "no header", "user,item,rating,date", "snap", "tsv with weights", "parquet",
    "accounts",
]  # fmt: skip


def cells(path: str | Path) -> list[tuple[str, ...]]:
    """The rows of a table as text, the header included."""
    path = Path(path)
    if path.suffix == ".parquet":
        table = pl.read_parquet(path)
        return [tuple(table.columns), *(tuple(map(str, row)) for row in table.rows())]
    return [
        tuple(line.split("\t" if path.suffix in (".tsv", ".txt") else ",")) for line in path.read_text().splitlines()
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_comes_back_as_it_came_in(kind: str, cli: Command) -> None:
    words = make(kind)
    file = Path(words[0])
    checked = cli("check", *words)
    assert (checked.exit_code, "error" in checked.stderr) == (0, False), checked.stderr
    done = cli("sanitize", *words, *SVD, "--out", "RUN")
    assert done.exit_code == 0, done.stderr
    assert f"RUN/sanitized{file.suffix}" in done.stdout
    before, after = cells(file), cells(f"RUN/sanitized{file.suffix}")
    with open("RUN/removed.csv", newline="") as table:
        removed = list(csv.DictReader(table))
    data = [row for row in before if not row[0].startswith("#")]
    header = 0 if kind in ("no header", "snap") else 1
    gone = [data[header + int(row) - 1] for edge in removed for row in edge["rows"].split(";")]
    assert len(removed) == 5
    for edge, row in zip(
        removed, [data[header + int(edge["rows"].split(";")[0]) - 1] for edge in removed], strict=True
    ):
        assert {name.split()[-1] for name in (edge["u"], edge["v"])} == set(row[:2])
        if "time" in edge:
            assert edge["time"].split(";")[0] == row[data[0].index("date")]
    left = iter(after)
    assert all(row in gone or row == next(left) for row in before)
    assert next(left, None) is None
    run = read_run("RUN")
    assert run.graph.num_edges == run.poisoned.num_edges - 5

    applied = cli("apply", "RUN")
    assert applied.exit_code == 0, applied.stderr
    assert Path(f"RUN/reviewed{file.suffix}").read_bytes() == Path(f"RUN/sanitized{file.suffix}").read_bytes()
    assert cli("report", "RUN", "--truth", *words).exit_code == 0
    assert json.loads(cli("score", "RUN", "--truth", *words, "--json").stdout)["removed"] == 5
    assert cli("review", "RUN", "--export", "verdicts.csv").exit_code == 0


def test_what_was_recognized_is_said_in_one_line(cli: Command) -> None:
    notes = {
        kind: json.loads(cli("check", *make(kind), "--json").stdout)["read"]
        for kind in ("user_id,friend_id", "user,item,rating,date", "accounts")
    }
    assert notes["user_id,friend_id"][0] == "graph.csv: edges from columns user_id, friend_id"
    assert notes["user,item,rating,date"][0] == (
        "graph.csv: edges from columns user, item, two kinds of nodes; weight from rating; time from date; "
        "weights and times are kept in the output, not used to find edges"
    )
    assert "edges were given in both directions" in notes["user_id,friend_id"][1]
    said = next(line for line in notes["accounts"] if "accounts.csv" in line)
    for words in (
        "ids from account_id, classes from is_fraud",
        "only one class is marked (is_fraud 1, 7 nodes): others count as unlabelled",
        "categories: country (3)",
        "missing values, filled in: country (",
        "dates, read as days: joined",
    ):
        assert words in said


def test_a_header_that_could_be_an_edge_is_refused(cli: Command) -> None:
    write("graph.csv", [["a", "b"], ["c", "d"]], ["who", "whom"])
    done = cli("check", "graph.csv")
    assert done.exit_code == 2
    assert "name two of its columns with --source and --target; if it is an edge, add --no-header" in done.stderr
    assert "4 nodes" in cli("check", "graph.csv", "--source", "who", "--target", "whom").stdout
    assert "4 nodes" in cli("check", "graph.csv", "--header").stdout
    assert "6 nodes" in cli("check", "graph.csv", "--no-header").stdout


def test_apply_needs_the_file_or_another_format(cli: Command) -> None:
    words = make("user_id,friend_id")
    assert cli("sanitize", *words, *SVD, "--out", "RUN").exit_code == 0
    os.rename("graph.csv", "elsewhere.csv")
    gone = cli("apply", "RUN")
    assert (gone.exit_code, gone.stderr) == (
        2,
        "error: graph.csv: there is no such file: put back the file that the run was made from, or use --out with a "
        ".npz\n",
    )
    Path("graph.csv").write_text("user_id,friend_id\n1,2\n")
    assert "has changed since the graph was read from it" in cli("apply", "RUN").stderr
    assert not Path("RUN/reviewed.csv").exists()
    assert cli("apply", "RUN", "--out", "reviewed.npz").exit_code == 0
    assert load_graph("reviewed.npz").num_edges == read_run("RUN").graph.num_edges


def test_a_file_that_changes_during_the_run_costs_its_copy_alone(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    words, record = make("user_id,friend_id"), source_record

    def changed_afterwards(options: SanitizeOptions) -> dict[str, object]:
        source = record(options)
        Path("graph.csv").write_text("user_id,friend_id\n1,2\n")
        return source

    monkeypatch.setattr("focusedcleaner.cli.sanitize.source_record", changed_afterwards)
    done = cli("sanitize", *words, *SVD, "--out", "RUN")
    assert done.exit_code == 0
    assert "has changed since the graph was read from it, so there is no cleaned copy of it" in done.stderr
    assert not Path("RUN/sanitized.csv").exists()
    assert "RUN/sanitized.npz" in done.stdout


def test_a_weighted_npz_keeps_its_weights(cli: Command) -> None:
    generator = np.random.default_rng(0)
    dense = np.triu(generator.random((20, 20)) * (generator.random((20, 20)) < 0.5), 1)
    matrix = csr_array(dense)
    np.savez(
        "graph.npz", adj_data=matrix.data, adj_indices=matrix.indices, adj_indptr=matrix.indptr, adj_shape=(20, 20)
    )
    assert cli("sanitize", "graph.npz", *SVD, "--out", "RUN").exit_code == 0
    with np.load("RUN/sanitized.npz") as arrays:
        kept = csr_array((arrays["adj_data"], arrays["adj_indices"], arrays["adj_indptr"]), shape=(20, 20)).toarray()
    assert np.count_nonzero(kept) == np.count_nonzero(dense) - 5
    assert (kept[kept != 0] == dense[kept != 0]).all()
    assert cli("report", "RUN").stderr == ""


def test_restore_appends_its_rows(cli: Command) -> None:
    write("graph.csv", [[*row, 7.5] for row in friends()], ["payer", "payee", "amount"])
    write("graph.nodes.csv", [[node, "ab"[node // 30]] for node in range(60)], ["id", "label"])
    assert cli("sanitize", "graph.csv", *SVD, "--out", "RUN").exit_code == 0
    done = cli("restore", "RUN", "--limit", "3", "--out", "more.csv")
    assert done.exit_code == 0, done.stderr
    kept, more = cells("RUN/sanitized.csv"), cells("more.csv")
    assert more[: len(kept)] == kept
    assert [row[2] for row in more[len(kept) :]] == [""] * 3


def test_a_clean_table_may_lack_the_accounts_that_were_planted(cli: Command, folder: Path) -> None:
    clean = reviews()
    fakes: Rows = [[f"fake{user}", item, 5, "2024-02-01"] for user in range(6) for item in range(1, 7)]
    header = ["user", "item", "stars", "date"]
    write("clean.csv", clean, header)
    write("reviews.csv", clean + fakes, header)
    done = cli("sanitize", "reviews.csv", "--method", "random", "--budget", "5", "--out", "RUN", "--truth", "clean.csv")
    assert done.exit_code == 0, done.stderr
    assert json.loads(cli("score", "RUN", "--truth", "clean.csv", "--json").stdout)["attacked"] == len(fakes)
    component = cli("score", "RUN", "--truth", "clean.csv", "--largest-component")
    assert component.exit_code == 2
    assert "they can't be compared" in component.stderr

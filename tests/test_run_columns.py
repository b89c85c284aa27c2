"""Runs on a graph folder: tables as Parquet, written and read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import load_graph
from focusedcleaner.io.folder_writer import write_folder
from focusedcleaner.run_columns import edge_columns, numbers_of, read_edge_columns, read_split, split_columns
from focusedcleaner.runs import read_run, write_run
from focusedcleaner.sanitizers import sanitizer

NAMES = {
    "none": None,
    "numbers": tuple(5 * node + 3 for node in range(80)),
    "texts": tuple(f"é {node}" for node in range(80)),
}


@pytest.fixture(params=NAMES)
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Graph:
    write_folder(tmp_path / "G", {}, replace(synthetic(80, seed=2), names=NAMES[request.param]))
    return load_graph(tmp_path / "G")


def test_a_run_comes_back(stored: Graph, tmp_path: Path) -> None:
    found = sanitizer("agreement").sanitize(stored, 9)
    found = replace(found, suspects=found.graph.edges[:2], suspect_scores=np.array([0.5, 0.25]), suspect_evidence={})
    write_run(found, tmp_path / "RUN")
    run = read_run(tmp_path / "RUN")
    assert np.array_equal(run.removed, found.removed)
    assert np.array_equal(run.scores, found.scores)
    assert np.array_equal(run.suspects, found.suspects)
    assert run.evidence.keys() == found.evidence.keys()
    for name, column in found.evidence.items():
        assert np.array_equal(run.evidence[name], column) or np.abs(run.evidence[name] - column).max() < 1e-4
        assert column.ndim == 2 or np.array_equal(run.evidence[name], column)
    assert run.graph == found.graph
    assert run.poisoned == stored
    assert not (tmp_path / "RUN" / "removed.csv").exists()


def test_inserted_edges_are_part_of_the_cleaned_graph(stored: Graph, tmp_path: Path) -> None:
    free = np.argwhere(np.triu(1 - stored.adjacency().toarray(), 1))[:2]
    found = replace(sanitizer("random").sanitize(stored, 4), added=free, added_scores=np.ones(2))
    write_run(found, tmp_path / "RUN")
    run = read_run(tmp_path / "RUN")
    assert np.array_equal(run.added, free)
    assert run.graph == found.graph
    assert len(pl.read_parquet(tmp_path / "RUN" / "sanitized.parquet")) == stored.num_edges - 2


def test_a_split_comes_back(stored: Graph, tmp_path: Path) -> None:
    graph = stored.with_split(Split([1, 5], [2], [7, 8, 9]))
    (tmp_path / "split.parquet").write_bytes(split_columns(graph))
    assert read_split(tmp_path / "split.parquet", stored) == graph.split


def test_ids_that_are_not_there(stored: Graph) -> None:
    names = pl.Series([stored.name(7), stored.name(3)])
    assert numbers_of(stored, names).tolist() == [7, 3]
    assert numbers_of(stored, pl.Series(["who", "else"])).tolist() == [-1, -1]
    assert numbers_of(stored, pl.Series([-4, 10**15])).tolist() == [-1, -1]


def _table(graph: Graph, **columns: object) -> bytes:
    frame = {"rank": [1], "u": [graph.name(0)], "v": [graph.name(1)], "score": [0.5], **columns}
    path = Path("t.parquet")
    pl.DataFrame(frame).write_parquet(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"u": ["stranger"]}, "row 1 names a node that the graph does not have"),
        ({"score": [float("nan")]}, "the column 'score' must hold a finite number for each edge"),
        ({"planted": ["likely"]}, "the column 'planted' must hold a finite number"),
        ({"planted": [None]}, "the column 'planted' must hold a finite number"),
    ],
)
def test_tables_that_can_not_be_read(columns: dict[str, object], message: str, stored: Graph, folder: Path) -> None:
    Path("removed.parquet").write_bytes(_table(stored, **columns))
    with pytest.raises(InputError, match=message):
        read_edge_columns(Path("removed.parquet"), stored)


def test_other_columns_and_other_files_are_refused(stored: Graph, folder: Path) -> None:
    pl.DataFrame({"u": [1]}).write_parquet("removed.parquet")
    with pytest.raises(InputError, match="its columns must begin with rank, u, v, score"):
        read_edge_columns(Path("removed.parquet"), stored)
    Path("removed.parquet").write_text("rank,u,v,score")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read_edge_columns(Path("removed.parquet"), stored)


def test_vectors_stay_vectors(stored: Graph, folder: Path) -> None:
    vectors = np.arange(6.0).reshape(2, 3) / 4
    Path("t.parquet").write_bytes(edge_columns(stored, stored.edges[:2], np.zeros(2), {"classes_u": vectors}))
    edges, columns = read_edge_columns(Path("t.parquet"), stored)
    assert np.array_equal(edges, stored.edges[:2])
    assert np.array_equal(columns["classes_u"], vectors)


def test_a_run_of_another_graph_is_refused(stored: Graph, tmp_path: Path) -> None:
    write_run(sanitizer("random").sanitize(stored, 4), tmp_path / "RUN")
    (tmp_path / "RUN" / "split.parquet").unlink()
    other = stored.with_split(Split([0], [1], [2]))
    (tmp_path / "RUN" / "split.parquet").write_bytes(split_columns(other))
    with pytest.raises(InputError, match=r"does not belong to this run: run\.json tells of another graph"):
        read_run(tmp_path / "RUN")

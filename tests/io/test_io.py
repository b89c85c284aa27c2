"""What all formats of graph files have in common, and splits as JSON files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, load_graph, load_split, save_graph, save_split
from tests.io.helpers import split


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_missing_files_and_folders_are_reported(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"absent{suffix}: there is no such file"):
        load_graph(tmp_path / f"absent{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(InputError, match=f"folder{suffix}: is a folder"):
        load_graph(tmp_path / f"folder{suffix}")
    with pytest.raises(InputError, match=f"folder{suffix}: is a folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_folder_is_reported_on_saving(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / "absent" / f"graph{suffix}")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="there is no folder"):
        save_graph(Graph.from_pairs(1, []), tmp_path / "file" / f"graph{suffix}")


@pytest.mark.parametrize("name", ["graph.doc", "graph", "graph.npz.bak"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(name: str, tmp_path: Path) -> None:
    for attempt in (lambda: load_graph(tmp_path / name), lambda: save_graph(Graph.from_pairs(1, []), tmp_path / name)):
        with pytest.raises(InputError, match=r"must end in \.npz, \.csv, .*, \.graphml"):
            attempt()


def test_reading_files_needs_neither_torch_nor_networkx() -> None:
    loaded = "import sys, focusedcleaner.io; print('torch' in sys.modules, 'networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_splits_come_back(tmp_path: Path) -> None:
    given = split([4, 0], [], [2])
    save_split(given, tmp_path / "split.json")
    assert load_split(tmp_path / "split.json", num_nodes=5) == given
    assert json.loads((tmp_path / "split.json").read_text()) == {"idx_train": [0, 4], "idx_val": [], "idx_test": [2]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("idx_train", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1, 2]", "must be a JSON object"),
        ('{"idx_train": [0], "idx_test": [1]}', "lacks the list idx_val"),
        ('{"idx_train": [0.5], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [true], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [[0]], "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": 0, "idx_val": [], "idx_test": [1]}', "idx_train must be a list of whole numbers"),
        (f'{{"idx_train": [{2**70}], "idx_val": [], "idx_test": [1]}}', "idx_train must be a list of whole numbers"),
        ('{"idx_train": [-1], "idx_val": [], "idx_test": [1]}', "node -1: node numbers start at 0"),
        ('{"idx_train": [1], "idx_val": [], "idx_test": [1]}', "names node 1 twice"),
        ('{"idx_train": [0, 0], "idx_val": [], "idx_test": [1]}', "names node 0 twice"),
        ('{"idx_train": [0], "idx_val": [], "idx_test": [5]}', "names node 5, but nodes are numbered 0 to 4"),
    ],
)
def test_invalid_split_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(InputError) as error:
        load_split(tmp_path / "split.json", num_nodes=5)
    assert str(error.value).startswith(f"{tmp_path}/split.json: ")
    assert message in str(error.value)


def test_a_split_that_can_not_be_read_or_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "split.json").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not UTF-8 text"):
        load_split(tmp_path / "split.json")
    with pytest.raises(InputError, match="there is no such file"):
        load_split(tmp_path / "absent.json")
    with pytest.raises(InputError, match="there is no folder"):
        save_split(split([0], [], []), tmp_path / "absent" / "split.json")

"""What all formats of graph files have in common."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, load_graph, save_graph


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


@pytest.mark.parametrize("name", ["graph.txt", "graph", "graph.npz.bak"])
def test_an_unknown_suffix_is_refused_with_the_known_ones(name: str, tmp_path: Path) -> None:
    for attempt in (lambda: load_graph(tmp_path / name), lambda: save_graph(Graph.from_pairs(1, []), tmp_path / name)):
        with pytest.raises(InputError, match=r"must end in \.npz, \.csv, \.graphml"):
            attempt()


def test_reading_files_needs_neither_torch_nor_networkx() -> None:
    loaded = "import sys, focusedcleaner.io; print('torch' in sys.modules, 'networkx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

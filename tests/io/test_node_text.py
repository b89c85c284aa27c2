"""Ids, labels and names as text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.io.convert import to_networkx
from focusedcleaner.io.node_text import parse_labels, parse_split, split_words


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", [(1, 2), 1.5, None, True])
def test_names_that_are_neither_text_nor_number_are_refused(suffix: str, name: object, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names must be text or whole numbers"):
        save_graph(Graph.from_pairs(2, [], names=(name, "b")), tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "about",
    [
        {"names": ("a", "")},
        {"names": ("a", " b")},
        {"names": ("a", "b\nc")},
        {"names": (1, "1")},
        {"class_names": ("",), "labels": [0, 0]},
        {"class_names": ("x", "x"), "labels": [0, 1]},
        {"attributes": np.ones((2, 2)), "attribute_names": ("x", "x")},
        {"attributes": np.ones((2, 1)), "attribute_names": ("label",)},
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".graphml"])
def test_text_that_would_not_be_read_back_is_not_written(suffix: str, about: dict[str, object], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"graph{suffix}: "):
        save_graph(Graph.from_pairs(2, [[0, 1]], **about), tmp_path / f"graph{suffix}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("names", [("x", "x"), ("x", "label")])
def test_attributes_that_names_can_not_tell_apart_are_refused(names: tuple[str, str]) -> None:
    with pytest.raises(InputError, match="told apart"):
        to_networkx(Graph.from_pairs(1, [], attributes=[[1.0, 2.0]], attribute_names=names))


def test_labels_that_can_not_be_class_numbers_are_class_names() -> None:
    labels, class_names = parse_labels(["2019", "", "2008"])
    assert class_names == ("2008", "2019")
    assert labels.tolist() == [1, -1, 0]


def test_a_split_is_written_as_it_is_read() -> None:
    words = ["train", "", "test", "val", "train"]
    graph = Graph(5, [], split=parse_split(words))
    assert split_words(graph) == words
    with pytest.raises(InputError, match="'dev': it must be train, val, test or empty"):
        parse_split(["dev"])

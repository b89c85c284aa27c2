"""PyG's masks become a split; what is missing is drawn, and no test node's label is ever used."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import PARTS, Graph
from focusedcleaner.io.masks import read_masks, with_masks
from tests.io.helpers import relaxed

SIZE = 12
GRAPH = Graph(SIZE, [[node, node + 1] for node in range(SIZE - 1)], labels=[0, 1, 2] * 4)


def completed(graph: Graph = GRAPH, seed: int = 0, **masks: Any) -> tuple[list[list[int]], list[str]]:
    """The three parts and the texts of the warnings."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        found = with_masks(graph, {part: np.array(nodes) for part, nodes in masks.items()}, seed, source="data")
    assert found.split is not None
    return [part.tolist() for part in found.split.parts], [str(warning.message) for warning in raised]


def test_three_masks_are_taken_as_they_are() -> None:
    assert completed(train=[0, 1], val=[2], test=[5]) == ([[0, 1], [2], [5]], [])


def test_without_test_nodes_all_others_are() -> None:
    assert completed(train=[0, 1], val=[2]) == ([[0, 1], [2], list(range(3, SIZE))], [])


def test_validation_nodes_are_those_outside_both_masks() -> None:
    parts, said = completed(train=[0, 1, 2], test=[9, 10, 11])
    assert parts == [[0, 1, 2], [3, 4, 5, 6, 7, 8], [9, 10, 11]]
    assert said == ["data: without val_mask, 6 labelled nodes outside the other masks validate"]


def test_validation_nodes_are_half_of_the_training_nodes_where_no_other_label_is_free() -> None:
    parts, said = completed(train=range(6), test=range(6, SIZE))
    assert sorted(parts[0] + parts[1]) == list(range(6))
    assert [len(part) for part in parts] == [3, 3, 6]
    assert {node % 3 for node in parts[0]} == {0, 1, 2}, "each class has a training node"
    assert said == ["data: without val_mask, half of the training nodes validate"]


def test_with_a_train_mask_alone_no_other_label_is_used() -> None:
    parts, said = completed(train=range(6))
    assert sorted(parts[0] + parts[1]) == list(range(6))
    assert parts[2] == list(range(6, SIZE))
    assert said == [
        "data: without val_mask and test_mask, half of the training nodes validate, and all nodes outside train_mask "
        "count as test nodes, whose labels are not used"
    ]


def test_with_a_test_mask_alone_the_others_train_and_validate() -> None:
    parts, said = completed(test=range(6, SIZE))
    assert [len(part) for part in parts] == [3, 3, 6]
    assert said == [
        "data: without train_mask and val_mask, 6 labelled nodes outside the other mask train and validate, half each"
    ]


def test_training_nodes_are_those_outside_both_masks() -> None:
    parts, said = completed(val=[0], test=[1])
    assert parts == [list(range(2, SIZE)), [0], [1]]
    assert said == ["data: without train_mask, 10 labelled nodes outside the other masks train"]


def test_a_val_mask_alone_says_too_little() -> None:
    with pytest.raises(InputError, match="val_mask but no train_mask"):
        completed(val=[0])


def test_nothing_is_drawn_without_labels_or_masks() -> None:
    bare = Graph(SIZE, GRAPH.edges)
    assert completed(bare, train=[0]) == ([[0], [], []], [])
    assert with_masks(GRAPH, {}, source="data") is GRAPH


@relaxed
@given(data=st.data())
def test_parts_that_were_given_stay_and_no_given_test_node_is_seen(data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.integers(-1, 2), min_size=SIZE, max_size=SIZE))
    graph = Graph(SIZE, GRAPH.edges, labels=labels)
    roles = data.draw(st.lists(st.sampled_from([*PARTS, "none"]), min_size=SIZE, max_size=SIZE))
    given_parts = data.draw(st.sets(st.sampled_from(PARTS), min_size=1))
    masks = {part: [node for node in range(SIZE) if roles[node] == part] for part in given_parts}
    if given_parts == {"val"} and max(labels) >= 0:
        return
    (train, val, test), _ = completed(graph, seed=data.draw(st.integers(0, 3)), **masks)
    hidden = set(masks.get("test", ()))
    assert hidden <= set(test)
    assert not hidden & {*train, *val}
    for part, found in zip(PARTS, (train, val, test), strict=True):
        if part in masks and not (part == "train" and "val" not in masks):
            assert found == masks[part]
    if "train" in masks:
        assert set(masks["train"]) <= {*train, *val}
        assert {labels[node] for node in masks["train"]} == {labels[node] for node in train}
    if "test" not in masks and max(labels) >= 0:
        assert {*train, *val} == {*masks.get("train", ()), *masks.get("val", ())}
    drawn = {*train, *val} - {node for nodes in masks.values() for node in nodes}
    assert all(labels[node] >= 0 for node in drawn)


def test_the_draw_does_not_depend_on_the_numbering() -> None:
    permutation = np.random.default_rng(0).permutation(SIZE)
    numbered = Graph(SIZE, GRAPH.edges, labels=GRAPH.labels, names=[f"n{node}" for node in range(SIZE)])
    other = numbered.subgraph(permutation)
    place = np.argsort(permutation)
    parts, _ = completed(numbered, train=range(6))
    renumbered, _ = completed(other, train=place[:6])
    assert [sorted(permutation[part].tolist()) for part in renumbered] == parts


@pytest.mark.filterwarnings(f"error::{InputWarning.__module__}.InputWarning")
def test_one_of_several_columns() -> None:
    columns = torch.tensor([[True, False], [False, True], [False, False]])
    single = torch.tensor([False, False, True])
    stored = {"train_mask": columns, "test_mask": single}
    assert {part: nodes.tolist() for part, nodes in read_masks(stored, 3, 1).items()} == {"train": [1], "test": [2]}
    for column in (2, -1, True, 0.0, "0"):
        with pytest.raises(InputError, match="train_mask has 2 columns, numbered 0 to 1"):
            read_masks(stored, 3, column)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="choose one of them with split=0"):
        read_masks(stored, 3)
    with pytest.raises(InputError, match="no mask has several columns: leave it out"):
        read_masks({"train_mask": single}, 3, 0)
    assert read_masks({"train_mask": single[:, None]}, 3)["train"].tolist() == [2]
    with pytest.raises(InputError, match="for each of 4 nodes"):
        read_masks(stored, 4, 0)

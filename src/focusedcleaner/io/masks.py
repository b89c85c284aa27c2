"""PyG's masks as a split: one of several columns, and what is drawn where a mask is missing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.formatting import count
from focusedcleaner.graph import PARTS, UNKNOWN, Graph, IntArray, Split
from focusedcleaner.io.pyg_edges import to_numpy


def read_masks(stored: Mapping[str, Any], num_nodes: int, column: int | None = None) -> dict[str, IntArray]:
    """The nodes of each mask that is present, by "train", "val" and "test".

    Args:
        stored: the tensors by name.
        num_nodes: N.
        column: of masks with several columns (N × K), the one to use.
    """
    masks = {part: stored[f"{part}_mask"] for part in PARTS if stored.get(f"{part}_mask") is not None}
    found = {part: _selected(part, to_numpy(mask), num_nodes, column) for part, mask in masks.items()}
    if column is not None and not any(mask.ndim == 2 for mask in masks.values()):
        raise InputError(f"split={column} chooses a column of masks, but no mask has several columns: leave it out")
    return found


def _selected(part: str, mask: Any, num_nodes: int, column: int | None) -> IntArray:
    if mask.ndim == 2 and mask.shape[1] > 1:
        columns = mask.shape[1]
        if column is None:
            raise InputError(f"{part}_mask has {columns} columns, one for each split: choose one of them with split=0")
        if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < columns:
            raise InputError(f"split={column}: {part}_mask has {columns} columns, numbered 0 to {columns - 1}")
        mask = mask[:, column]
    elif mask.ndim == 2:
        mask = mask[:, 0]
    if mask.dtype != np.bool_ or mask.shape != (num_nodes,):
        raise InputError(f"{part}_mask must be true or false for each of {num_nodes} nodes")
    return np.flatnonzero(mask)


def with_masks(graph: Graph, masks: Mapping[str, IntArray], seed: int = 0, *, source: str) -> Graph:
    """The graph with the split of the masks; what is missing is drawn, and an `InputWarning` says how.

    The label of a node is used only if no test node can be meant: without a `test_mask`, all nodes outside the other
    masks count as test nodes. Missing validation nodes are the labelled nodes outside both other masks or, where there
    are none, half of the training nodes, class by class.

    Args:
        graph: without a split; one without labels gets nothing drawn.
        masks: the nodes of each mask that is present.
        seed: of the draw.
        source: what the warning names.
    """
    if not masks:
        return graph
    given = set(masks)
    split = Split(*(masks.get(part, ()) for part in PARTS))
    if given == set(PARTS) or not len(graph.known_labels):
        return graph.with_split(split)
    if given == {"val"}:
        raise InputError("it has a val_mask but no train_mask: say which nodes are for training")
    graph, (train, val, test) = graph.with_split(split), split.parts
    assert graph.labels is not None
    if "test" not in given:
        test = np.setdiff1d(np.arange(graph.num_nodes), np.concatenate([train, val]))
    free = np.setdiff1d(np.flatnonzero(graph.labels != UNKNOWN), np.concatenate([train, val, test]))
    free_nodes = f"{count(len(free), 'labelled node')} outside the other {'mask' if len(given) == 1 else 'masks'}"
    said = ""
    if given == {"test"}:
        (train, val), said = _halves(graph, free, seed), f"{free_nodes} train and validate, half each"
    elif given == {"val", "test"}:
        train, said = free, f"{free_nodes} train"
    elif "val" not in given and len(free):
        val, said = free, f"{free_nodes} validate"
    elif "val" not in given:
        (train, val), said = _halves(graph, train, seed), "half of the training nodes validate"
        if "test" not in given:
            said += ", and all nodes outside train_mask count as test nodes, whose labels are not used"
    if said:
        missing = " and ".join(f"{part}_mask" for part in PARTS if part not in given)
        warnings.warn(f"{source}: without {missing}, {said}", InputWarning, stacklevel=2)
    return graph.with_split(Split(train, val, test))


def _halves(graph: Graph, nodes: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Two halves of labelled nodes, class by class; the first has the odd one. The numbering does not matter."""
    assert graph.labels is not None
    order = graph.canonical_order.nodes
    shuffled = np.random.default_rng(seed).permutation(order[np.isin(order, nodes)])
    labels = graph.labels[shuffled]
    rank = np.empty(len(shuffled), dtype=np.int64)
    for number in np.unique(labels):
        rank[labels == number] = np.arange((labels == number).sum())
    return shuffled[rank % 2 == 0], shuffled[rank % 2 == 1]

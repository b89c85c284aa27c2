"""Splits as JSON files with the lists `idx_train`, `idx_val` and `idx_test`."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

import numpy as np

from focusedcleaner.errors import InputError
from focusedcleaner.graph import PARTS, Split, check_range
from focusedcleaner.io.disk import prefix_errors, read_text, write_files


def load_split(path: str | PathLike[str], *, num_nodes: int | None = None) -> Split:
    """Read a split.

    Args:
        path: the JSON file.
        num_nodes: N, if known; larger node numbers are then refused in an error that names the file.
    """
    with prefix_errors(path):
        text = read_text(Path(path))
        try:
            lists = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("is not JSON") from None
        if not isinstance(lists, dict):
            raise InputError("must be a JSON object with idx_train, idx_val and idx_test")
        split = Split(*(_node_list(lists, f"idx_{part}") for part in PARTS))
        if num_nodes is not None:
            check_range(np.concatenate(split.parts), num_nodes, "the split")
        return split


def _node_list(lists: dict[str, object], name: str) -> list[int]:
    nodes = lists.get(name)
    if nodes is None:
        raise InputError(f"lacks the list {name}")
    if not isinstance(nodes, list) or not all(type(node) is int and abs(node) < 2**63 for node in nodes):
        raise InputError(f"{name} must be a list of whole numbers")
    return nodes


def save_split(split: Split, path: str | PathLike[str]) -> None:
    """Write a split."""
    lists = {f"idx_{part}": getattr(split, part).tolist() for part in PARTS}
    write_files({Path(path): f"{json.dumps(lists)}\n".encode()})

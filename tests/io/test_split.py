"""Splits as JSON files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io import load_split, save_split
from tests.io.helpers import split


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

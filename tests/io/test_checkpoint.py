"""A checkpoint bound to one configuration."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.io import checkpoint
from focusedcleaner.io.checkpoint import Checkpoint


def test_what_is_saved_is_loaded_by_the_same_run(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    assert Checkpoint(path, seed=1).load() == {}
    Checkpoint(path, seed=1, budget="10%").save({"removed": np.array([[0, 1]]), "round": 3})
    arrays = Checkpoint(path, budget="10%", seed=1).load()
    assert arrays["removed"].tolist() == [[0, 1]]
    assert int(arrays["round"]) == 3
    assert set(arrays) == {"removed", "round"}


def test_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.npz"
    Checkpoint(path, seed=1).save({})
    with pytest.raises(InputError, match="belongs to another graph, method, budget or seed"):
        Checkpoint(path, seed=2).load()


def test_without_a_path_nothing_is_saved_or_due(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(checkpoint, "SAVE_EVERY", -1.0)
    nowhere = Checkpoint(None, seed=1)
    nowhere.save({"round": 1})
    assert nowhere.load() == {}
    assert not nowhere.due
    assert Checkpoint(tmp_path / "checkpoint.npz", seed=1).due

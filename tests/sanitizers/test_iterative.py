"""Sanitizers that work in rounds: interruption and resumption."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusedcleaner.detectors import ClassDiv
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import FocusedCleaner, Interrupted, sanitizer
from tests.sanitizers.helpers import QUICK

FAST = ClassDiv(first_epochs=5, epochs=1)
IN_ROUNDS = ("cld", "lp", "focused-none", "gasoline", "gasoline-d", "linkpred", "maskgvae")


@pytest.mark.parametrize("name", IN_ROUNDS)
def test_a_resumed_run_gives_the_same_result(name: str, poisoned: Graph, tmp_path: Any) -> None:
    per_round = {"rounds": 4} if name == "maskgvae" else {"edges_per_round": 5}
    cleaner = sanitizer(name, **{**QUICK.get(name, {}), **per_round})
    whole = cleaner.sanitize(poisoned, 20, seed=3)

    def interrupt(done: int, total: int, stage: str = "") -> None:
        if done == 10:
            raise KeyboardInterrupt

    file = tmp_path / "checkpoint.npz"
    with pytest.raises(Interrupted) as stop:
        cleaner.sanitize(poisoned, 20, seed=3, progress=interrupt, checkpoint=file)
    partial = stop.value.sanitation
    assert len(partial.removed) + len(partial.added) == 10
    for part in ("removed", "scores", "added"):
        column = getattr(partial, part)
        assert np.array_equal(column, getattr(whole, part)[: len(column)]), part
    rounds: list[int] = []
    resumed = cleaner.sanitize(
        poisoned, 20, seed=3, progress=lambda done, _, stage="": rounds.append(done), checkpoint=file
    )
    assert rounds == [15, 20]
    for part in ("removed", "scores", "added", "added_scores"):
        assert np.array_equal(getattr(resumed, part), getattr(whole, part)), part
    for name_of, column in whole.evidence.items():
        assert np.array_equal(column, resumed.evidence[name_of]), name_of
    for name_of, column in whole.trace.items():
        assert np.array_equal(column, resumed.trace[name_of], equal_nan=True), name_of


def test_a_checkpoint_of_another_run_is_refused(poisoned: Graph, tmp_path: Path) -> None:
    file = tmp_path / "checkpoint.npz"

    def interrupt(done: int, total: int, stage: str = "") -> None:
        raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        FocusedCleaner(FAST).sanitize(poisoned, 20, progress=interrupt, checkpoint=file)
    with pytest.raises(InputError, match="another graph, method, budget or seed"):
        FocusedCleaner(FAST, eta=0.0).sanitize(poisoned, 20, checkpoint=file)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(InputError, match="npz file, or a damaged one"):
        FocusedCleaner(FAST).sanitize(poisoned, 20, checkpoint=file)

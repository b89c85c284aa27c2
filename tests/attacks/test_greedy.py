"""Greedy attacks resume after an interruption."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from focusedcleaner.attacks import Interrupted, Mettack, Nettack, Regularized
from focusedcleaner.attacks.base import GreedyAttack
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.surrogate import Unrolled


@pytest.mark.parametrize(
    "method",
    [Mettack(inner=Unrolled()), Mettack(inner=Regularized()), Nettack(targets=(3, 7, 50))],
    ids=["unrolled", "implicit", "nettack"],
)
def test_an_interrupted_attack_resumes(tmp_path: Path, method: GreedyAttack) -> None:
    graph = synthetic(100, seed=1)
    whole = method.poison(graph, 12).flips

    def stop(done: int, budget: int, stage: str = "") -> None:
        if done == 5:
            raise KeyboardInterrupt

    path = tmp_path / "flips.npz"
    with pytest.raises(Interrupted) as caught:
        method.poison(graph, 12, progress=stop, checkpoint=path)
    np.testing.assert_array_equal(caught.value.poisoning.flips, whole[:5])  # type: ignore[index]
    np.testing.assert_array_equal(method.poison(graph, 12, checkpoint=path).flips, whole)
    with pytest.raises(InputError, match="belongs to another graph, method, budget or seed"):
        method.poison(graph, 12, seed=3, checkpoint=path)
    path.write_bytes(b"nothing")
    with pytest.raises(InputError, match="npz file, or a damaged one"):
        method.poison(graph, 12, checkpoint=path)

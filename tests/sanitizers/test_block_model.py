"""The block-model filter."""

from __future__ import annotations

from dataclasses import replace

import pytest

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.sanitizers import BlockModel, sanitizer
from focusedcleaner.scoring import score


def test_the_score_is_the_ratio_without_the_weighted_cosine() -> None:
    graph = synthetic(num_nodes=200, seed=0)
    result = BlockModel(cosine_weight=2).sanitize(graph, 20)
    evidence = result.evidence
    assert result.scores == pytest.approx(evidence["planted_ratio"] - 2 * evidence["low_rank_cosine"])


def test_it_finds_more_than_other_methods_without_attributes() -> None:
    clean = replace(synthetic(num_nodes=400, num_classes=3, mean_degree=20, homophily=0.9, seed=4), attributes=None)
    poisoned = attack("dice").poison(clean, 0.1).graph
    esr = {
        name: score(sanitizer(name).sanitize(poisoned, 0.1).removed, poisoned=poisoned, clean=clean).esr
        for name in ("block-model", "agreement", "svd", "random")
    }
    assert max(esr, key=lambda name: esr[name]) == "block-model"

"""Around hubs, products are formed in another order or block by block: the results are the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from focusedcleaner.edge_features.pair_features import PairFeatures
from focusedcleaner.engine import Attributes, Structure, sparse
from focusedcleaner.graph import FloatArray, Graph
from tests.hostile.odd_graphs import star

PAIRS = np.random.default_rng(0).integers(1, 200, (50, 2))


def two_hop_rows(graph: Graph) -> FloatArray:
    rows: torch.Tensor = Attributes(graph).two_hop_rows(Structure(graph), np.arange(0, 200, 3))
    return rows.numpy()


def pair_features(graph: Graph) -> FloatArray:
    return np.stack(list(PairFeatures(graph).columns(graph, PAIRS).values()))


@pytest.mark.parametrize("attributes", [True, False])
@pytest.mark.parametrize("compute", [two_hop_rows, pair_features])
def test_products_around_a_hub(
    compute: Callable[[Graph], FloatArray], attributes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = star(200) if attributes else replace(star(200), attributes=None)
    expected = compute(graph)
    monkeypatch.setattr(sparse, "_BATCH_ENTRIES", 3_000)
    np.testing.assert_allclose(compute(graph), expected, atol=1e-6)

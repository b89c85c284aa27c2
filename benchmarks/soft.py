"""Accuracy of a PyG GCN on Pro-GNN's poisoned Cora: as it is, without the removed edges, and with soft weights.

python -m benchmarks.soft      needs FOCUSEDCLEANER_DATA; prints the table of docs/api.md
"""

from __future__ import annotations

import copy
import sys
import warnings
from typing import Any

import numpy as np
import torch

import focusedcleaner as fc
from benchmarks.common import published
from focusedcleaner.io.convert import to_pyg

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # torch's, raised while torch_geometric is imported
    from torch_geometric.nn import GCNConv

SEEDS = range(3)


class GCN(torch.nn.Module):
    """Two layers, which take edge weights."""

    def __init__(self, columns: int, classes: int) -> None:
        super().__init__()
        self.first, self.second = GCNConv(columns, 16), GCNConv(16, classes)

    def forward(self, data: Any) -> torch.Tensor:
        weight = data.get("edge_weight")
        hidden = torch.relu(self.first(data.x, data.edge_index, weight))
        hidden = torch.nn.functional.dropout(hidden, 0.5, self.training)
        logits: torch.Tensor = self.second(hidden, data.edge_index, weight)
        return logits


def accuracy(data: Any, seed: int) -> float:
    """Train 200 epochs and return the accuracy on the test nodes of the state with the best validation accuracy."""
    torch.manual_seed(seed)
    model = GCN(data.x.shape[1], int(data.y.max()) + 1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    best, state = -1.0, None
    for _ in range(200):
        model.train()
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data)[data.train_mask], data.y[data.train_mask]).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            right = model(data).argmax(1) == data.y
        if (validation := float(right[data.val_mask].double().mean())) > best:
            best, state = validation, copy.deepcopy(model.state_dict())
    assert state is not None
    model.load_state_dict(state)
    model.eval()
    with torch.no_grad():
        right = model(data).argmax(1) == data.y
    return float(right[data.test_mask].double().mean())


def main() -> None:
    """Print a row per power: means over the seeds of the sanitizer and of the training."""
    torch.set_num_threads(1)
    sys.stdout.write("| Cora, METTACK | poisoned | edges removed | soft weights |\n| --- | --- | --- | --- |\n")
    for power in (0.1, 0.25):
        poisoned = to_pyg(published("cora", power)[1])
        figures: list[list[float]] = [[], [], []]
        for seed in SEEDS:
            result = fc.sanitize(poisoned, "self-attack", seed=seed)
            for data, found in zip((poisoned, result.data, result.softened().data), figures, strict=True):
                found.append(accuracy(data, seed))
        cells = " | ".join(f"{100 * np.mean(found):.1f} ± {100 * np.std(found):.1f}" for found in figures)
        sys.stdout.write(f"| {power:.0%} | {cells} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

"""A two-layer network whose weights and optimizer state are values, handed from step to step.

Its inputs and outputs have a *column* per node and single precision: with few rows and many columns a matrix product is
several times faster than the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from focusedcleaner.detectors.base import Memory

WEIGHTS = ("w1", "b1", "w2", "b2")


def fresh(
    inputs: int, hidden: int, outputs: int, *, seed: int, device: torch.device | str = "cpu"
) -> dict[str, Tensor]:
    """Weights of inputs → hidden → outputs, uniform in ±1/√fan-in as torch draws a linear layer's."""
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, columns: int, fan_in: int) -> Tensor:
        return ((2 * torch.rand(rows, columns, generator=generator) - 1) / math.sqrt(fan_in)).to(device)

    return {
        "w1": draw(hidden, inputs, inputs),
        "b1": draw(hidden, 1, inputs),
        "w2": draw(outputs, hidden, hidden),
        "b2": draw(outputs, 1, hidden),
    }


def apply(inputs: Tensor, weights: Memory) -> Tensor:
    """w₂·ReLU(w₁·M + b₁) + b₂ for inputs M with a column per node."""
    hidden = torch.relu(torch.addmm(weights["b1"], weights["w1"], inputs))
    return torch.addmm(weights["b2"], weights["w2"], hidden)


def train(memory: Memory, loss: Callable[[Memory], Tensor], *, epochs: int, rate: float) -> dict[str, Tensor]:
    """Adam for some epochs, from the weights and moments in ``memory``; the new ones, ``memory`` unchanged."""
    if epochs == 0:
        return dict(memory)
    weights = {key: memory[key].clone().requires_grad_() for key in WEIGHTS}
    optimizer = torch.optim.Adam(weights.values(), lr=rate, fused=True)
    for key, weight in weights.items():
        if f"{key}.mean" in memory:
            optimizer.state[weight] = {
                "step": memory["epochs"].clone(),
                "exp_avg": memory[f"{key}.mean"].clone(),
                "exp_avg_sq": memory[f"{key}.square"].clone(),
            }
    for _ in range(epochs):
        optimizer.zero_grad()
        loss(weights).backward()
        optimizer.step()
    learnt = {key: weight.detach() for key, weight in weights.items()}
    for key, weight in weights.items():
        state = optimizer.state[weight]
        learnt |= {f"{key}.mean": state["exp_avg"], f"{key}.square": state["exp_avg_sq"], "epochs": state["step"]}
    return learnt

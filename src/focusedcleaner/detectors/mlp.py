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


def train(
    memory: Memory, inputs: Tensor, slope: Callable[[Tensor], Tensor], *, epochs: int, rate: float
) -> dict[str, Tensor]:
    """Adam for some epochs, from the weights and moments in ``memory``; the new ones, ``memory`` unchanged.

    Args:
        memory: of an earlier training, or fresh weights.
        inputs: M, a column per node.
        slope: ∂loss/∂outputs of the outputs, both with a column per node.
        epochs: steps of Adam.
        rate: Adam's.
    """
    if epochs == 0:
        return dict(memory)
    w1, b1, w2, b2 = weights = [memory[key].clone() for key in WEIGHTS]
    optimizer = torch.optim.Adam(weights, lr=rate, fused=True)
    for key, weight in zip(WEIGHTS, weights, strict=True):
        if f"{key}.mean" in memory:
            optimizer.state[weight] = {
                "step": memory["epochs"].clone(),
                "exp_avg": memory[f"{key}.mean"].clone(),
                "exp_avg_sq": memory[f"{key}.square"].clone(),
            }
    hidden = inputs.new_empty(len(w1), inputs.shape[1])
    back = torch.empty_like(hidden)
    for _ in range(epochs):
        torch.addmm(b1, w1, inputs, out=hidden).relu_()
        signal = slope(torch.addmm(b2, w2, hidden))
        w2.grad, b2.grad = signal @ hidden.T, signal.sum(1, keepdim=True)
        torch.mm(w2.T, signal, out=back).mul_(hidden.sign_())  # ReLU passes on what is above 0
        w1.grad, b1.grad = (inputs @ back.T).T.contiguous(), back.sum(1, keepdim=True)
        optimizer.step()
    learnt = dict(zip(WEIGHTS, weights, strict=True))
    for key, weight in zip(WEIGHTS, weights, strict=True):
        state = optimizer.state[weight]
        learnt |= {f"{key}.mean": state["exp_avg"], f"{key}.square": state["exp_avg_sq"], "epochs": state["step"]}
    return learnt

"""A two-layer network whose weights and Adam state are plain values, passed from step to step.

Inputs and outputs have a *column* per node and single precision: with few rows and many columns a matrix product is
several times faster than the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from focusedcleaner.detectors.base import Memory

WEIGHTS = ("w1", "b1", "w2", "b2")


def initial_weights(inputs: int, hidden: int, outputs: int, *, seed: int) -> dict[str, Tensor]:
    """Draw weights of inputs → hidden → outputs, uniform in ±1/√fan-in as in `torch.nn.Linear`."""
    generator = torch.Generator().manual_seed(seed)

    def draw(rows: int, columns: int, fan_in: int) -> Tensor:
        return (2 * torch.rand(rows, columns, generator=generator) - 1) / math.sqrt(fan_in)

    return {
        "w1": draw(hidden, inputs, inputs),
        "b1": draw(hidden, 1, inputs),
        "w2": draw(outputs, hidden, hidden),
        "b2": draw(outputs, 1, hidden),
    }


def apply(inputs: Tensor, weights: Memory) -> Tensor:
    """Return w₂·ReLU(w₁·M + b₁) + b₂ for inputs M with a column per node (Eq. 12a–b and 15)."""
    hidden = torch.relu(torch.addmm(weights["b1"], weights["w1"], inputs))
    return torch.addmm(weights["b2"], weights["w2"], hidden)


def train(
    memory: Memory, inputs: Tensor, gradient: Callable[[Tensor], Tensor], *, epochs: int, rate: float
) -> dict[str, Tensor]:
    """Run Adam from initial weights or an earlier ``memory``, and return the new weights and moments.

    ``gradient`` maps outputs to ∂loss/∂outputs, both with a column per node. ``memory`` is not changed.
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
    to_hidden = torch.empty_like(hidden)
    for _ in range(epochs):
        torch.addmm(b1, w1, inputs, out=hidden).relu_()
        to_outputs = gradient(torch.addmm(b2, w2, hidden))
        w2.grad, b2.grad = to_outputs @ hidden.T, to_outputs.sum(1, keepdim=True)
        torch.mm(w2.T, to_outputs, out=to_hidden).mul_(hidden.sign_())  # the derivative of ReLU
        w1.grad, b1.grad = (inputs @ to_hidden.T).T.contiguous(), to_hidden.sum(1, keepdim=True)
        optimizer.step()
    state = dict(zip(WEIGHTS, weights, strict=True))
    for key, weight in zip(WEIGHTS, weights, strict=True):
        adam = optimizer.state[weight]
        state |= {f"{key}.mean": adam["exp_avg"], f"{key}.square": adam["exp_avg_sq"], "epochs": adam["step"]}
    return state

"""A two-layer network whose weights and Adam state are plain values, passed from step to step.

Inputs and outputs have a *column* per node and single precision: with few rows and many columns a matrix product is
several times faster than the other way round.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

from focusedcleaner.detectors.base import Memory
from focusedcleaner.engine.parallel import map_parts, summed

WEIGHTS = ("w1", "b1", "w2", "b2")
_ADAM: dict[str, Any] = {
    "amsgrad": False,
    "beta1": 0.9,
    "beta2": 0.999,
    "weight_decay": 0.0,
    "eps": 1e-8,
    "maximize": False,
    "fused": True,
}
"""Adam's defaults."""


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
    memory: Memory,
    inputs: Sequence[Tensor],
    gradient: Callable[[list[Tensor]], list[Tensor]],
    *,
    epochs: int,
    rate: float,
) -> dict[str, Tensor]:
    """Run Adam from initial weights or an earlier ``memory``, and return the new weights and moments.

    The inputs may come in parts, which are computed in threads. ``gradient`` maps outputs to ∂loss/∂outputs, both in
    the same parts and with a column per node. ``memory`` is not changed.
    """
    if epochs == 0:
        return dict(memory)
    weights = [memory[key].clone() for key in WEIGHTS]
    begun = "epochs" in memory
    means, squares = (
        [memory[f"{key}.{moment}"].clone() if begun else torch.zeros_like(memory[key]) for key in WEIGHTS]
        for moment in ("mean", "square")
    )
    steps = [memory["epochs"].clone() if begun else torch.tensor(0.0) for _ in WEIGHTS]
    parts = [_Part(part, len(weights[0])) for part in inputs]
    for _ in range(epochs):
        to_outputs = gradient(map_parts(_forward, parts, weights))
        by_part = map_parts(_backward, [*zip(parts, to_outputs, strict=True)], weights[2])
        gradients = [summed([*sums]) for sums in zip(*by_part, strict=True)]
        # The function, not the class: the latter imports torch's compiler, which takes seconds.
        adam(weights, gradients, means, squares, [], steps, lr=rate, **_ADAM)
    state = dict(zip(WEIGHTS, weights, strict=True))
    for key, mean, square in zip(WEIGHTS, means, squares, strict=True):
        state |= {f"{key}.mean": mean, f"{key}.square": square, "epochs": steps[0]}
    return state


class _Part:
    """Some of the inputs, and room for what is computed of them."""

    def __init__(self, inputs: Tensor, width: int) -> None:
        self.inputs, self.hidden = inputs, inputs.new_empty(width, inputs.shape[1])
        self.to_hidden = torch.empty_like(self.hidden)


def _forward(part: _Part, weights: list[Tensor]) -> Tensor:
    w1, b1, w2, b2 = weights
    torch.addmm(b1, w1, part.inputs, out=part.hidden).relu_()
    return torch.addmm(b2, w2, part.hidden)


def _backward(pair: tuple[_Part, Tensor], w2: Tensor) -> list[Tensor]:
    """Return the gradients of `WEIGHTS`."""
    part, to_outputs = pair
    to_w2, to_b2 = to_outputs @ part.hidden.T, to_outputs.sum(1, keepdim=True)
    torch.mm(w2.T, to_outputs, out=part.to_hidden).mul_(part.hidden.sign_())  # the derivative of ReLU
    to_w1 = (part.inputs @ part.to_hidden.T).T.contiguous()
    return [to_w1, part.to_hidden.sum(1, keepdim=True), to_w2, to_b2]

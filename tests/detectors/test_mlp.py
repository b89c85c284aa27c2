"""The network without autograd against autograd."""

from __future__ import annotations

import torch
from torch import Tensor

from focusedcleaner.detectors import mlp


def test_the_network_trains_as_autograd_and_adam_would() -> None:
    generator = torch.Generator().manual_seed(0)
    inputs, target = torch.rand(4, 30, generator=generator), torch.rand(3, 30, generator=generator)
    start = mlp.initial_weights(4, 7, 3, seed=1)

    def gradient(outputs: list[Tensor]) -> list[Tensor]:
        return [2 * (part - wanted) for part, wanted in zip(outputs, target.split(13, 1), strict=True)]

    first = mlp.train(start, inputs.split(13, 1), gradient, epochs=4, rate=0.05)
    ours = mlp.train(first, inputs.split(13, 1), gradient, epochs=3, rate=0.05)
    weights = {key: start[key].clone().requires_grad_() for key in mlp.WEIGHTS}
    optimizer = torch.optim.Adam(weights.values(), lr=0.05)
    for _ in range(7):
        optimizer.zero_grad()
        (mlp.apply(inputs, weights) - target).square().sum().backward()
        optimizer.step()
    for key, weight in weights.items():
        torch.testing.assert_close(ours[key], weight.detach(), rtol=1e-4, atol=1e-5)

"""Values come out of packing as they went in: the same numbers, types and strides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.engine import packing
from focusedcleaner.engine.blocks import EdgeWeights
from focusedcleaner.engine.packing import pack, unpack

pytest.importorskip("ray", reason="the extra ray is not installed")


def there_and_back(value: Any) -> Any:
    packed = pack(value)
    return unpack(packed.data, packed.arrays)


@settings(deadline=None)
@given(
    shape=st.lists(st.integers(0, 5), max_size=3),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.int32, torch.int64, torch.bool]),
    large=st.integers(0, 100),
    data=st.data(),
)
def test_tensors_keep_numbers_types_and_strides(
    shape: list[int], dtype: torch.dtype, large: int, data: st.DataObject
) -> None:
    tensor = torch.arange(int(np.prod(shape))).reshape(shape).to(dtype)
    if shape:
        tensor = tensor.permute(*data.draw(st.permutations(range(len(shape)))))
        tensor = tensor[data.draw(st.integers(0, 2)) :: data.draw(st.integers(1, 2))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "LARGE", large)
        copy = there_and_back({"tensor": tensor})["tensor"]
    assert copy.dtype == tensor.dtype
    assert copy.stride() == tensor.stride()
    assert torch.equal(copy, tensor)


def test_large_arrays_travel_beside_the_value_and_only_once() -> None:
    matrix = torch.rand(200, 100)
    weights = EdgeWeights(torch.rand(20_000))
    array = np.arange(10_000)
    packed = pack([matrix, matrix, weights, array, (matrix, "text")])
    assert len(packed.data) < 1000
    assert len(packed.arrays) == 3
    assert packed.weights == {1: weights}
    first, second, same_weights, same_array, (third, text) = unpack(packed.data, packed.arrays)
    assert all(torch.equal(copy, matrix) for copy in (first, second, third))
    assert (same_weights.key, text) == (weights.key, "text")
    assert torch.equal(same_weights.values, weights.values)
    assert (same_array == array).all()
    assert np.shares_memory(same_array, array)


def test_known_values_are_replaced_by_their_names() -> None:
    known = {1: object()}
    packed = pack([known[1], 2], lambda value: 1 if value is known[1] else None)
    assert unpack(packed.data, packed.arrays, known.__getitem__) == [known[1], 2]


def test_functions_of_a_script_can_be_sent() -> None:
    factor = 3
    assert there_and_back(lambda value: factor * value)(5) == 15

"""Values as bytes and arrays beside them, for another process: large arrays are neither pickled nor copied.

Tensors come back with the same strides, so that products of them take the same way and have the same digits.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from focusedcleaner.engine.blocks import EdgeWeights

LARGE = 2**15
"""Bytes from which an array travels beside the pickled value."""

Name = Callable[[Any], Any]
"""Returns a name under which the receiver knows a value, or None."""


class Packed:
    """A pickled value, the large arrays in it, and the weights among these, by their place."""

    def __init__(self) -> None:
        self.data = b""
        self.arrays: list[NDArray[Any]] = []
        self.weights: dict[int, EdgeWeights] = {}
        self._places: dict[int, int] = {}

    def place(self, owner: Any, array: NDArray[Any]) -> int | NDArray[Any]:
        """Where an array travels: its number beside the value, or itself if it is small."""
        if array.nbytes < LARGE:
            return array
        if id(owner) not in self._places:
            self._places[id(owner)] = len(self.arrays)
            self.arrays.append(array)
        return self._places[id(owner)]


def pack(value: Any, name: Name | None = None) -> Packed:
    """Pickle a value; what ``name`` has a name for is replaced by that name."""
    packed, buffer = Packed(), io.BytesIO()
    _pickler_class()(buffer, packed, name).dump(value)
    packed.data = buffer.getvalue()
    return packed


def unpack(data: bytes, arrays: Sequence[NDArray[Any]], named: Name | None = None) -> Any:
    """Make the value again; its large arrays are the given ones, not copies."""
    return _Unpickler(data, arrays, named).load()


@cache
def _pickler_class() -> Any:
    from ray import cloudpickle  # pickles functions of a script or a notebook, too

    class Pickler(cloudpickle.Pickler):
        def __init__(self, file: io.BytesIO, packed: Packed, name: Name | None) -> None:
            super().__init__(file, protocol=5)
            self._packed, self._name = packed, name

        def persistent_id(self, value: Any) -> Any:
            if self._name is not None and (name := self._name(value)) is not None:
                return "name", name
            return _beside(self._packed, value)

    return Pickler


def _beside(packed: Packed, value: Any) -> Any:
    """What stands for tensors, weights and large arrays; None for anything else."""
    if isinstance(value, EdgeWeights):
        place = packed.place(value, value.values.numpy())
        if isinstance(place, int):
            packed.weights[place] = value
        return "weights", value.key, place
    if type(value) is Tensor and value.layout is torch.strided and not value.requires_grad:
        return "tensor", packed.place(value, _span(value)), tuple(value.shape), value.stride()
    if type(value) is np.ndarray and value.nbytes >= LARGE and value.flags.c_contiguous and not value.dtype.hasobject:
        return "array", packed.place(value, value)
    return None


def _span(tensor: Tensor) -> NDArray[Any]:
    """All of the memory from a tensor's first value to its last one, as one row."""
    if not tensor.numel():
        return np.empty(0, dtype=tensor.numpy().dtype)
    length = 1 + sum((size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True))
    array: NDArray[Any] = tensor.as_strided((length,), (1,)).numpy()
    return array


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, arrays: Sequence[NDArray[Any]], named: Name | None) -> None:
        super().__init__(io.BytesIO(data))
        self._arrays, self._named = arrays, named

    def persistent_load(self, name: Any) -> Any:
        kind, *rest = name
        if kind == "name":
            assert self._named is not None
            return self._named(rest[0])
        if kind == "weights":
            return EdgeWeights(torch.from_numpy(self._array(rest[1])), rest[0])
        if kind == "tensor":
            return torch.from_numpy(self._array(rest[0])).as_strided(rest[1], rest[2])
        return self._array(rest[0])

    def _array(self, place: int | NDArray[Any]) -> NDArray[Any]:
        return self._arrays[place] if isinstance(place, int) else place

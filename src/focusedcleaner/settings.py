"""Settings as data: of a method to JSON, and from ``key=value`` to a method."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def as_json(thing: Any) -> Any:
    """The fields of a dataclass as JSON values; a nested dataclass is a dict with its kind.

    >>> from focusedcleaner.surrogate import Implicit
    >>> as_json(Implicit(weight_decay=0.1, tolerance=0.01))
    {'kind': 'Implicit', 'weight_decay': 0.1, 'tolerance': 0.01}
    """
    if is_dataclass(thing) and not isinstance(thing, type):
        values = {part.name: as_json(getattr(thing, part.name)) for part in fields(thing)}
        return {"kind": type(thing).__name__, **values}
    if isinstance(thing, list | tuple):
        return [as_json(part) for part in thing]
    return thing

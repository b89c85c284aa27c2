"""Settings as data: of a method to JSON, and from ``key=value`` to a method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from focusedcleaner.errors import InputError

T = TypeVar("T")

_PLAIN = (bool, int, float, str)
_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_IN_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def as_json(thing: Any) -> Any:
    """The fields of a dataclass as JSON values; a nested dataclass is a dict with its kind.

    >>> from focusedcleaner.surrogate import Implicit
    >>> as_json(Implicit(weight_decay=0.1, tolerance=0.01))
    {'kind': 'Implicit', 'weight_decay': 0.1, 'tolerance': 0.01}
    """
    if is_dataclass(thing) and not isinstance(thing, type):
        values = {part.name: as_json(getattr(thing, part.name)) for part in fields(thing) if part.init}
        return {"kind": type(thing).__name__, **values}
    if isinstance(thing, list | tuple):
        return [as_json(part) for part in thing]
    return thing


class Configurable:
    """A dataclass whose fields are its settings."""

    def settings(self) -> dict[str, Any]:
        """Every setting as JSON values, with the class name under ``kind``."""
        return dict(as_json(self))

    def __post_init__(self) -> None:
        """Check the `bounded` settings."""
        for part in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value, interval = getattr(self, part.name), part.metadata.get("interval")
            if interval is not None and value is not None and not _lies_in(value, interval):
                low, high = interval[1:-1].split(", ")
                limit = f"above {low}" if interval[0] == "(" else f"{low} or above"
                expected = f"be {limit}" if high == "inf" else f"lie in {interval}"
                raise InputError(f"{part.name} must {expected}, not {value:g}")


def bounded(default: T, interval: str) -> T:
    """Declare a setting with a default and an interval of valid values, checked when a `Configurable` is built.

    >>> from focusedcleaner.classifiers import GCN
    >>> GCN(dropout=1.0)
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: dropout must lie in [0, 1), not 1
    """
    setting: T = field(default=default, metadata={"interval": interval})
    return setting


def _lies_in(value: float, interval: str) -> bool:
    low, high = (float(end) for end in interval[1:-1].split(", "))
    excluded = {"(": low, ")": high}
    return low <= value <= high and value not in (excluded.get(interval[0]), excluded.get(interval[-1]))


@dataclass(frozen=True)
class Setting:
    """One field that a user may set: its plain type, and whether it may be none."""

    name: str
    kind: type
    optional: bool = False

    def read(self, given: object) -> Any:
        """The value meant by what a user gave, which may be text from the command line.

        >>> Setting("tau", float).read("0.7"), Setting("edges_per_round", int, optional=True).read("none")
        (0.7, None)
        >>> Setting("tau", float).read("high")
        Traceback (most recent call last):
        focusedcleaner.errors.InputError: tau must be a number, not 'high'
        """
        text = given.strip().lower() if isinstance(given, str) else None
        if given is None or (self.optional and text == "none"):
            if self.optional:
                return None
            raise self._wrong(given)
        if self.kind is bool:
            value: object = given if text is None else _BOOLEANS.get(text, given)
        elif text is not None and self.kind is not str:
            value = self._number(text)
        else:
            value = given
        return self._checked(value, given)

    def _number(self, text: str) -> float | int | None:
        try:
            return int(text) if self.kind is int else float(text)
        except ValueError:
            return None

    def _checked(self, value: object, given: object) -> Any:
        if self.kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            raise self._wrong(given)
        if isinstance(value, float) and not math.isfinite(value):
            raise self._wrong(given)
        return value

    def _wrong(self, given: object) -> InputError:
        what = _IN_WORDS[self.kind] + (" or none" if self.optional else "")
        return InputError(f"{self.name} must be {what}, not {given!r}")


def settings_of(kind: type) -> dict[str, Setting]:
    """The fields of a dataclass that have a plain type, by name; none for any other class.

    >>> from focusedcleaner.surrogate import Implicit
    >>> list(settings_of(Implicit))
    ['weight_decay', 'tolerance']
    """
    if not is_dataclass(kind):
        return {}
    hints = get_type_hints(kind)
    found = (_setting(part.name, hints[part.name]) for part in fields(kind) if part.init)
    return {setting.name: setting for setting in found if setting is not None}


def _setting(name: str, hint: Any) -> Setting | None:
    """What can be set of a field: nothing where it holds more than one plain value."""
    options = list(get_args(hint)) if get_origin(hint) in (Union, UnionType) else [hint]
    optional = NoneType in options
    kinds = [option for option in options if option is not NoneType]
    if len(kinds) != 1 or kinds[0] not in _PLAIN:
        return None
    return Setting(name, kinds[0], optional)


def parse_pairs(pairs: list[str]) -> Mapping[str, str]:
    """Read ``key=value`` texts.

    >>> parse_pairs(["tau=0.7", "inner = unrolled"])
    {'tau': '0.7', 'inner': 'unrolled'}
    """
    found: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not sign or not key:
            raise InputError(f"a setting is written key=value, not {pair!r}")
        if key in found:
            raise InputError(f"the setting {key} is given twice")
        found[key] = value.strip()
    return found

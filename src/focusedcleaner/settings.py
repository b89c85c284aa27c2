"""Settings of methods: to JSON, and from ``key=value`` text."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from focusedcleaner.errors import InputError

T = TypeVar("T")

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
LARGEST = 10_000_000
"""Largest whole number of a setting: trees, rounds and columns beyond it need more time or memory than there is."""

_TYPE_NAMES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def as_json(value: Any) -> Any:
    """Convert to JSON values; a dataclass becomes a dict of its fields with its class name under ``kind``.

    >>> from focusedcleaner.surrogate import Implicit
    >>> as_json(Implicit(weight_decay=0.1, tolerance=0.01))
    {'kind': 'Implicit', 'weight_decay': 0.1, 'tolerance': 0.01}
    """
    if is_dataclass(value) and not isinstance(value, type):
        values = {part.name: as_json(getattr(value, part.name)) for part in fields(value) if part.init}
        return {"kind": type(value).__name__, **values}
    if isinstance(value, list | tuple):
        return [as_json(part) for part in value]
    return value


class Configurable:
    """A dataclass whose fields are its settings."""

    def settings(self) -> dict[str, Any]:
        """Every setting as JSON values, with the class name under ``kind``."""
        return dict(as_json(self))

    def __post_init__(self) -> None:
        """Check the `bounded` settings."""
        for part in fields(self):  # type: ignore[arg-type]  # subclasses are dataclasses
            value, interval = getattr(self, part.name), part.metadata.get("interval")
            if value is None or interval is None:
                continue
            low, high = interval[1:-1].split(", ")
            above = value > float(low) if interval[0] == "(" else value >= float(low)
            below = value < float(high) if interval[-1] == ")" else value <= float(high)
            if not (above and below):
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
    return field(default=default, metadata={"interval": interval})


@dataclass(frozen=True)
class Setting:
    """A field that a user may set: its name, its type, whether it may be None, the texts and the range it is limited
    to."""

    name: str
    kind: type
    optional: bool = False
    choices: tuple[str, ...] = ()
    interval: str = ""

    @property
    def allowed(self) -> str:
        """The values that may be set, in words; empty for any text.

        >>> Setting("tau", float, interval="[0, 1)").allowed, Setting("trees", int, True, interval="[1, inf)").allowed
        ('0 to below 1', '1 or above, or none')
        >>> Setting("purpose", str, choices=("model", "evidence")).allowed
        'model or evidence'
        """
        if self.interval:
            words = _range_in_words(self.interval)
        else:
            words = " or ".join(self.choices) or ("" if self.kind is str else _TYPE_NAMES[self.kind])
        return f"{words}, or none" if words and self.optional else words

    def read(self, given: object) -> Any:
        """Convert a value, or text from the command line, to the setting's type.

        >>> Setting("tau", float).read("0.7"), Setting("edges_per_round", int, optional=True).read("none")
        (0.7, None)
        >>> Setting("tau", float).read("high")
        Traceback (most recent call last):
        focusedcleaner.errors.InputError: tau must be a number, not 'high'
        """
        value = self._parse(given) if isinstance(given, str) else given
        if value is None and self.optional:
            return None
        if self.kind is float and type(value) is int:
            value = float(value)
        wrong_type = not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool)
        if wrong_type or (isinstance(value, float) and not math.isfinite(value)):
            expected = _TYPE_NAMES[self.kind] + (" or none" if self.optional else "")
            raise InputError(f"{self.name} must be {expected}, not {given!r:.80}")
        if self.choices and value not in self.choices:
            raise InputError(f"{self.name} must be {' or '.join(self.choices)}, not {given!r:.80}")
        if isinstance(value, int) and value > LARGEST:
            raise InputError(f"{self.name} must be at most {LARGEST:,}, not {given!s:.80}")
        return value

    def _parse(self, given: str) -> object:
        """The value that the text stands for, or the text itself."""
        text = given.strip().lower()
        if self.optional and text == "none":
            return None
        if self.kind is bool:
            return _BOOLEANS.get(text, given)
        try:
            return self.kind(text) if self.kind in (int, float) else text if text in self.choices else given
        except ValueError:
            return given


def _range_in_words(interval: str) -> str:
    low, high = (f"{float(end):,.12g}" for end in interval[1:-1].split(", "))
    least = f"above {low}" if interval[0] == "(" else low
    if high == "inf":
        return least if interval[0] == "(" else f"{low} or above"
    return f"{least} to {'below ' if interval[-1] == ')' else ''}{high}"


def settings_of(kind: type) -> dict[str, Setting]:
    """The fields of a dataclass that hold one plain value or one of several texts, by name; none for any other class.

    >>> from focusedcleaner.surrogate import Implicit
    >>> list(settings_of(Implicit))
    ['weight_decay', 'tolerance']
    """
    if not is_dataclass(kind):
        return {}
    hints, settings = get_type_hints(kind), {}
    for part in (part for part in fields(kind) if part.init):
        name, interval = part.name, part.metadata.get("interval", "")
        options = get_args(hints[name]) if get_origin(hints[name]) in (Union, UnionType) else (hints[name],)
        kinds = [option for option in options if option is not NoneType]
        if len(kinds) == 1 and kinds[0] in _TYPE_NAMES:
            settings[name] = Setting(name, kinds[0], optional=NoneType in options, interval=interval)
        elif len(kinds) == 1 and get_origin(kinds[0]) is Literal:
            settings[name] = Setting(name, str, NoneType in options, choices=get_args(kinds[0]))
    return settings


def parse_pairs(pairs: list[str]) -> Mapping[str, str]:
    """Parse texts ``key=value``.

    >>> parse_pairs(["tau=0.7", "inner = unrolled"])
    {'tau': '0.7', 'inner': 'unrolled'}
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not sign or not key:
            raise InputError(f"a setting is written key=value, not {pair!r:.80}")
        if key in settings:
            raise InputError(f"the setting {key} is given twice")
        settings[key] = value.strip()
    return settings

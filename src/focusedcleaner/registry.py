"""Methods under their names: what there is, what each can be told, and how to make one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from focusedcleaner.errors import InputError
from focusedcleaner.settings import Setting, settings_of

T = TypeVar("T")


@dataclass(frozen=True)
class Method(Generic[T]):
    """A method that can be made by name.

    Its settings are the plain fields of its class and, under the same names, those of the parts it is made of; a part's
    field whose name is taken already goes by ``part_field``.

    Args:
        name: what it is called.
        kind: its class.
        parts: for a field that holds an object, the classes to choose from, by name. The first is the default; where
            there are others, the field itself is a setting too.
        about: one line; the first of the class's docstring where it is left out.
    """

    name: str
    kind: type[T]
    parts: Mapping[str, Mapping[str, type]] = field(default_factory=dict)
    about: str = ""

    @property
    def summary(self) -> str:
        """One line for people."""
        return self.about or (self.kind.__doc__ or "").strip().partition("\n")[0].rstrip(".:")

    def settings(self, chosen: Mapping[str, type] | None = None) -> dict[str, tuple[str, Setting]]:
        """What can be set: by its name, the part that it belongs to ("" for the method itself) and its type.

        Args:
            chosen: the classes of the parts; the default ones where it is left out.
        """
        known = {name: ("", setting) for name, setting in settings_of(self.kind).items() if name not in self.parts}
        for part, kinds in self.parts.items():
            kind = next(iter(kinds.values())) if chosen is None else chosen[part]
            for name, setting in settings_of(kind).items():
                known[f"{part}_{name}" if name in known else name] = part, setting
        return known

    def names(self) -> tuple[str, ...]:
        """The names of all settings, with the default parts."""
        return tuple(self.settings()) + self._choices()

    def _choices(self) -> tuple[str, ...]:
        return tuple(part for part, kinds in self.parts.items() if len(kinds) > 1)

    def make(self, given: Mapping[str, object]) -> T:
        """Build one with these settings; text is read as the setting's type."""
        rest = dict(given)
        ready, chosen = self._chosen_parts(rest)
        known = self.settings(chosen)
        values: dict[str, dict[str, Any]] = {"": {}, **{part: {} for part in chosen}}
        for name, value in rest.items():
            if name not in known:
                listed = ", ".join((*known, *self._choices())) or "none"
                raise InputError(f"{self.name} has no setting {name!r}; its settings are {listed}")
            part, setting = known[name]
            if part in ready:
                raise InputError(f"{name} is set in the {part} that is given already")
            values[part][setting.name] = setting.read(value)
        made = {part: ready[part] if part in ready else kind(**values[part]) for part, kind in chosen.items()}
        return self.kind(**values[""], **made)

    def _chosen_parts(self, rest: dict[str, object]) -> tuple[dict[str, object], dict[str, type]]:
        """Take the choice of parts out of the settings: parts that are ready, and the class of each part."""
        ready: dict[str, object] = {}
        chosen: dict[str, type] = {}
        for part, kinds in self.parts.items():
            choice = rest.pop(part) if part in self._choices() and part in rest else next(iter(kinds))
            if type(choice) in kinds.values():
                ready[part], chosen[part] = choice, type(choice)
            elif isinstance(choice, str) and choice.strip().lower() in kinds:
                chosen[part] = kinds[choice.strip().lower()]
            else:
                raise InputError(f"{part} must be one of {', '.join(kinds)}, not {choice!r}")
        return ready, chosen


class Registry(Generic[T]):
    """All methods of a kind.

    >>> from focusedcleaner.sanitizers import SANITIZERS
    >>> SANITIZERS.make("cld", tau=0.7).detector.tau
    0.7
    """

    def __init__(self, what: str, *methods: Method[T]) -> None:
        self.what = what
        self._methods = {method.name: method for method in methods}

    def __iter__(self) -> Iterator[Method[T]]:
        return iter(self._methods.values())

    def names(self) -> tuple[str, ...]:
        """The names, in the order of registration."""
        return tuple(self._methods)

    def __getitem__(self, name: str) -> Method[T]:
        if name not in self._methods:
            raise InputError(f"there is no {self.what} {name!r}; there are {', '.join(self._methods)}")
        return self._methods[name]

    def make(self, name: str, **settings: object) -> T:
        """Build the method of that name with these settings."""
        return self[name].make(settings)

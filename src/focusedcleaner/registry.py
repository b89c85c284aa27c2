"""Methods by name, and the protocols that a plug-in implements.

Each kind of method has one registry. The package with the built-in methods fills it on import, and the registry
imports that package on first use. A method can therefore look up a method of a higher layer by name. The modules that
installed packages declare as plug-ins come after it.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from typing import Any, Generic, Protocol, TypeVar

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import FloatArray, Graph
from focusedcleaner.settings import Setting, settings_of

T = TypeVar("T")

PLUGINS = "focusedcleaner.plugins"
"""The group of entry points by which an installed package names modules that register methods and data sets."""
_loaded_plugins: set[str] = set()


class EdgeScorer(Protocol):
    """A trained detector of planted edges, which an adaptive attacker queries."""

    def __call__(self, graph: Graph, /) -> FloatArray:
        """Score each edge of a graph: E values between 0 (genuine) and 1 (planted)."""
        ...


class Progress(Protocol):
    """Whoever asks a long computation how far it is."""

    def __call__(self, done: int, total: int, stage: str = "", /) -> None:
        """Report ``done`` of ``total`` steps, and what is being done: "round 2 of 4: random, PGD"."""
        ...


@dataclass(frozen=True)
class Method(Generic[T]):
    """A method that can be built by name.

    Its settings are the plain fields of its class and of its parts, such as the detector. A part's field whose name is
    already taken is called ``part_field``.

    Args:
        name: the method's name.
        kind: its class.
        parts: for each field that holds an object, the possible classes by name. The first is the default; if there
            are several, the field itself is a setting.
        about: a one-line description; by default the first line of the class's docstring.
        variants: the classes that the setting ``variant`` chooses from, by name; the first is `kind` itself.
    """

    name: str
    kind: type[T]
    parts: Mapping[str, Mapping[str, type]] = field(default_factory=dict)
    about: str = ""
    variants: Mapping[str, type[T]] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """The one-line description."""
        return self.about or (self.kind.__doc__ or "").strip().partition("\n")[0].rstrip(".:")

    def settings(self, chosen: Mapping[str, type] | None = None) -> dict[str, tuple[str, Setting]]:
        """The settings by name, each with its part ("" for the method itself), for the chosen classes of the parts."""
        settings = {name: ("", setting) for name, setting in settings_of(self.kind).items() if name not in self.parts}
        for part, kinds in self.parts.items():
            kind = next(iter(kinds.values())) if chosen is None else chosen[part]
            for name, setting in settings_of(kind).items():
                settings[f"{part}_{name}" if name in settings else name] = part, setting
        return settings

    def names(self, chosen: Mapping[str, type] | None = None) -> tuple[str, ...]:
        """The names of all settings, those of the chosen or default parts included."""
        variant = ("variant",) if self.variants else ()
        return (*self.settings(chosen), *(part for part, kinds in self.parts.items() if len(kinds) > 1), *variant)

    def make(self, given: Mapping[str, object]) -> T:
        """Build the method with these settings; text is parsed as the setting's type."""
        rest = dict(given)
        if self.variants and "variant" in rest:
            return self._variant(rest.pop("variant")).make(rest)
        parts, chosen = self._chosen_parts(rest)
        settings = self.settings(chosen)
        values: dict[str, dict[str, Any]] = {"": {}, **{part: {} for part in chosen}}
        for name, value in rest.items():
            if name not in settings:
                listed = ", ".join(self.names(chosen)) or "none"
                raise InputError(f"{self.name} has no setting {name!r}; its settings are {listed}")
            part, setting = settings[name]
            if part in parts:
                raise InputError(f"{name} is already set in the {part} that was passed")
            values[part][setting.name] = setting.read(value)
        parts |= {part: kind(**values[part]) for part, kind in chosen.items() if part not in parts}
        return self.kind(**values[""], **parts)

    def _variant(self, name: object) -> Method[T]:
        """The method with the class of this variant."""
        if name not in self.variants:
            raise InputError(f"variant must be {' or '.join(self.variants)}, not {name!r:.80}")
        return replace(self, kind=self.variants[str(name)], variants={})

    def _chosen_parts(self, rest: dict[str, object]) -> tuple[dict[str, object], dict[str, type]]:
        """Take the parts out of the settings: those passed as objects, and the class of each part."""
        passed: dict[str, object] = {}
        chosen: dict[str, type] = {}
        for part, kinds in self.parts.items():
            choice = rest.pop(part) if len(kinds) > 1 and part in rest else next(iter(kinds))
            if type(choice) in kinds.values():
                passed[part], chosen[part] = choice, type(choice)
            elif isinstance(choice, str) and choice.strip().lower() in kinds:
                chosen[part] = kinds[choice.strip().lower()]
            else:
                raise InputError(f"{part} must be one of {', '.join(kinds)}, not {choice!r}")
        return passed, chosen


def load_plugins() -> None:
    """Import the modules that installed packages declare in the group `PLUGINS`, each once.

    A module that fails is left out, with a warning: a broken plug-in does not take the built-in methods along.
    """
    for entry in _declared_plugins(tuple(sys.path)):
        if entry.value in _loaded_plugins:
            continue
        _loaded_plugins.add(entry.value)
        try:
            entry.load()
        except Exception as error:  # noqa: BLE001  # a plug-in may raise anything
            why = f"{type(error).__name__}: {error}".splitlines()[0]
            warnings.warn(f"the plug-in {entry.name} ({entry.value}) is left out: {why}", InputWarning, stacklevel=2)


@cache
def _declared_plugins(path: tuple[str, ...]) -> EntryPoints:
    """The plug-ins of the packages on this ``sys.path``: every look-up of a name would look again."""
    del path
    return entry_points(group=PLUGINS)


class Registry(Generic[T]):
    """All methods of one kind.

    Args:
        what: the word for a method of this kind in messages.
        home: the package that registers the built-in methods.

    >>> from focusedcleaner.registry import SANITIZERS
    >>> SANITIZERS.make("cld", tau=0.7).detector.tau
    0.7
    """

    def __init__(self, what: str, home: str) -> None:
        self.what, self.home = what, home
        self._methods: dict[str, Method[T]] = {}

    def register(self, *methods: Method[T]) -> None:
        """Add methods; names are unique."""
        for method in methods:
            if method.name in self._methods:
                raise InputError(f"there is already a {self.what} {method.name!r}")
            self._methods[method.name] = method

    def _loaded(self) -> dict[str, Method[T]]:
        import_module(self.home)
        load_plugins()
        return self._methods

    def __iter__(self) -> Iterator[Method[T]]:
        return iter(self._loaded().values())

    def names(self) -> tuple[str, ...]:
        """The names, in the order of registration."""
        return tuple(self._loaded())

    def __getitem__(self, name: str) -> Method[T]:
        methods = self._loaded()
        if name not in methods:
            raise InputError(f"there is no {self.what} {name!r}; there are {', '.join(methods)}")
        return methods[name]

    def make(self, name: str, /, **settings: object) -> T:
        """Build the method of that name with these settings."""
        return self[name].make(settings)


SANITIZERS: Registry[Any] = Registry("method", "focusedcleaner.sanitizers")
ATTACKS: Registry[Any] = Registry("attack", "focusedcleaner.attacks")
CLASSIFIERS: Registry[Any] = Registry("classifier", "focusedcleaner.classifiers")

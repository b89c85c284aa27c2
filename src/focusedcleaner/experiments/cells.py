"""What is computed: values that determine a computation completely, each with a key."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from focusedcleaner.attacks import ATTACKS
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.registry import Registry
from focusedcleaner.sanitizers import SANITIZERS

Plain = bool | int | float | str | None
Settings = tuple[tuple[str, Plain], ...]

EDITIONS: dict[str, int] = {"median": 2}
"""By a method's name, the edition of its algorithm where it is not 1: raised by hand when its results change."""

LARGEST_POWER = 0.25
"""An attack that flips one pair after the other runs once to here; every smaller power is its beginning."""
EDGE_BLIND = ("mlp",)
"""Classifiers that no edge can change: one cell serves all poison of a source."""
KEY_LENGTH = 24


@dataclass(frozen=True)
class Source:
    """A clean graph with a split: "authors" and "prognn" are published ones, "random 3" is drawn with seed 3."""

    data: str
    split: str = "authors"

    def document(self) -> dict[str, Any]:
        return {"data": self.data, "split": self.split}

    @property
    def label(self) -> str:
        return self.data if self.split == "authors" else f"{self.data}, split {self.split}"


class Cell(ABC):
    """A value whose key says everything that its results depend on."""

    kind: ClassVar[str]

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """All that determines the results, in values that JSON knows, methods with all their settings."""

    @property
    @abstractmethod
    def label(self) -> str:
        """The cell in a few words."""

    @property
    @abstractmethod
    def source(self) -> Source:
        """The clean graph behind it."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Whose time it takes."""

    def inputs(self) -> tuple[Cell, ...]:
        """The cells whose arrays it needs."""
        return ()

    @cached_property
    def text(self) -> str:
        """The document as canonical JSON."""
        return json.dumps({"kind": self.kind, **self.document()}, sort_keys=True, separators=(",", ":"))

    @cached_property
    def key(self) -> str:
        """The beginning of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:KEY_LENGTH]


@dataclass(frozen=True)
class Statistics(Cell):
    """The sizes of a data set."""

    kind: ClassVar[str] = "statistics"
    of: Source

    def document(self) -> dict[str, Any]:
        return {"source": self.of.document()}

    @property
    def label(self) -> str:
        return self.of.label

    @property
    def source(self) -> Source:
        return self.of

    @property
    def method(self) -> str:
        return "statistics"


@dataclass(frozen=True)
class Poison(Cell):
    """A poisoned graph; "none" leaves it clean and "published" is Pro-GNN's file, which are both not computed.

    Args:
        origin: the clean graph.
        attack: its name.
        power: flips as a share of the clean graph's edges; Nettack's: flips at each target.
        settings: of the attack, where they are not the defaults.
        seed: of the attack.
    """

    kind: ClassVar[str] = "poison"
    origin: Source
    attack: str = "none"
    power: float = 0.0
    settings: Settings = ()
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "power", _number(self.power))
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    @property
    def computed(self) -> bool:
        return self.attack not in ("none", "published")

    @property
    def run(self) -> Poison:
        """The cell that is computed: for an attack in order, the one run that holds all powers.

        Nettack runs for each power: where a target's turn passes without a flip, the first flips of five rounds are not
        those of four.
        """
        ordered = self.computed and self.attack != "nettack" and ATTACKS[self.attack].kind.ordered
        return replace(self, power=max(self.power, LARGEST_POWER)) if ordered else self

    def document(self) -> dict[str, Any]:
        known: dict[str, Any] = {"source": self.origin.document(), "attack": self.attack}
        if self.attack == "none":
            return known
        if self.computed:
            known |= {**_method(ATTACKS, self.attack, self.settings), "seed": self.seed}
        return {**known, "power": self.power}

    @property
    def label(self) -> str:
        power = f"{self.power:g} flips" if self.attack == "nettack" else f"{self.power:.0%}"
        return f"{self.origin.label}, " + ("clean" if self.attack == "none" else f"{_named(self, self.attack)} {power}")

    @property
    def source(self) -> Source:
        return self.origin

    @property
    def method(self) -> str:
        return self.attack


@dataclass(frozen=True)
class Sanitation(Cell):
    """A graph cleaned by a sanitizer."""

    kind: ClassVar[str] = "sanitation"
    poison: Poison
    sanitizer: str
    budget: float = 0.1
    settings: Settings = ()
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "budget", _number(self.budget))
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    def inputs(self) -> tuple[Cell, ...]:
        return (self.poison.run,) if self.poison.computed else ()

    def document(self) -> dict[str, Any]:
        return {
            "poison": self.poison.document(),
            "sanitizer": self.sanitizer,
            **_method(SANITIZERS, self.sanitizer, self.settings),
            "budget": self.budget,
            "seed": self.seed,
        }

    @property
    def label(self) -> str:
        return f"{self.poison.label} | {_named(self, self.sanitizer)} {self.budget:.0%} seed {self.seed}"

    @property
    def source(self) -> Source:
        return self.poison.origin

    @property
    def method(self) -> str:
        return self.sanitizer


@dataclass(frozen=True)
class Pruning(Cell):
    """A graph cleaned by someone who knows the truth and may err on purpose.

    Args:
        poison: what is pruned.
        share: edges removed, as a share of the planted ones.
        hits: the share of the removed edges that are planted; the others are drawn from the rest.
        seed: of the order; a larger share removes what a smaller one does and more.
    """

    kind: ClassVar[str] = "pruning"
    poison: Poison
    share: float = 1.0
    hits: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "share", _number(self.share))
        object.__setattr__(self, "hits", _number(self.hits))

    def inputs(self) -> tuple[Cell, ...]:
        return (self.poison.run,) if self.poison.computed else ()

    def document(self) -> dict[str, Any]:
        return {"poison": self.poison.document(), "share": self.share, "hits": self.hits, "seed": self.seed}

    @property
    def label(self) -> str:
        return f"{self.poison.label} | pruned {self.share:.0%}, of these planted {self.hits:.0%} seed {self.seed}"

    @property
    def source(self) -> Source:
        return self.poison.origin

    @property
    def method(self) -> str:
        return "pruning"


@dataclass(frozen=True)
class Accuracy(Cell):
    """How many test nodes, or targets of the attack, a classifier gets right."""

    kind: ClassVar[str] = "accuracy"
    graph: Poison | Sanitation | Pruning
    classifier: str
    settings: Settings = ()
    seed: int = 0
    nodes: str = "test"

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))
        if self.classifier in EDGE_BLIND and self.nodes == "test":
            object.__setattr__(self, "graph", Poison(self.graph.source))

    def inputs(self) -> tuple[Cell, ...]:
        if isinstance(self.graph, Poison):
            return (self.graph.run,) if self.graph.computed else ()
        return (self.graph, *self.graph.inputs())

    def document(self) -> dict[str, Any]:
        return {
            "graph": {"kind": self.graph.kind, **self.graph.document()},
            "classifier": self.classifier,
            **_method(CLASSIFIERS, self.classifier, self.settings),
            "seed": self.seed,
            "nodes": self.nodes,
        }

    @property
    def label(self) -> str:
        where = "" if self.nodes == "test" else f" on {self.nodes}"
        return f"{self.graph.label} | {_named(self, self.classifier)}{where} seed {self.seed}"

    @property
    def source(self) -> Source:
        return self.graph.source

    @property
    def method(self) -> str:
        return self.classifier


def _number(value: float) -> float:
    """0.1 + 0.2 and 0.3 are one value."""
    return round(float(value), 10)


def _named(cell: Poison | Sanitation | Accuracy, name: str) -> str:
    given = " ".join(f"{key}={value}" for key, value in cell.settings)
    return f"{name} ({given})" if given else name


@lru_cache(maxsize=4096)
def _method(registry: Registry[Any], name: str, settings: Settings) -> dict[str, Any]:
    """A method's settings, all of them, and its edition."""
    return {"settings": registry.make(name, **dict(settings)).settings(), "edition": EDITIONS.get(name, 1)}

"""Cells: values that determine a computation completely, each with a key, and the results of a cell."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from numpy.typing import NDArray

from focusedcleaner.attacks import ATTACKS
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.errors import InputError
from focusedcleaner.registry import Registry
from focusedcleaner.sanitizers import SANITIZERS

Settings = tuple[tuple[str, bool | int | float | str | None], ...]
Values = Mapping[str, float | int | None]
Arrays = Mapping[str, NDArray[Any]]
Fields = Mapping[str, Any]

EDITIONS: dict[str, int] = {"median": 2}
"""Edition of a method's algorithm where it is not 1; raise it by hand when the method's results change."""
LARGEST_POWER = 0.25
"""Attacks that flip one pair after another run once up to this power; smaller powers are prefixes of that run."""
EDGE_BLIND = ("mlp",)
"""Classifiers that ignore edges: one cell serves all poisoned graphs of a source."""
SYNTHETIC = "synthetic-"
"""Prefix of generated data sets: ``synthetic-300`` has 300 nodes and needs no file."""
SIZES = ("nodes", "edges", "classes", "attributes", "homophily")
SCORES = ("esr", "f1", "cr", "oracle_esr", "planted", "removed", "removed_share")
MEASURES = (*SIZES, *SCORES, "accuracy")
FIELDS = {
    *("data", "split", "attack", "attack_settings", "power", "flips", "sanitizer", "settings", "budget"),
    *("sanitizer_seeds", "classifier", "classifier_settings", "nodes", "prune", "prune_seeds", "measure", "seeds"),
}
"""The fields that an experiment file may set."""


@dataclass(frozen=True)
class CellResult:
    """The outcome of a cell: numbers for the tables, computing time, arrays that other cells need, or an error."""

    values: Values
    seconds: float = 0.0
    arrays: Arrays = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True)
class Source:
    """A clean graph with a split: "authors" and "prognn" are published, "random 3" is drawn with seed 3."""

    data: str
    split: str = "authors"

    @property
    def label(self) -> str:
        return self.data if self.split == "authors" else f"{self.data}, split {self.split}"


@dataclass(frozen=True)
class _Keyed(ABC):
    """Base of all cells."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        """Normalize numbers and settings, so that equal computations have equal keys."""
        for part in fields(self):
            value = getattr(self, part.name)
            if part.type == "float":
                object.__setattr__(self, part.name, round(float(value), 10))
            elif part.type == "Settings":
                object.__setattr__(self, part.name, tuple(sorted(value)))

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """Everything that determines the results, as JSON values; methods with all their settings."""

    def inputs(self) -> tuple[Cell, ...]:
        """The cells whose arrays this cell needs."""
        return ()

    @cached_property
    def text(self) -> str:
        """The document as canonical JSON."""
        return json.dumps({"kind": self.kind, **self.document()}, sort_keys=True, separators=(",", ":"))

    @cached_property
    def key(self) -> str:
        """The beginning of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:24]


@dataclass(frozen=True)
class Statistics(_Keyed):
    """The sizes of a data set."""

    kind: ClassVar[str] = "statistics"
    method: ClassVar[str] = "statistics"
    seed: ClassVar[int] = 0
    source: Source

    @property
    def poison(self) -> Poison:
        return Poison(self.source)

    def document(self) -> dict[str, Any]:
        return {"source": asdict(self.source)}

    @property
    def label(self) -> str:
        return self.source.label


@dataclass(frozen=True)
class Poison(_Keyed):
    """A poisoned graph. "none" is the clean graph and "published" is Pro-GNN's file; neither is computed.

    Args:
        source: the clean graph.
        method: name of the attack.
        power: flips as a share of the clean graph's edges; for Nettack, flips per target.
        settings: the attack's non-default settings.
        seed: the attack's seed.
    """

    kind: ClassVar[str] = "poison"
    source: Source
    method: str = "none"
    power: float = 0.0
    settings: Settings = ()
    seed: int = 0

    @property
    def poison(self) -> Poison:
        return self

    @property
    def computed(self) -> bool:
        return self.method not in ("none", "published")

    @property
    def full_run(self) -> Poison:
        """The cell that is computed: for an attack that flips pairs in order, the one run that contains all powers.

        Nettack runs once per power: if a target's turn passes without a flip, the first flips of five rounds are not
        those of four.
        """
        ordered = self.computed and self.method != "nettack" and ATTACKS[self.method].kind.ordered
        return replace(self, power=max(self.power, LARGEST_POWER)) if ordered else self

    def document(self) -> dict[str, Any]:
        known: dict[str, Any] = {"source": asdict(self.source), "attack": self.method}
        if self.computed:
            known |= {**_settings_and_edition(ATTACKS, self.method, self.settings), "seed": self.seed}
        return known if self.method == "none" else {**known, "power": self.power}

    @property
    def label(self) -> str:
        if self.method == "none":
            return f"{self.source.label}, clean"
        power = f"{self.power:g} flips" if self.method == "nettack" else f"{self.power:.0%}"
        return f"{self.source.label}, {_method_label(self)} {power}"


@dataclass(frozen=True)
class _OnGraph(_Keyed):
    """A cell that works on the graph of another cell."""

    graph: Poison | Sanitation | Pruning

    @property
    def source(self) -> Source:
        return self.graph.source

    @property
    def poison(self) -> Poison:
        return self.graph.poison

    def inputs(self) -> tuple[Cell, ...]:
        if isinstance(self.graph, Poison):
            return (self.graph.full_run,) if self.graph.computed else ()
        return (self.graph, *self.graph.inputs())


@dataclass(frozen=True)
class Sanitation(_OnGraph):
    """A poisoned graph cleaned by a sanitizer."""

    kind: ClassVar[str] = "sanitation"
    method: str
    budget: float = 0.1
    settings: Settings = ()
    seed: int = 0

    def document(self) -> dict[str, Any]:
        method = _settings_and_edition(SANITIZERS, self.method, self.settings)
        about = {"poison": self.graph.document(), "sanitizer": self.method, **method}
        return {**about, "budget": self.budget, "seed": self.seed}

    @property
    def label(self) -> str:
        return f"{self.graph.label} | {_method_label(self)} {self.budget:.0%} seed {self.seed}"


@dataclass(frozen=True)
class Pruning(_OnGraph):
    """A poisoned graph cleaned with knowledge of the planted edges, at a chosen precision.

    Args:
        graph: the poisoned graph.
        share: number of removed edges as a share of the planted ones.
        hits: share of the removed edges that are planted; the others are drawn from the clean edges.
        seed: seed of the order; a larger share removes a superset.
    """

    kind: ClassVar[str] = "pruning"
    method: ClassVar[str] = "pruning"
    share: float = 1.0
    hits: float = 1.0
    seed: int = 0

    def document(self) -> dict[str, Any]:
        return {"poison": self.graph.document(), "share": self.share, "hits": self.hits, "seed": self.seed}

    @property
    def label(self) -> str:
        return f"{self.graph.label} | pruned {self.share:.0%}, of these planted {self.hits:.0%} seed {self.seed}"


@dataclass(frozen=True)
class Accuracy(_OnGraph):
    """The accuracy of a classifier on the test nodes, or on the attack's targets."""

    kind: ClassVar[str] = "accuracy"
    method: str
    settings: Settings = ()
    seed: int = 0
    nodes: str = "test"

    def document(self) -> dict[str, Any]:
        method = _settings_and_edition(CLASSIFIERS, self.method, self.settings)
        graph = {"kind": self.graph.kind, **self.graph.document()}
        return {"graph": graph, "classifier": self.method, **method, "seed": self.seed, "nodes": self.nodes}

    @property
    def label(self) -> str:
        nodes = "" if self.nodes == "test" else f" on {self.nodes}"
        return f"{self.graph.label} | {_method_label(self)}{nodes} seed {self.seed}"


Cell = Statistics | Poison | Sanitation | Pruning | Accuracy


def expand_cells(fields: Fields) -> tuple[Cell, ...]:
    """The cells behind one table cell, one per seed.

    >>> fields = {"data": "cora", "attack": "mettack", "power": 0.1, "sanitizer": "cld", "measure": "esr", "seeds": 2}
    >>> [cell.label for cell in expand_cells(fields)]
    ['cora, mettack 10% | cld 10% seed 0', 'cora, mettack 10% | cld 10% seed 1']
    """
    unknown = set(fields) - FIELDS
    if unknown:
        raise InputError(f"unknown field {min(unknown)!r} in an experiment; the fields are {', '.join(sorted(FIELDS))}")
    measure = fields.get("measure")
    if measure not in MEASURES:
        raise InputError(f"unknown measure {measure!r}; the measures are {', '.join(MEASURES)}")
    return tuple(_expand(fields, seed) for seed in range(fields.get("seeds", 1)))


def _expand(fields: Fields, seed: int) -> Cell:
    source = Source(fields["data"], fields.get("split", "authors"))
    if source.split == "random *":  # one split per seed, with seed 0 for the methods
        source, seed = Source(source.data, f"random {seed}"), 0
    if fields["measure"] in SIZES:
        return Statistics(source)
    graph = _expand_graph(fields, source, seed)
    if fields["measure"] in SCORES:
        if isinstance(graph, Poison):
            raise InputError(f"{fields['measure']} needs a sanitizer")
        return graph
    nodes = fields.get("nodes", "test")
    if fields["classifier"] in EDGE_BLIND and nodes == "test":
        graph = Poison(source)
    return Accuracy(graph, fields["classifier"], _settings(fields, "classifier_settings"), seed, nodes)


def _expand_graph(fields: Fields, source: Source, seed: int) -> Poison | Pruning | Sanitation:
    """The graph that is measured. Classifier seeds share sanitation seeds (3 by default)."""
    power = fields.get("flips", fields.get("power", 0.0))
    poison = Poison(source)
    if power and fields.get("attack", "none") != "none":
        poison = Poison(source, fields["attack"], power, _settings(fields, "attack_settings"))
    if "prune" in fields and poison.method != "none":
        return Pruning(poison, **fields["prune"], seed=seed % fields.get("prune_seeds", 1000))
    if "sanitizer" not in fields:
        return poison
    seed = seed % fields.get("sanitizer_seeds", 3)
    return Sanitation(poison, fields["sanitizer"], fields.get("budget", 0.1), _settings(fields, "settings"), seed)


def _settings(fields: Fields, name: str) -> Settings:
    return tuple(sorted(fields.get(name, {}).items()))


def _method_label(cell: Poison | Sanitation | Accuracy) -> str:
    settings = " ".join(f"{key}={value}" for key, value in cell.settings)
    return f"{cell.method} ({settings})" if settings else cell.method


@lru_cache(maxsize=4096)
def _settings_and_edition(registry: Registry[Any], name: str, settings: Settings) -> dict[str, Any]:
    """All settings of a method, and its edition."""
    return {"settings": registry.make(name, **dict(settings)).settings(), "edition": EDITIONS.get(name, 1)}

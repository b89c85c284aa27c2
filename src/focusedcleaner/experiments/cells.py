"""Cells: values that determine a computation completely, each with a key, and the results of a cell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from numpy.typing import NDArray

from focusedcleaner.attacks import ATTACKS
from focusedcleaner.budget import Budget, is_auto
from focusedcleaner.classifiers import CLASSIFIERS
from focusedcleaner.errors import InputError
from focusedcleaner.registry import Registry
from focusedcleaner.sanitizers import SANITIZERS

Settings = tuple[tuple[str, bool | int | float | str | None], ...]
Values = Mapping[str, float | int | None]
Arrays = Mapping[str, NDArray[Any]]
Fields = Mapping[str, Any]

EDITIONS: dict[str, int] = {
    "cld": 2,
    "elastic": 2,
    "focused-ensemble": 2,
    "median": 2,
    "prognn": 2,
    "simpgcn": 2,
}
"""Edition of a method's algorithm where it is not 1; raise it by hand when the method's results change."""
ADDED_SETTINGS: dict[str, dict[str, object]] = {"*": {"validated": True}, "jaccard": {"distance": False}}
"""Settings that were added after results had been stored, by method or, with "*", of any method: at these values, their
defaults, they are no part of a cell's key."""
LARGEST_POWER = 0.25
"""Attacks that flip one pair after another run once up to this power; smaller powers are prefixes of that run."""
AUTHORS = {"authors-mettack": "mettack", "authors-nettack": "nettack"}
"""The FocusedCleaner authors' poisoned graphs, by attack."""
PUBLISHED = ("published", *AUTHORS)
"""Poisoned graphs that are files: Pro-GNN's and the FocusedCleaner authors'."""
TARGETED = ("nettack", "authors-nettack")
"""Attacks on a few nodes, whose power is the number of flips at each."""
OWN_BUDGET = 0.0
"""The amount of a sanitation that removes as many edges as its method chooses."""
ONE_RANKING = ("self-attack",)
"""Sanitizers that rank edges independently of the budget: a run with their own budget serves smaller ones as well."""
EDGE_BLIND = ("mlp",)
"""Classifiers that ignore edges: one cell serves all poisoned graphs of a source."""
SYNTHETIC = "synthetic-"
"""Prefix of generated data sets: ``synthetic-300`` has 300 nodes and needs no file."""
SIZES = ("nodes", "edges", "classes", "attributes", "homophily")
SCORES = ("esr", "f1", "cr", "oracle_esr", "planted", "removed", "removed_share")
MEASURES = (*SIZES, *SCORES, "accuracy")
FIELDS = {
    *("data", "split", "defender_split", "attack", "attack_settings", "power", "flips"),
    *("sanitizer", "settings", "budget"),
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
class Cell:
    """A computation, completely determined by its fields.

    Args:
        kind: "statistics": the sizes of a clean graph. "poison": an attack. "split": a poisoned graph whose defender
            has another split than its attacker. "sanitation": a poisoned graph cleaned by a sanitizer. "pruning":
            cleaned with knowledge of the planted edges. "accuracy": a trained classifier.
        graph: the input: a clean graph, or the graph of another cell.
        method: name of the attack, sanitizer, classifier or split. The attack "none" is the clean graph, those of
            `PUBLISHED` are files; neither they nor splits are computed.
        amount: of a poison, flips as a share of the clean graph's edges (Nettack: flips per target); of a sanitation,
            the budget (`OWN_BUDGET`: the method's own); of a pruning, removed edges as a share of the planted ones.
        settings: the method's non-default settings.
        seed: seed of the method; a pruning with a larger amount removes a superset.
        hits: of a pruning, the share of removed edges that are planted; the others are drawn from the clean edges.
        nodes: of an accuracy, "test" nodes or the attack's "targets".
    """

    kind: str
    graph: Source | Cell
    method: str
    amount: float = 0.0
    settings: Settings = ()
    seed: int = 0
    hits: float = 1.0
    nodes: str = "test"

    def __post_init__(self) -> None:
        """Normalize numbers and settings, so that equal computations have equal keys."""
        object.__setattr__(self, "amount", round(float(self.amount), 10))
        object.__setattr__(self, "hits", round(float(self.hits), 10))
        object.__setattr__(self, "settings", tuple(sorted(self.settings)))

    @property
    def source(self) -> Source:
        return self.graph if isinstance(self.graph, Source) else self.graph.source

    @property
    def poison(self) -> Cell:
        return self if isinstance(self.graph, Source) else self.graph.poison

    @property
    def computed(self) -> bool:
        return self.kind != "split" and self.method not in ("none", *PUBLISHED)

    @property
    def full_run(self) -> Cell:
        """The poison that is computed: for an attack that flips pairs in order, the one run that contains all powers.

        Nettack runs once per power: if a target's turn passes without a flip, the first flips of five rounds are not
        those of four.
        """
        ordered = self.computed and self.method != "nettack" and ATTACKS[self.method].kind.ordered
        return replace(self, amount=max(self.amount, LARGEST_POWER)) if ordered else self

    def inputs(self) -> tuple[Cell, ...]:
        """The cells whose arrays this cell needs."""
        if isinstance(self.graph, Source):
            return ()
        if self.graph.kind == "poison":
            needed = (self.graph.full_run,) if self.graph.computed else ()
        else:
            needed = (*((self.graph,) if self.graph.computed else ()), *self.graph.inputs())
        return needed if self.ranking is None else (self.ranking, *needed)

    @property
    def ranking(self) -> Cell | None:
        """The run with the method's own budget, whose first edges are those of this sanitation, if there is one."""
        shared = self.kind == "sanitation" and self.method in ONE_RANKING and self.amount != OWN_BUDGET
        return replace(self, amount=OWN_BUDGET) if shared else None

    def document(self) -> dict[str, Any]:
        """Everything that determines the results, as JSON values; methods with all their settings."""
        seed = {"seed": self.seed}
        if isinstance(self.graph, Cell):
            match self.kind:
                case "sanitation":
                    method = _method(SANITIZERS, "sanitizer", self.method, self.settings)
                    budget = "auto" if self.amount == OWN_BUDGET else self.amount
                    return {"poison": self.graph.document(), **method, "budget": budget, **seed}
                case "split":
                    return {"poison": self.graph.document(), "split": self.method}
                case "pruning":
                    return {"poison": self.graph.document(), "share": self.amount, "hits": self.hits, **seed}
                case _:
                    graph = {"kind": self.graph.kind, **self.graph.document()}
                    return {
                        "graph": graph,
                        **_method(CLASSIFIERS, "classifier", self.method, self.settings),
                        **seed,
                        "nodes": self.nodes,
                    }
        source = {"source": asdict(self.graph)}
        if self.kind == "statistics":
            return source
        if self.computed:
            return {**source, **_method(ATTACKS, "attack", self.method, self.settings), "power": self.amount, **seed}
        return {**source, "attack": self.method, **({} if self.method == "none" else {"power": self.amount})}

    @cached_property
    def text(self) -> str:
        """The document as canonical JSON."""
        return json.dumps({"kind": self.kind, **self.document()}, sort_keys=True, separators=(",", ":"))

    @cached_property
    def key(self) -> str:
        """The beginning of the SHA-256 of the canonical JSON."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:24]

    @property
    def label(self) -> str:
        """The name of the cell for people."""
        settings = " ".join(f"{key}={value}" for key, value in self.settings)
        method = f"{self.method} ({settings})" if settings else self.method
        match self.kind:
            case "statistics":
                return self.graph.label
            case "poison" if self.method == "none":
                return f"{self.graph.label}, clean"
            case "poison":
                power = f"{self.amount:g} flips" if self.method in TARGETED else f"{self.amount:.0%}"
                return f"{self.graph.label}, {method} {power}"
            case "split":
                return f"{self.graph.label}, defended on {self.method}"
            case "sanitation":
                budget = "own budget" if self.amount == OWN_BUDGET else f"{self.amount:.0%}"
                return f"{self.graph.label} | {method} {budget} seed {self.seed}"
            case "pruning":
                planted = f"of these planted {self.hits:.0%}"
                return f"{self.graph.label} | pruned {self.amount:.0%}, {planted} seed {self.seed}"
            case _:
                nodes = "" if self.nodes == "test" else f" on {self.nodes}"
                return f"{self.graph.label} | {method}{nodes} seed {self.seed}"


def poison(source: Source, method: str = "none", power: float = 0.0, settings: Settings = (), seed: int = 0) -> Cell:
    return Cell("poison", source, method, power, settings, seed)


def resplit(graph: Cell, split: str) -> Cell:
    return Cell("split", graph, split)


def sanitation(graph: Cell, method: str, budget: Budget = 0.1, settings: Settings = (), seed: int = 0) -> Cell:
    return Cell("sanitation", graph, method, OWN_BUDGET if is_auto(budget) else float(budget), settings, seed)


def pruning(graph: Cell, share: float = 1.0, hits: float = 1.0, seed: int = 0) -> Cell:
    return Cell("pruning", graph, "pruning", share, seed=seed, hits=hits)


def accuracy(graph: Cell, method: str, settings: Settings = (), seed: int = 0, nodes: str = "test") -> Cell:
    return Cell("accuracy", graph, method, 0.0, settings, seed, nodes=nodes)


@lru_cache(maxsize=4096)
def _method(registry: Registry[Any], role: str, name: str, settings: Settings) -> dict[str, Any]:
    """A method by name, with its edition and all its settings but those of `ADDED_SETTINGS` at their defaults."""
    added = {**ADDED_SETTINGS["*"], **ADDED_SETTINGS.get(name, {})}
    values = registry.make(name, **dict(settings)).settings()
    kept = {key: value for key, value in values.items() if key not in added or value != added[key]}
    return {role: name, "settings": kept, "edition": EDITIONS.get(name, 1)}


def expand_cells(fields: Fields) -> tuple[Cell, ...]:
    """The cells behind one table cell, one per seed.

    >>> fields = {"data": "cora", "attack": "mettack", "power": 0.1, "sanitizer": "cld", "measure": "esr", "seeds": 2}
    >>> [cell.label for cell in expand_cells(fields)]
    ['cora, mettack 10% | cld 10% seed 0', 'cora, mettack 10% | cld 10% seed 1']
    """
    unknown = set(fields) - FIELDS
    if unknown:
        raise InputError(f"unknown field {min(unknown)!r} in an experiment; the fields are {', '.join(sorted(FIELDS))}")
    if fields.get("measure") not in MEASURES:
        raise InputError(f"unknown measure {fields.get('measure')!r}; the measures are {', '.join(MEASURES)}")
    return tuple(_expand(fields, seed) for seed in range(fields.get("seeds", 1)))


def _expand(fields: Fields, seed: int) -> Cell:
    """The cell of one seed. Classifier seeds share sanitation seeds (3 by default)."""
    source, measure = Source(fields["data"], fields.get("split", "authors")), fields["measure"]
    defender = Source(source.data, fields.get("defender_split", source.split))

    def settings(name: str) -> Settings:
        return tuple(fields.get(name, {}).items())

    if source.split == "random *":  # one split per seed, with seed 0 for the methods
        source, seed = Source(source.data, f"random {seed}"), 0
        defender = source
    if measure in SIZES:
        return Cell("statistics", source, "statistics")
    graph = poison(defender)
    power = fields.get("flips", fields.get("power", 0.0))
    if power and fields.get("attack", "none") != "none":
        graph = poison(source, fields["attack"], power, settings("attack_settings"))
        graph = graph if defender == source else resplit(graph, defender.split)
    if "prune" in fields and graph.method != "none":
        graph = pruning(graph, **fields["prune"], seed=seed % fields.get("prune_seeds", 1000))
    elif "sanitizer" in fields:
        seeds, budget = fields.get("sanitizer_seeds", 3), fields.get("budget", 0.1)
        graph = sanitation(graph, fields["sanitizer"], budget, settings("settings"), seed % seeds)
    if measure in SCORES:
        if graph.kind in ("poison", "split"):
            raise InputError(f"{measure} needs a sanitizer")
        return graph
    nodes = fields.get("nodes", "test")
    if fields["classifier"] in EDGE_BLIND and nodes == "test":
        graph = poison(defender)
    return accuracy(graph, fields["classifier"], settings("classifier_settings"), seed, nodes)

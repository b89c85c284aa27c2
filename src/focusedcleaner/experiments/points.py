"""From a point of a table, a few named fields, to the cells whose mean stands there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Accuracy, Cell, Poison, Pruning, Sanitation, Settings, Source, Statistics

Fields = Mapping[str, Any]

SIZES = ("nodes", "edges", "classes", "attributes", "homophily")
SCORES = ("esr", "f1", "cr", "oracle_esr", "planted", "removed", "removed_share")
MEASURES = (*SIZES, *SCORES, "accuracy")
KNOWN = {
    *("data", "split", "attack", "attack_settings", "power", "sanitizer", "settings", "budget", "sanitizer_seeds"),
    *("classifier", "classifier_settings", "nodes", "prune", "prune_seeds", "measure", "seeds", "flips"),
}
"""The fields that a point may have."""
ANY_SPLIT = "random *"
"""A split of its own for every seed, the methods' own seeds being 0."""


def cells_at(fields: Fields) -> tuple[Cell, ...]:
    """The cells of a point, one for every seed.

    >>> point = {"data": "cora", "attack": "mettack", "power": 0.1, "sanitizer": "cld", "measure": "esr", "seeds": 2}
    >>> [cell.label for cell in cells_at(point)]
    ['cora, mettack 10% | cld 10% seed 0', 'cora, mettack 10% | cld 10% seed 1']
    """
    unknown = set(fields) - KNOWN
    if unknown:
        raise InputError(f"a point has no field {min(unknown)!r}")
    if fields.get("measure") not in MEASURES:
        raise InputError(f"there is no measure {fields.get('measure')!r}; there are {', '.join(MEASURES)}")
    return tuple(_cell(fields, seed) for seed in range(fields.get("seeds", 1)))


def _cell(fields: Fields, seed: int) -> Cell:
    source = Source(fields["data"], fields.get("split", "authors"))
    if source.split == ANY_SPLIT:
        source, seed = Source(source.data, f"random {seed}"), 0
    measure = fields["measure"]
    if measure in SIZES:
        return Statistics(source)
    poison = _poison(fields, source)
    if measure in SCORES:
        cleaned = _cleaned(fields, poison, seed)
        if isinstance(cleaned, Poison):
            raise InputError(f"{measure} needs a sanitizer")
        return cleaned
    graph = _cleaned(fields, poison, seed)
    settings = _settings(fields.get("classifier_settings", {}))
    return Accuracy(graph, fields["classifier"], settings, seed, fields.get("nodes", "test"))


def _poison(fields: Fields, source: Source) -> Poison:
    power = fields.get("flips", fields.get("power", 0.0))
    attack = fields.get("attack", "none") if power else "none"
    if attack == "none":
        return Poison(source)
    return Poison(source, attack, power, _settings(fields.get("attack_settings", {})))


def _cleaned(fields: Fields, poison: Poison, seed: int) -> Poison | Pruning | Sanitation:
    """The graph that is looked at; several classifiers' seeds share one sanitation."""
    if "prune" in fields and poison.attack != "none":
        return Pruning(poison, **fields["prune"], seed=seed % fields.get("prune_seeds", 1000))
    if "sanitizer" not in fields:
        return poison
    settings = _settings(fields.get("settings", {}))
    seed = seed % fields.get("sanitizer_seeds", 3)
    return Sanitation(poison, fields["sanitizer"], fields.get("budget", 0.1), settings, seed)


def _settings(given: Mapping[str, Any]) -> Settings:
    return tuple(sorted(given.items()))

"""How much of an experiment is run: all of it, or a taste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from focusedcleaner.experiments.sources import SYNTHETIC


@dataclass(frozen=True)
class Profile:
    """What is kept of the axes.

    Args:
        name: full or quick.
        data: the data sets that are kept; none keeps all.
        stand_in: a data set that takes every data set's place.
        powers: the powers that are kept beside 0; none keeps all.
        seeds: at most so many; 0 for all.
        values: at most so many values of any other axis; 0 for all.
    """

    name: str = "full"
    data: tuple[str, ...] = ()
    stand_in: str = ""
    powers: tuple[float, ...] = ()
    seeds: int = 0
    values: int = 0

    def axis(self, key: str, values: Sequence[Any]) -> list[Any]:
        """The values of an axis that are kept.

        >>> QUICK.axis("power", [0.05, 0.1, 0.15]), QUICK.axis("settings.tau", [1, 2, 3, 4, 5])
        ([0.05, 0.1], [1, 3, 5])
        """
        if key == "data":
            kept = [value for value in values if not self.data or value in self.data]
            return kept[:1] if self.stand_in else kept
        if key == "power":
            return [value for value in values if not self.powers or value in (0, *self.powers)]
        if key == "attack" or not self.values or len(values) <= self.values:
            return list(values)
        last = len(values) - 1
        return [values[round(place * last / (self.values - 1))] for place in range(self.values)]

    def adapted(self, fields: Mapping[str, Any]) -> dict[str, Any] | None:
        """Fields as this profile has them; None where they are left out."""
        mine = dict(fields)
        if self.data and "data" in mine and mine["data"] not in self.data:
            return None
        if self.powers and mine.get("power", 0) not in (0, *self.powers):
            return None
        if self.seeds and "seeds" in mine:
            mine["seeds"] = min(mine["seeds"], self.seeds)
        if self.stand_in:
            if mine.get("attack") == "published":
                return None
            mine |= {"data": self.stand_in} if "data" in mine else {}
            mine |= {"split": "random 0"} if mine.get("split") in ("authors", "prognn") else {}
        return mine


FULL = Profile()
QUICK = Profile("quick", data=("cora",), powers=(0.05, 0.1), seeds=2, values=3)


def small(nodes: int = 150) -> Profile:
    """The quick profile on a synthetic graph, which needs no file."""
    return Profile("quick", ("cora",), f"{SYNTHETIC}{nodes}", QUICK.powers, QUICK.seeds, QUICK.values)

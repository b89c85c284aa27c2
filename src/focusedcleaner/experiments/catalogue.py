"""The experiments: small data files with settings, axes and the paper's figures."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import Cell
from focusedcleaner.experiments.points import Fields, cells_at
from focusedcleaner.experiments.profiles import FULL, Profile

_PERCENT = ("power", "budget", "prune.share", "prune.hits")
_TEXTS = ("title", "where", "says")

Figures = Mapping[str, Mapping[str, tuple[float, ...]]]
"""By panel and row a value for every column, NaN where there is none."""


@dataclass(frozen=True)
class Line:
    """A row or a column of a panel."""

    id: str
    label: str
    fields: Fields


@dataclass(frozen=True)
class Panel:
    """One table, or one plot of a figure: rows by columns of points."""

    id: str
    label: str
    fields: Fields
    rows: tuple[Line, ...]
    columns: tuple[Line, ...]

    def point(self, row: Line, column: Line) -> Fields:
        """All fields of a point, what is nearer to it above what is farther; settings join."""
        return merged(self.fields, row.fields, column.fields)


@dataclass(frozen=True)
class Place:
    """A point of a panel and the cells whose mean stands there; none where there can be no value."""

    panel: Panel
    row: Line
    column: Line
    fields: Fields
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or one of ours."""

    name: str
    number: int
    title: str
    where: str
    """Where it stands in the paper."""
    says: str
    """What the paper says of it."""
    panels: tuple[Panel, ...]
    figure: str = ""
    """How it is drawn: lines, heatmap, or not at all."""
    x: str = ""
    y: str = ""
    draw: tuple[str, ...] = ()
    """The rows that are drawn; none for all."""
    note: str = ""
    """What a reader of our figures must know."""
    paper: Figures = field(default_factory=dict)
    """The paper's own, in percent."""
    claims: tuple[Mapping[str, Any], ...] = ()

    def points(self) -> Iterator[tuple[Panel, Line, Line, Fields]]:
        """Every point, panel by panel and row by row."""
        for panel in self.panels:
            for row, column in itertools.product(panel.rows, panel.columns):
                yield panel, row, column, panel.point(row, column)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """Every point with its cells."""
        return tuple(Place(*point, () if why_not(point[-1]) else cells_at(point[-1])) for point in self.points())

    def cells(self) -> Iterator[Cell]:
        """Every cell that a point needs."""
        for place in self.places:
            yield from place.cells

    def published(self, panel: Panel, row: Line, column: Line) -> float:
        """The paper's figure, NaN where there is none."""
        values = self.paper.get(panel.id, {}).get(row.id)
        if values is None:
            return math.nan
        place = [line.id for line in panel.columns].index(column.id)
        return float(values[place])


def names() -> tuple[str, ...]:
    """The experiments in the order of the paper.

    >>> names()[:4]
    ('datasets', 'prune-true', 'metrics', 'flip-or-delete')
    """
    return tuple(path.name[3:-5] for path in _files())


@cache
def load(name: str, profile: Profile = FULL) -> Experiment:
    """An experiment by its name.

    >>> load("esr").title
    'ESR of the sanitizers'
    """
    found = [path for path in _files() if path.name[3:-5] == name]
    if not found:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(names())}")
    return read(name, int(found[0].name[:2]), tomllib.loads(found[0].read_text(encoding="utf-8")), profile)


def read(name: str, number: int, text: Mapping[str, Any], profile: Profile = FULL) -> Experiment:
    """An experiment from what its file says."""
    missing = [key for key in (*_TEXTS, "panels") if key not in text]
    if missing:
        raise InputError(f"the experiment {name} lacks {missing[0]!r}")
    fixed = text.get("fixed", {})
    panels = tuple(panel for spec in text["panels"] for panel in _panels(merged(fixed, spec), profile))
    paper: Figures = {
        panel: {row: tuple(map(float, values)) for row, values in rows.items()}
        for panel, rows in text.get("paper", {}).items()
    }
    known = {key: text[key] for key in (*_TEXTS, "figure", "x", "y", "note") if key in text}
    known |= {key: tuple(text.get(key, ())) for key in ("draw", "claims")}
    if profile.name != FULL.name:
        known["claims"] = ()  # they speak of rows and columns that a taste leaves out
    return Experiment(name=name, number=number, panels=panels, paper=_kept(paper, text, panels, profile), **known)


def why_not(fields: Fields) -> str | None:
    """Why a point has no value, where it can't have one."""
    for rule in _common()["absent"]:
        if all(fields.get(key) == value for key, value in rule.items() if key != "reason"):
            return str(rule["reason"])
    return None


def name_of(thing: object) -> str:
    """What a data set, a method or an axis is called in print.

    >>> name_of("cld"), name_of("polblogs"), name_of("unheard-of")
    ('FocusedCleaner CLD', 'Polblogs', 'unheard-of')
    """
    return str(_common()["names"].get(thing, thing))


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Later fields replace earlier ones, and tables are merged the same way."""
    whole: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            old = whole.get(key)
            both = isinstance(old, Mapping) and isinstance(value, Mapping)
            whole[key] = {**old, **value} if both else value  # type: ignore[dict-item]
    return whole


def _panels(spec: Mapping[str, Any], profile: Profile) -> Iterator[Panel]:
    """One panel for every combination of the fields that are lists."""
    about = {key: spec[key] for key in ("id", "label", "rows", "columns") if key in spec}
    fields = {key: value for key, value in spec.items() if key not in about}
    axes = {key: profile.axis(key, value) for key, value in fields.items() if isinstance(value, list)}
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        mine = profile.adapted({**fields, **chosen})
        if mine is None:
            continue
        identity = about.get("id") or " ".join(str(value) for value in chosen.values())
        label = about.get("label") or ", ".join(name_of(value) for value in chosen.values())
        label = _honest(label, fields | chosen, mine)
        rows, columns = (tuple(_lines(about.get(which, [{}]), profile)) for which in ("rows", "columns"))
        if rows and columns:
            yield Panel(identity, label, mine, rows, columns)


def _lines(spec: Any, profile: Profile) -> Iterator[Line]:
    """Rows or columns: a list of fields, or one axis and its values."""
    if isinstance(spec, Mapping):
        ((axis, values),) = spec.items()
        for value in profile.axis(axis, values):
            fields = profile.adapted(_at(axis, value))
            if fields is not None:
                identity = f"{value:g}" if isinstance(value, float) else str(value)
                yield Line(identity, _honest(_shown(axis, value), {axis: value}, fields), fields)
        return
    for line in spec:
        fields = {key: value for key, value in line.items() if key not in ("id", "label")}
        adapted = profile.adapted(fields)
        if adapted is not None:
            identity = (
                line.get("id") or fields.get("sanitizer") or fields.get("classifier") or fields.get("measure", "")
            )
            label = _honest(line.get("label") or name_of(identity), fields, adapted)
            yield Line(str(identity), label, adapted)


def _honest(label: str, given: Fields, used: Fields) -> str:
    """A label that names the data set used, where another stands in for the one that was meant."""
    meant = given.get("data")
    return label if meant == used.get("data") else label.replace(name_of(meant), name_of(used["data"]))


def _at(axis: str, value: Any) -> dict[str, Any]:
    """``settings.tau`` is the field tau of the table settings."""
    table, _, key = axis.rpartition(".")
    return {table: {key: value}} if table else {axis: value}


def _shown(axis: str, value: Any) -> str:
    if axis in _PERCENT:
        return f"{100 * value:g} %"
    return f"{value:g}" if isinstance(value, int | float) else name_of(value)


def _kept(paper: Figures, text: Mapping[str, Any], panels: tuple[Panel, ...], profile: Profile) -> Figures:
    """The paper's figures for the columns that a profile keeps; none where another data set stands in."""
    if profile.stand_in:
        return {}
    whole = {panel.id: panel for spec in text["panels"] for panel in _panels(merged(text.get("fixed", {}), spec), FULL)}
    kept: dict[str, Mapping[str, tuple[float, ...]]] = {}
    for panel in panels:
        if panel.id not in paper:
            continue
        places = [[line.id for line in whole[panel.id].columns].index(column.id) for column in panel.columns]
        kept[panel.id] = {row: tuple(values[place] for place in places) for row, values in paper[panel.id].items()}
    return kept


@cache
def _files() -> tuple[Any, ...]:
    folder = files("focusedcleaner.experiments") / "data"
    return tuple(sorted((path for path in folder.iterdir() if path.name[:2].isdigit()), key=lambda path: path.name))


@cache
def _common() -> dict[str, Any]:
    text = (files("focusedcleaner.experiments") / "data" / "common.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)

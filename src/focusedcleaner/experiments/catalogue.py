"""The experiments: TOML files with settings, table axes, the paper's figures and its claims."""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

from focusedcleaner.errors import InputError
from focusedcleaner.experiments.cells import PUBLISHED, SYNTHETIC, Cell, Fields, expand_cells
from focusedcleaner.sanitizers import PRESETS, SANITIZERS, FocusedCleaner, preset_settings

_PERCENT = ("power", "budget", "prune.share", "prune.hits")
_DATA = files("focusedcleaner.experiments") / "data"


@dataclass(frozen=True)
class Profile:
    """How much of an experiment is run.

    Args:
        data: the data sets to keep; empty keeps all.
        powers: the attack powers to keep beside 0; empty keeps all.
        seeds: maximum number of seeds; 0 for all.
        values: maximum number of values of any other axis; 0 for all.
        stand_in: a data set that replaces the one of ``data``.
    """

    data: tuple[str, ...] = ()
    powers: tuple[float, ...] = ()
    seeds: int = 0
    values: int = 0
    stand_in: str = ""

    def adapt(self, fields: Fields) -> dict[str, Any] | None:
        """The fields under this profile, or None if it leaves them out."""
        if self.data and fields.get("data", self.data[0]) not in self.data:
            return None
        if self.powers and fields.get("power", 0) not in (0, *self.powers):
            return None
        if self.stand_in and fields.get("attack") in PUBLISHED:
            return None
        adapted = dict(fields)
        if self.seeds and "seeds" in fields:
            adapted["seeds"] = min(fields["seeds"], self.seeds)
        if self.stand_in and "data" in fields:
            adapted["data"] = self.stand_in
        if self.stand_in and fields.get("split") in ("authors", "prognn"):
            adapted["split"] = "random 0"
        return adapted

    def thin(self, axis: str, values: list[Any]) -> list[Any]:
        """Evenly spaced values of an axis; `adapt` selects among data sets and powers.

        >>> QUICK.thin("settings.tau", [1, 2, 3, 4, 5])
        [1, 3, 5]
        """
        if axis in ("data", "power") or not self.values or len(values) <= self.values:
            return values
        return [values[round(number * (len(values) - 1) / (self.values - 1))] for number in range(self.values)]

    def label(self, label: str) -> str:
        """Name the stand-in in a label that names the data set it replaces."""
        return label.replace(display_name(self.data[0]), self.stand_in) if self.stand_in else label


FULL = Profile()
QUICK = Profile(data=("cora",), powers=(0.05, 0.1), seeds=2, values=3)


def quick_synthetic(nodes: int = 150) -> Profile:
    """The quick profile on a generated graph, which needs no file."""
    return replace(QUICK, stand_in=f"{SYNTHETIC}{nodes}")


@dataclass(frozen=True)
class Header:
    """A row or a column of a panel, with the fields that it sets."""

    id: str
    label: str
    fields: Fields


@dataclass(frozen=True)
class Panel:
    """One table, or one plot of a figure."""

    id: str
    label: str
    fields: Fields
    rows: tuple[Header, ...]
    columns: tuple[Header, ...]

    @property
    def shown_columns(self) -> tuple[Header, ...]:
        """The columns of a table: every fifth of a wide one; the CSV has all."""
        return self.columns[:: 5 if len(self.columns) > 15 else 1]


@dataclass(frozen=True)
class TableCell:
    """A row and a column of a panel, whose fields override those of the panel.

    It has one computed cell per seed, or a reason why there can be no value. ``paper`` is NaN if the paper has none.
    """

    panel: Panel
    row: Header
    column: Header
    fields: Fields
    cells: tuple[Cell, ...]
    paper: float
    missing_reason: str


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper, or one of our own; the fields are those of its file, see docs/reproduce.md."""

    name: str
    number: int
    panels: tuple[Panel, ...]
    paper: Mapping[tuple[str, str, str], float]
    """The paper's figures in percent by the ids of panel, row and column."""
    claims: tuple[Mapping[str, Any], ...]
    title: str
    where: str
    says: str
    figure: str = ""
    x: str = ""
    y: str = ""
    note: str = ""
    draw: Sequence[str] = ()
    last: bool = False
    """Whether its cells are computed after those of all other experiments."""

    @cached_property
    def table_cells(self) -> tuple[TableCell, ...]:
        """All table cells, panel by panel and row by row."""
        table_cells = []
        for panel in self.panels:
            for row, column in itertools.product(panel.rows, panel.columns):
                fields = _with_preset(_merge(panel.fields, row.fields, column.fields))
                rules = (rule for rule in common()["absent"] if rule["fields"].items() <= fields.items())
                reason = next((rule["reason"] for rule in rules), "")
                cells = () if reason else expand_cells(fields)
                paper = self.paper.get((panel.id, row.id, column.id), math.nan)
                table_cells.append(TableCell(panel, row, column, fields, cells, paper, reason))
        return tuple(table_cells)

    def cells(self) -> Iterator[Cell]:
        """The cells of all table cells, with repetitions."""
        return itertools.chain.from_iterable(table_cell.cells for table_cell in self.table_cells)


@cache
def names() -> tuple[str, ...]:
    """The experiments in the order of the paper.

    >>> names()[:4]
    ('datasets', 'prune-true', 'metrics', 'flip-or-delete')
    """
    file_names = sorted(path.name for path in _DATA.iterdir())
    return tuple(name[3:].removesuffix(".toml") for name in file_names if name[:2].isdigit())


@cache
def load(name: str, profile: Profile = FULL) -> Experiment:
    """Load an experiment by name.

    >>> load("esr").title
    'ESR of the sanitizers'
    """
    if name not in names():
        raise InputError(f"there is no experiment {name!r}; the experiments are {', '.join(names())}")
    number = names().index(name) + 1
    return parse(name, number, read_toml(f"{number:02}-{name}.toml"), profile)


def parse(name: str, number: int, text: Mapping[str, Any], profile: Profile = FULL) -> Experiment:
    """Build an experiment from the content of its file."""
    missing = [key for key in ("title", "where", "says", "panels") if key not in text]
    if missing:
        raise InputError(f"the experiment {name} lacks {missing[0]!r}")
    others = {key: value for key, value in text.items() if key not in ("fixed", "panels", "paper", "claims")}
    paper = {
        (panel.id, row, column.id): float(value)
        for panel in _panels(text, FULL)
        for row, values in _paper_figures(text.get("paper", {}), panel)
        for column, value in zip(panel.columns, values, strict=True)
    }
    # Claims refer to rows and columns that a smaller profile leaves out.
    claims = () if profile.values else tuple(text.get("claims", ()))
    return Experiment(name, number, tuple(_panels(text, profile)), {} if profile.stand_in else paper, claims, **others)


@cache
def common() -> Mapping[str, Any]:
    """What all experiments share: printed names, table cells without value, computing times, style of the figures."""
    return read_toml("common.toml")


def display_name(thing: object) -> str:
    """The printed name of a data set, a method or a measure.

    >>> display_name("cld"), display_name("polblogs"), display_name("unheard-of")
    ('FocusedCleaner CLD', 'Polblogs', 'unheard-of')
    """
    return str(common()["names"].get(thing, thing))


def _paper_figures(paper: Fields, panel: Panel) -> Iterator[tuple[str, Sequence[float]]]:
    """The paper's figures of a panel's rows: those under its id or else, for the same rows, under its data set."""
    if panel.id in paper:
        yield from paper[panel.id].items()
    elif shared := paper.get(panel.fields.get("data", "")):
        yield from ((row.id, shared[row.id]) for row in panel.rows if row.id in shared)


def _with_preset(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields with their preset's settings of the sanitizer, on this data set or on all; their own go first."""
    preset, sanitizer, data = fields.pop("preset", ""), fields.get("sanitizer", ""), fields.get("data")
    presets = common()["presets"].get(preset, {})
    settings = presets.get(f"{sanitizer} {data}", presets.get(sanitizer, {}))
    if preset in PRESETS and sanitizer and SANITIZERS[sanitizer].kind is FocusedCleaner:
        settings = preset_settings(preset, sanitizer)[1]
    return _merge({"settings": settings}, fields) if settings else fields


def _merge(*parts: Fields) -> dict[str, Any]:
    """Later fields replace earlier ones; nested tables are merged."""
    merged: dict[str, Any] = {}
    for key, value in itertools.chain.from_iterable(part.items() for part in parts):
        nested = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = {**merged[key], **value} if nested else value
    return merged


def _panels(text: Mapping[str, Any], profile: Profile) -> Iterator[Panel]:
    """One panel per combination of the fields that are lists."""
    for spec in text["panels"]:
        fields = _merge(text.get("fixed", {}), spec)
        identity, label = fields.pop("id", ""), fields.pop("label", "")
        rows, columns = (tuple(_headers(fields.pop(side, [{}]), profile)) for side in ("rows", "columns"))
        axes = [key for key, value in fields.items() if isinstance(value, list)]
        for values in itertools.product(*(fields[axis] for axis in axes)):
            adapted = profile.adapt(fields | dict(zip(axes, values, strict=True)))
            if adapted is not None and rows and columns:
                title = profile.label(", ".join([*map(display_name, values), *([label] if label else [])]))
                yield Panel(" ".join(filter(None, [identity, *map(str, values)])), title, adapted, rows, columns)


def _headers(spec: Any, profile: Profile) -> Iterator[Header]:
    """Rows or columns: a list of fields, or one axis such as ``settings.tau`` with its values."""
    if isinstance(spec, Mapping):
        ((axis, values),) = spec.items()
        spec = [_axis_value(axis, value) for value in profile.thin(axis, values)]
    for header in spec:
        adapted = profile.adapt({key: value for key, value in header.items() if key not in ("id", "label")})
        identity = next((header[key] for key in ("id", "sanitizer", "classifier", "measure") if key in header), "")
        if adapted is not None:
            yield Header(str(identity), profile.label(header.get("label") or display_name(identity)), adapted)


def _axis_value(axis: str, value: Any) -> dict[str, Any]:
    """The header of one value of an axis; ``settings.tau`` is the field tau of the table settings."""
    table, _, key = axis.rpartition(".")
    shown = f"{value:g}" if isinstance(value, int | float) else display_name(value)
    identity = f"{value:g}" if isinstance(value, float) else str(value)
    label = f"{100 * value:g} %" if axis in _PERCENT and not isinstance(value, str) else shown
    return {"id": identity, "label": label, **({table: {key: value}} if table else {axis: value})}


def read_toml(name: str) -> dict[str, Any]:
    """Read a file of the folder data."""
    return tomllib.loads((_DATA / name).read_text(encoding="utf-8"))

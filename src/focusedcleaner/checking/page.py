"""A `Check` for people: a page of text, a table for notebooks, and the few lines that `sanitize` prints first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from focusedcleaner.checking.class_links import LARGEST_TABLE, ClassLinks
from focusedcleaner.formatting import count, percent, visible

if TYPE_CHECKING:
    from focusedcleaner.checking.check import Check

WIDTH = 90
"""Of the page of text, in columns."""
MARGIN = 18
"""Column in which the text of a row starts."""
NAMED = 5
"""Most classes that are named one by one."""
NAME_WIDTH = 14
"""Most letters of a class's name in a table."""
_KEPT = "\N{NO-BREAK SPACE}%"


@dataclass(frozen=True)
class Section:
    """A heading with rows of a short name and a text; a row without a name is an item of a list."""

    title: str
    rows: Sequence[tuple[str, str]]
    table: Sequence[Sequence[str]] = ()
    """Shown after the rows: a header, then rows of a name and numbers."""


def sections(check: Check) -> list[Section]:
    """Arrange the page; sections without content are left out."""
    arranged = [
        Section("Graph", _graph_rows(check)),
        Section("Read", [("", line) for line in check.read]),
        Section("Labels", _label_rows(check)),
        Section("Classes", _class_rows(check), _compatibility_table(check)),
        Section("Attributes", _attribute_rows(check)),
        Section("Method", _method_rows(check)),
        Section("Assumed", [("", line) for line in check.assumptions]),
        Section("Warnings", [("", line) for line in check.warnings]),
        Section("What no result can promise", [("", line) for line in check.limits]),
    ]
    return [section for section in arranged if section.rows]


def _graph_rows(check: Check) -> list[tuple[str, str]]:
    size = f"{count(check.nodes, 'node')}, {count(check.edges, 'edge')}"
    degrees = f"{check.mean_degree:.1f} edges per node on average, {check.largest_degree:,} at most"
    return [
        *_source_rows(check),
        ("size", f"{size}; {degrees}" if check.edges else size),
        ("connected", _components(check)),
        ("bipartite", _sides(check)),
    ]


def _source_rows(check: Check) -> list[tuple[str, str]]:
    """Where the graph came from, as far as its reader noted it."""
    notes, rows = dict(check.notes), []
    ends = [notes.pop(f"{end}_column", None) for end in ("source", "target")]
    if ends[0] and ends[1]:
        rows.append(("edges", f"from columns {ends[0]} and {ends[1]}"))
    notes.pop("a_source", None)
    columns = {key: notes.pop(key) for key in list(notes) if key.endswith("_column")}
    rows += [(key.removesuffix("_column"), f"from column {value}") for key, value in columns.items() if value]
    return [*rows, *((key.replace("_", " "), value) for key, value in notes.items() if value)]


def _components(check: Check) -> str:
    if check.components == 1:
        return "1 component"
    parts = [f"{check.components:,} components", f"the largest holds {percent(check.largest_component)} of the nodes"]
    if check.isolated_nodes:
        parts.append(f"{count(check.isolated_nodes, 'node')} without an edge")
    return "; ".join(parts)


def _sides(check: Check) -> str:
    if check.sides is None:
        return "no"
    kinds = [check.notes.get(f"{end}_column") for end in ("source", "target")]
    named = f" ({kinds[0]} and {kinds[1]})" if all(kinds) else ""
    return f"yes: {check.sides[0]:,} nodes on one side, {check.sides[1]:,} on the other{named}"


def _label_rows(check: Check) -> list[tuple[str, str]]:
    if check.coverage == "none":
        return [("known", "none: no node has a class")]
    known = f"{check.labelled_nodes:,} of {count(check.nodes, 'node')}, {_classes(check.classes)}"
    if check.coverage == "one class":
        (marked,) = (one.name for one in check.class_labels if one.labelled)
        known = f"{check.labelled_nodes:,} of {count(check.nodes, 'node')}, all of {marked}; the others are unmarked"
    rows = [("known", known), ("split", _split(check))]
    sizes = sorted(check.class_labels, key=lambda one: one.labelled)
    if len(sizes) > 1:
        shown = sizes[::-1] if len(sizes) <= LARGEST_TABLE else [*sizes[:-4:-1], *sizes[2::-1]]
        listed = [f"{one.name}: {one.labelled:,}" for one in shown]
        if len(sizes) > LARGEST_TABLE:
            listed.insert(3, "…")
        rows.append(("per class", ", ".join(listed)))
    return rows


def _classes(number: int) -> str:
    return f"{number:,} class{'' if number == 1 else 'es'}"


def _split(check: Check) -> str:
    if check.split is not None:
        return f"{_used(check.split)}, {check.split['test']:,} test"
    return "none given" if check.drawn_split is None else f"none given; one would be drawn: {_drawn(check.drawn_split)}"


def _used(split: Mapping[str, int]) -> str:
    return f"{split['train']:,} train, {split['val']:,} validate"


def _drawn(split: Mapping[str, int]) -> str:
    """A drawn split hides no label: what is neither for training nor for validation has none."""
    return _used(split) + (f", {split['test']:,} without a label" if split["test"] else "")


def _class_rows(check: Check) -> list[tuple[str, str]]:
    """Homophily, and where the edges of the classes lead."""
    if check.homophily is None or check.chance_homophily is None:
        return []
    within = f"{percent(check.homophily)} of the edges join nodes of one class"
    rows = [("homophily", f"{within}; by chance it would be {percent(check.chance_homophily)}")]
    if len(check.class_links) > 1:
        rows.append(("links", _links(check)))
    if _tabulated(check):
        rows.append(("compatibility", "edges between two classes, relative to chance (1 = as often as by chance)"))
    return rows


def _links(check: Check) -> str:
    """Say in words where edges lead: which classes keep to themselves, and which link to another one."""
    outward = [one for one in check.class_links if one.partner != one.name]
    if not outward:
        return "every class links most often to itself"
    if len(outward) > NAMED:
        listed = f"{len(outward):,} of {len(check.class_links):,} classes link most often to another class"
        outward = sorted(outward, key=lambda one: one.share_within)[:NAMED]
        return f"{listed}, for example {_partners(outward)}"
    rest = len(check.class_links) - len(outward)
    others = f"; the other {rest:,} most often to {'itself' if rest == 1 else 'themselves'}" if rest else ""
    return f"{_partners(outward)}{others}"


def _partners(links: Iterable[ClassLinks]) -> str:
    sentences = []
    for one in links:
        how = "mostly" if one.partner_share > 0.5 else "most often"
        sentences.append(f"{one.name} links {how} to {one.partner} ({percent(one.partner_share)})")
    return "; ".join(sentences)


def _tabulated(check: Check) -> bool:
    return check.compatibility is not None and 1 < check.classes <= LARGEST_TABLE


def _compatibility_table(check: Check) -> list[list[str]]:
    if check.compatibility is None or not _tabulated(check):
        return []
    names = [_shortened(one.name) for one in check.class_labels]
    rows = [[name, *map(_ratio, row)] for name, row in zip(names, check.compatibility, strict=True)]
    return [["", *(name.removeprefix("class ") for name in names)], *rows]


def _shortened(name: str) -> str:
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"


def _ratio(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _attribute_rows(check: Check) -> list[tuple[str, str]]:
    facts = check.attribute_facts
    if facts is None:
        return [("number", "none")]
    rows = [("number", f"{facts.columns:,} columns, {percent(facts.density)} of the values are not 0")]
    useless = []
    if facts.constant_columns:
        useless.append(f"{count(facts.constant_columns, 'column')} with one value at every node")
    if facts.empty_nodes:
        useless.append(f"{count(facts.empty_nodes, 'node')} without any value")
    if useless:
        rows.append(("empty", "; ".join(useless)))
    linked, random, separation = facts.linked_similarity, facts.random_similarity, facts.separation
    if linked is not None and random is not None and separation is not None:
        figures = f"mean cosine {linked:.2f} against {random:.2f} of random pairs"
        rows.append(("they tell", f"{_telling(check)}: {figures}"))
    return rows


def _telling(check: Check) -> str:
    facts = check.attribute_facts
    if facts is None or facts.separation is None:
        return "nothing that was measured"
    if facts.telling == "hardly":
        return "little about edges, linked nodes are hardly more alike than others"
    comparison = "more" if facts.separation > 0.5 else "less"
    return f"linked nodes are {facts.telling} {comparison} alike than others"


def _method_rows(check: Check) -> list[tuple[str, str]]:
    if check.method is None:
        return [("auto", "none can run on this graph, for the first reason under Warnings")]
    removes = "edges are removed only if the verdict is that some were planted"
    if not check.suitable or not check.chooses_budget:
        removes = "no edge is removed"
    rows = [("auto", f"{check.method}: {check.method_reason}"), ("without budget", removes)]
    cost = "not measured for this method" if check.forecast is None else f"{check.forecast}, on a free core"
    if not check.suitable and check.forecast is not None:
        cost = f"it stops at once; with a budget, {check.forecast}"
    rows.append(("forecast", cost))
    if check.other_forecasts:
        rows.append(("for comparison", "; ".join(f"{one.method} {one}" for one in check.other_forecasts)))
    return rows


def short_form(check: Check) -> tuple[tuple[str, str], ...]:
    """The lines that `sanitize` prints before it starts: what was read, the method and why, and what it will cost."""
    kind = f", bipartite ({check.sides[0]:,} and {check.sides[1]:,} nodes)" if check.sides is not None else ""
    labels = "no labels"
    if check.coverage == "one class":
        labels = f"{count(check.labelled_nodes, 'node')} marked, of one class"
    elif check.coverage != "none":
        homophily = "" if check.homophily is None else f"; {percent(check.homophily)} of the edges within a class"
        labels = f"{_classes(check.classes)}, {check.labelled_nodes:,} labelled nodes{homophily}"
    facts = check.attribute_facts
    attributes = "none" if facts is None else f"{count(facts.columns, 'column')}; {_telling(check)}"
    lines = [("graph", f"{count(check.nodes, 'node')}, {count(check.edges, 'edge')}{kind}"), ("labels", labels)]
    if check.drawn_split is not None:
        lines[-1] = ("labels", f"{labels}; split drawn: {_drawn(check.drawn_split)}")
    lines.append(("attributes", attributes))
    if check.method is not None:
        lines.append(("method", f"{check.method}, {check.method_reason}"))
    if check.forecast is not None and check.suitable:
        lines.append(("forecast", str(check.forecast)))
    return tuple(lines)


def text(page: Iterable[Section]) -> str:
    """The page as text of at most `WIDTH` columns."""
    return "\n\n".join("\n".join(_section_lines(section)) for section in page)


def _section_lines(section: Section) -> list[str]:
    lines = [section.title]
    for name, content in section.rows:
        start = f"  {visible(name):<{MARGIN - 2}}" if name else "  - "
        indent = " " * (MARGIN if name else 4)
        kept = visible(content).replace(" %", _KEPT)  # a line does not start with a percent sign
        wrapped = textwrap.wrap(kept, WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False)
        lines += [line.replace(_KEPT, " %") for line in wrapped or [start]]
    return lines + _table_lines(section.table)


def _table_lines(table: Sequence[Sequence[str]]) -> list[str]:
    if not table:
        return []
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    indent = MARGIN if MARGIN + sum(widths) + 2 * len(widths) <= WIDTH else 4
    lines = []
    for name, *numbers in table:
        cells = (f"{number:>{width}}" for number, width in zip(numbers, widths[1:], strict=True))
        lines.append(f"{'':<{indent}}{name:<{widths[0]}}  {'  '.join(cells)}".rstrip())
    return lines


def html(page: Iterable[Section]) -> str:
    """The page as HTML, for notebooks."""
    parts = []
    for section in page:
        parts.append(f"<h4>{escape(section.title)}</h4>")
        items = [f"<li>{_escaped(content)}</li>" for name, content in section.rows if not name]
        rows = [_row(name, content) for name, content in section.rows if name]
        parts.append(f"<table>{''.join(rows)}</table>" if rows else f"<ul>{''.join(items)}</ul>")
        if section.table:
            parts.append(f"<table>{''.join(_row(*row) for row in section.table)}</table>")
    return "".join(parts)


def _row(name: str, *cells: str) -> str:
    """A row of a table: a name, then texts or numbers."""
    align = ' style="text-align: left"'
    return f"<tr><th{align}>{_escaped(name)}</th>{''.join(f'<td{align}>{_escaped(cell)}</td>' for cell in cells)}</tr>"


def _escaped(content: str) -> str:
    return escape(visible(content))

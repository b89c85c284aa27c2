"""Outputs of experiments: on the terminal, as CSV and figures, and as a Markdown page of all results."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from focusedcleaner.experiments.catalogue import Experiment, Header, Panel, common
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.tables import Entries, Verdict, fill_tables, verdicts
from focusedcleaner.io.disk import prefix_errors, write_files

MANY_COLUMNS = 15
"""Wider panels show every fifth column; the CSV has all."""


def show(console: Console, experiment: Experiment, results: Mapping[str, CellResult]) -> None:
    """Print an experiment."""
    entries = fill_tables(experiment, results)
    console.print(Text(f"{experiment.title} ({experiment.where})", style="bold"))
    console.print("ours (the paper's; difference)\n", style="dim")
    for panel in experiment.panels:
        table = Table("", title=panel.label, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for column in _shown_columns(panel):
            table.add_column(column.label, justify="right")
        for row in panel.rows:
            shown = [entries[panel.id, row.id, column.id] for column in _shown_columns(panel)]
            texts = [entry.text if entry.values or entry.missing_reason else "–" for entry in shown]
            comparisons = [(f" {entry.comparison}".rstrip(), "dim") for entry in shown]
            table.add_row(row.label, *(Text.assemble(*both) for both in zip(texts, comparisons, strict=True)))
        console.print(table)
        console.print()
    for verdict in verdicts(experiment, entries):
        console.print(Text.assemble("• ", verdict.text, " ", (verdict.summary, "bold")))


def check_writable(folder: Path) -> None:
    """Create a folder for the outputs, or raise `InputError`."""
    with prefix_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()


def write_outputs(
    experiments: Sequence[Experiment], results: Mapping[str, CellResult], folder: Path, *, with_page: bool
) -> list[Path]:
    """Write tables as CSV, figures, and either one page beside the folder or a Markdown file per experiment."""
    contents: dict[Path, bytes] = {}
    drawn: set[str] = set()
    for experiment in experiments:
        entries, stem = fill_tables(experiment, results), folder / experiment.name
        images = draw(experiment, entries)
        drawn |= {experiment.name} if images else set()
        contents |= {stem.with_suffix(f".{suffix}"): image for suffix, image in images.items()}
        contents[stem.with_suffix(".csv")] = csv_text(entries).encode()
        if not with_page:
            contents[stem.with_suffix(".md")] = _section(experiment, entries, "." if images else "").encode()
    if with_page:
        contents[folder.with_suffix(".md")] = page(experiments, results, folder.name, drawn).encode()
    write_files(contents)
    return list(contents)


def csv_text(entries: Entries) -> str:
    """One line per table cell; shares in percent."""
    buffer = io.StringIO()
    buffer.write("panel,row,column,measure,mean,standard_deviation,n,wanted,paper,difference,why\n")
    writer = csv.writer(buffer, lineterminator="\n")
    for entry in entries.values():
        deviation = entry.deviation if len(entry.values) > 1 else math.nan
        numbers = (entry.mean, deviation, entry.paper, entry.mean - entry.paper)
        mean, deviation_, paper, difference = ("" if math.isnan(one) else f"{one:.3f}" for one in numbers)
        about = (entry.panel.label, entry.row.label, entry.column.label, entry.measure, mean, deviation_)
        why = "" if entry.values else entry.text
        writer.writerow((*about, len(entry.values), len(entry.cells), paper, difference, why))
    return buffer.getvalue()


def markdown(experiment: Experiment, entries: Entries) -> str:
    """A table per panel: ours, then the paper's figure and the difference in parentheses."""
    lines: list[str] = []
    for panel in experiment.panels:
        columns = _shown_columns(panel)
        lines += [f"| {panel.label} | {' | '.join(column.label for column in columns)} |"]
        lines += ["| --- |" + " ---: |" * len(columns)]
        for row in panel.rows:
            shown = [entries[panel.id, row.id, column.id] for column in columns]
            texts = [f"{entry.text} {entry.comparison}".strip() for entry in shown]
            lines.append(f"| {row.label} | {' | '.join(texts)} |")
        lines.append("")
    return "\n".join(lines)


def _shown_columns(panel: Panel) -> tuple[Header, ...]:
    return panel.columns[:: 5 if len(panel.columns) > MANY_COLUMNS else 1]


def page(experiments: Sequence[Experiment], results: Mapping[str, CellResult], folder: str, drawn: set[str]) -> str:
    """The page of all results, with links to the figures of ``drawn`` experiments in a folder beside the page."""
    overview = ["| | experiment | where | values | claims |", "| ---: | --- | --- | ---: | --- |"]
    sections, claims = [], []
    for experiment in experiments:
        entries = fill_tables(experiment, results)
        checked = verdicts(experiment, entries)
        claims += [(experiment, verdict) for verdict in checked]
        sections.append(_section(experiment, entries, folder if experiment.name in drawn else ""))
        about = f"| {experiment.number} | {experiment.title} | {experiment.where} |"
        overview.append(f"{about} {_available(entries)} | {_summary(checked)} |")
    return "\n".join([common()["introduction"], *overview, "", _differences(claims), *sections])


def _section(experiment: Experiment, entries: Entries, figures: str) -> str:
    """One experiment; ``figures`` is the folder of its figure, empty if it has none."""
    lines = [f"## {experiment.number}. {experiment.title}", ""]
    lines += [f"`focusedcleaner reproduce {experiment.name}` · {experiment.where}. {experiment.says}", ""]
    lines += [experiment.note, ""] if experiment.note else []
    lines += [f"![{experiment.title}]({figures}/{experiment.name}.svg)", ""] if figures else []
    lines += [markdown(experiment, entries)]
    claims = [f"- {verdict.text} *{verdict.summary}*" for verdict in verdicts(experiment, entries)]
    return "\n".join([*lines, *claims, *([""] if claims else [])])


def _available(entries: Entries) -> str:
    """How many values are available."""
    available = sum(len(entry.values) for entry in entries.values())
    wanted = sum(len(entry.cells) for entry in entries.values() if not entry.missing_reason)
    return f"{available:,} of {wanted:,}" if available < wanted else f"{available:,}"


def _summary(claims: Sequence[Verdict]) -> str:
    """How many claims hold everywhere."""
    checked = [verdict for verdict in claims if verdict.checks]
    if not checked:
        return "not computed yet" if claims else ""
    held = sum(not verdict.failed for verdict in checked)
    pending = f", {len(claims) - len(checked)} not computed yet" if len(checked) < len(claims) else ""
    return f"{held} of {len(checked)} hold everywhere{pending}"


def _differences(claims: Sequence[tuple[Experiment, Verdict]]) -> str:
    """The claims that do not hold everywhere, with the figures and, if known, the reason."""
    checked = sum(bool(verdict.checks) for _, verdict in claims)
    failed = [(experiment, verdict) for experiment, verdict in claims if verdict.failed]
    outcome = "These do not hold everywhere:\n" if failed else "All of them hold everywhere."
    lines = [f"{checked} of {len(claims)} claims could be checked so far. {outcome}"]
    for experiment, verdict in failed:
        figures = "; ".join(f"{check.where}: {check.figures}" for check in verdict.failed)
        why = f" {verdict.why}" if verdict.why else ""
        lines.append(f"- *{experiment.title}.* {verdict.text} *{verdict.summary.capitalize()}*, not at {figures}.{why}")
    return "\n".join(["## Where our results differ", "", *lines, ""])

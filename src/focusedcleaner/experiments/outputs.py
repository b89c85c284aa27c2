"""Outputs of experiments: on the terminal, as CSV and figures, and as a Markdown page of all results."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from rich.console import Console
from rich.table import Table
from rich.text import Text

from focusedcleaner.errors import prefix_errors
from focusedcleaner.experiments.catalogue import Experiment, Panel, read_toml
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.front import front_table
from focusedcleaner.experiments.tables import NOT_HERE, Entries, Verdict, fill_tables, verdicts
from focusedcleaner.io.transaction import write_files

_TEMPLATES = Environment(
    loader=PackageLoader("focusedcleaner.experiments", "data"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def show(console: Console, experiment: Experiment, results: Mapping[str, CellResult]) -> None:
    """Print an experiment."""
    entries = fill_tables(experiment, results)
    console.print(Text(f"{experiment.title} ({experiment.where})", style="bold"))
    console.print("ours (the paper's; difference)\n", style="dim")
    for panel in experiment.panels:
        table = Table("", title=panel.label, title_justify="left", title_style="bold", box=None, pad_edge=False)
        for column in panel.shown_columns:
            table.add_column(column.label, justify="right")
        for row in panel.rows:
            shown = [entries[panel.id, row.id, column.id] for column in panel.shown_columns]
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
            contents[stem.with_suffix(".md")] = Section(experiment, entries, "." if images else "").markdown().encode()
    page_file = (
        {folder.with_suffix(".md"): page(experiments, results, folder.name, drawn).encode()} if with_page else {}
    )
    write_files(contents)
    write_files(page_file)
    return [*contents, *page_file]


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


@dataclass(frozen=True)
class Section:
    """An experiment as the templates show it; ``figures`` is the folder of its figure, empty if it has none."""

    experiment: Experiment
    entries: Entries
    figures: str = ""

    @cached_property
    def verdicts(self) -> list[Verdict]:
        return verdicts(self.experiment, self.entries)

    @property
    def available(self) -> str:
        """How many values are available."""
        available = sum(len(entry.values) for entry in self.entries.values())
        wanted = sum(len(entry.cells) for entry in self.entries.values() if not entry.missing_reason)
        return f"{available:,} of {wanted:,}" if available < wanted else f"{available:,}"

    @property
    def held(self) -> str:
        """How many claims hold everywhere."""
        checked = [verdict for verdict in self.verdicts if verdict.checks]
        if not checked:
            return "not computed yet" if self.verdicts else ""
        held, pending = sum(not verdict.failed for verdict in checked), len(self.verdicts) - len(checked)
        return f"{held} of {len(checked)} hold everywhere" + (f", {pending} not computed yet" if pending else "")

    def missing(self, panel: Panel) -> bool:
        """Whether a panel has no value because the authors' files were not there."""
        entries = [entry for (name, _, _), entry in self.entries.items() if name == panel.id]
        poisoned = [entry for entry in entries if all(cell.poison.method != "none" for cell in entry.cells)]
        return NOT_HERE in {entry.missing_reason for entry in poisoned} and all(e.missing_reason for e in poisoned)

    def markdown(self) -> str:
        """The section of the page: a table per panel, and the claims."""
        return _TEMPLATES.get_template("section.md.j2").render(one=self)


def page(experiments: Sequence[Experiment], results: Mapping[str, CellResult], folder: str, drawn: set[str]) -> str:
    """The page of all results, with links to the figures of ``drawn`` experiments in a folder beside the page."""
    sections = [Section(one, fill_tables(one, results), folder if one.name in drawn else "") for one in experiments]
    claims = [verdict for section in sections for verdict in section.verdicts]
    front = front_table(experiments, {section.experiment.name: section.entries for section in sections})
    parts = {"sections": sections, "claims": claims, "front": front, "differences": differences(sections)}
    return _TEMPLATES.get_template("results.md.j2").render(parts)


@dataclass
class Difference:
    """A reason, and the claims that do not hold everywhere because of it, by the numbers of their experiments."""

    reason: str
    claims: dict[int, list[Verdict]] = field(default_factory=dict)


def differences(sections: Sequence[Section]) -> list[Difference]:
    """The claims that do not hold everywhere, grouped by reason; those without one come last."""
    reasons = {name: Difference(text) for name, text in read_toml("reasons.toml").items()}
    reasons[""] = Difference("No reason was measured.")
    for section in sections:
        for verdict in (verdict for verdict in section.verdicts if verdict.failed):
            for name in verdict.why or ("",):
                reasons[name].claims.setdefault(section.experiment.number, []).append(verdict)
    return [difference for difference in reasons.values() if difference.claims]

"""Outputs of experiments: on the terminal, as CSV and figures, and as a Markdown page of all results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from focusedcleaner.experiments.catalogue import Experiment, introduction
from focusedcleaner.experiments.cells import CellResult
from focusedcleaner.experiments.claims import Verdict, verdicts
from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.tables import Entries, csv_text, fill_tables, markdown, rich_tables
from focusedcleaner.io.disk import prefix_errors, write_files


def show(console: Console, experiment: Experiment, results: Mapping[str, CellResult]) -> None:
    """Print an experiment."""
    entries = fill_tables(experiment, results)
    console.print(Text(f"{experiment.title} ({experiment.where})", style="bold"))
    console.print("ours (the paper's; difference)\n", style="dim")
    for table in rich_tables(experiment, entries):
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


def page(experiments: Sequence[Experiment], results: Mapping[str, CellResult], folder: str, drawn: set[str]) -> str:
    """The page of all results, with links to the figures of ``drawn`` experiments in a folder beside the page."""
    overview = ["| | experiment | where | values | claims |", "| ---: | --- | --- | ---: | --- |"]
    sections, claims = [], []
    for experiment in experiments:
        entries = fill_tables(experiment, results)
        found = verdicts(experiment, entries)
        claims += [(experiment, verdict) for verdict in found]
        sections.append(_section(experiment, entries, folder if experiment.name in drawn else ""))
        about = f"| {experiment.number} | {experiment.title} | {experiment.where} |"
        overview.append(f"{about} {_available(entries)} | {_summary(found)} |")
    return "\n".join([introduction(), *overview, "", _differences(claims), *sections])


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


def _summary(found: Sequence[Verdict]) -> str:
    """How many claims hold everywhere."""
    checked = [verdict for verdict in found if verdict.checks]
    if not checked:
        return "not computed yet" if found else ""
    held = sum(not verdict.failed for verdict in checked)
    pending = f", {len(found) - len(checked)} not computed yet" if len(checked) < len(found) else ""
    return f"{held} of {len(checked)} hold everywhere{pending}"


def _differences(claims: Sequence[tuple[Experiment, Verdict]]) -> str:
    """The claims that do not hold everywhere, with the figures and, if known, the reason."""
    checked = sum(bool(verdict.checks) for _, verdict in claims)
    lines = [f"{checked} of {len(claims)} claims could be checked so far."]
    failed = [(experiment, verdict) for experiment, verdict in claims if verdict.failed]
    lines[0] += " These do not hold everywhere:" if failed else " All of them hold everywhere."
    lines += [""] if failed else []
    for experiment, verdict in failed:
        figures = "; ".join(f"{check.where}: {check.figures}" for check in verdict.failed)
        why = f" {verdict.why}" if verdict.why else ""
        lines.append(f"- *{experiment.title}.* {verdict.text} *{verdict.summary.capitalize()}*, not at {figures}.{why}")
    return "\n".join(["## Where our results differ", "", *lines, ""])

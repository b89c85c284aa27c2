"""What is shown and written of experiments: tables, figures, and the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.claims import verdicts
from focusedcleaner.experiments.figures import draw
from focusedcleaner.experiments.page import page, section
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.tables import csv_text, rich_tables
from focusedcleaner.io.disk import prefix_errors, write_files


def check_writable(folder: Path) -> None:
    """Make a folder for tables and figures, or say why that can't be."""
    with prefix_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".probe"
        probe.touch()
        probe.unlink()


def show(console: Console, experiment: Experiment, known: Mapping[str, CellResult]) -> None:
    """An experiment on the screen."""
    console.print(Text(f"{experiment.title} ({experiment.where})", style="bold"))
    console.print("ours (the paper's; difference)\n", style="dim")
    for table in rich_tables(experiment, known):
        console.print(table)
        console.print()
    for verdict in verdicts(experiment, known):
        console.print(Text.assemble("• ", verdict.text, " ", (verdict.summary, "bold")))


def write_outputs(
    experiments: Sequence[Experiment], known: Mapping[str, CellResult], folder: Path, *, whole: bool
) -> list[Path]:
    """Write each experiment as CSV, Markdown and, where it has one, a figure; all of it as a page beside the folder.

    Args:
        experiments: what is written.
        known: results by key.
        folder: where to; it is there.
        whole: whether these are all experiments, so that the page is written too.
    """
    contents: dict[Path, bytes] = {}
    drawn: set[str] = set()
    for experiment in experiments:
        pictures = draw(experiment, known)
        drawn |= {experiment.name} if pictures else set()
        stem = folder / experiment.name
        contents |= {stem.with_suffix(f".{form}"): picture for form, picture in pictures.items()}
        contents[stem.with_suffix(".csv")] = csv_text(experiment, known).encode()
        if not whole:
            contents[stem.with_suffix(".md")] = section(experiment, known, ".", bool(pictures)).encode()
    if whole:
        contents[folder.with_suffix(".md")] = page(experiments, known, folder.name, drawn).encode()
    write_files(contents)
    return list(contents)

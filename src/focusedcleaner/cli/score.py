"""``focusedcleaner score``: a run against the truth."""

from __future__ import annotations

from pathlib import Path

from rich.table import Table
from rich.text import Text

from focusedcleaner.cli.console import count, note, percent, print_json, screen
from focusedcleaner.cli.inputs import Given
from focusedcleaner.runs import read_run
from focusedcleaner.scoring import Score, aligned
from focusedcleaner.scoring import score as compare


def run(folder: Path, truth: Given, *, json: bool) -> None:
    """Score a run folder."""
    done = read_run(folder)
    if not done.complete:
        of_how_many = "" if done.record.get("auto_budget") else f" of {done.record['budget']:,}"
        note(f"{folder} was interrupted: {done.record['removed']:,}{of_how_many} edges were removed")
    clean = aligned(truth.read(), done.poisoned)
    found = compare(done.removed, poisoned=done.poisoned, clean=clean)
    if json:
        print_json(fields(found))
    else:
        show(found)


def fields(found: Score) -> dict[str, float]:
    """What ``--json`` prints."""
    names = ("esr", "f1", "cr", "oracle_esr", "attacked", "removed", "hits")
    return {name: getattr(found, name) for name in names}


def show(found: Score) -> None:
    """A small table, the oracle's figures beside ours."""
    console = screen()
    console.print(
        f"{count(found.attacked, 'edge')} had been planted, {found.removed:,} were removed, "
        f"{found.hits:,} of them rightly.\n"
    )
    # The oracle removes as many edges, planted ones first.
    best = Score(found.attacked, found.removed, min(found.attacked, found.removed))
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("this run", justify="right")
    table.add_column("oracle", justify="right")
    table.add_column("what it is", style="dim")
    rows = (
        ("ESR", found.esr, found.oracle_esr, "rightly removed, of all removed or planted"),
        ("F1", found.f1, best.f1, "the same, as a harmonic mean"),
        ("CR", found.cr, best.cr, "rightly removed, of all planted"),
    )
    for name, ours, oracle, meaning in rows:
        table.add_row(Text(name, style="bold"), percent(ours), percent(oracle), meaning)
    console.print(table)
    console.print(Text("\nThe oracle knows the truth and removes as many edges.", style="dim"))

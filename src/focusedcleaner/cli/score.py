"""``focusedcleaner score``: a run against the truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from focusedcleaner.cli.console import count, note, percent, print_json, screen
from focusedcleaner.cli.inputs import GraphSource
from focusedcleaner.runs import read_run
from focusedcleaner.runs.missing import read_missing
from focusedcleaner.scoring import Restored, Score, aligned, score_restored
from focusedcleaner.scoring import score as compare


def run(folder: Path, truth: GraphSource, *, json: bool) -> None:
    """Score a run folder."""
    done = read_run(folder)
    if not done.complete:
        of_how_many = "" if done.record.get("auto_budget") else f" of {done.record['budget']:,}"
        note(f"{folder} was interrupted: {done.record['removed']:,}{of_how_many} edges were removed")
    clean = aligned(truth.read(), done.poisoned)
    found = compare(done.removed, poisoned=done.poisoned, clean=clean)
    proposed = read_missing(done)
    restored = None if proposed is None else score_restored(proposed, poisoned=done.poisoned, clean=clean)
    if json:
        print_json(fields(found) | ({} if restored is None else {"restored": restored_fields(restored)}))
        return
    show(found)
    if restored is not None:
        show_restored(restored)


def fields(found: Score) -> dict[str, Any]:
    """What ``--json`` prints."""
    names = ("esr", "f1", "cr", "oracle_esr", "attacked", "removed", "hits")
    return {name: getattr(found, name) for name in names}


def restored_fields(found: Restored) -> dict[str, float]:
    """What ``--json`` prints of the proposals that `restore` made."""
    return {name: getattr(found, name) for name in ("precision", "recall", "cut", "proposed", "hits")}


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


def show_restored(found: Restored) -> None:
    """The proposals of `restore`, which count for nothing above."""
    console = screen()
    console.print(
        f"\n{count(found.cut, 'edge')} had been cut by the attacker; restore proposed {found.proposed:,}, "
        f"{found.hits:,} of them rightly:\n"
        f"precision {percent(found.precision)}, recall {percent(found.recall)}."
    )

"""``focusedcleaner score``: compare a run with the clean graph."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text

from focusedcleaner.cli.console import count, note, percent, print_json, results_table, screen
from focusedcleaner.cli.inputs import read_graph
from focusedcleaner.cli.options import GraphSource
from focusedcleaner.runs.reading import read_missing, read_run
from focusedcleaner.scoring import Restored, Score, aligned, score, score_restored


def run(
    run_folder: Path, truth: str, nodes: Path | None, adjacency: Path | None, largest_component: bool, json: bool
) -> None:
    """Score a run, and the proposals of `restore` if there are any."""
    finished = read_run(run_folder)
    if not finished.complete:
        total = "" if finished.record.get("auto_budget") else f" of {finished.record['budget']:,}"
        note(f"{run_folder} was interrupted: {finished.record['removed']:,}{total} edges were removed")
    source = GraphSource(truth, nodes, adjacency, largest_component=largest_component)
    clean = aligned(read_graph(source), finished.poisoned)
    result = score(finished.removed, poisoned=finished.poisoned, clean=clean)
    proposed = read_missing(finished)
    restored = None if proposed is None else score_restored(proposed, poisoned=finished.poisoned, clean=clean)
    if json:
        names = ("esr", "f1", "precision", "cr", "oracle_esr", "attacked", "removed", "hits")
        fields: dict[str, object] = {name: getattr(result, name) for name in names}
        if restored is not None:
            fields["restored"] = {
                name: getattr(restored, name) for name in ("precision", "recall", "cut", "proposed", "hits")
            }
        print_json(fields)
        return
    _show(result)
    if restored is not None:
        _show_restored(restored)


def _show(result: Score) -> None:
    console = screen()
    console.print(
        f"{count(result.attacked, 'edge')} had been planted, {result.removed:,} were removed; "
        f"{result.hits:,} of the removed edges had been planted.\n"
    )
    oracle = Score(result.attacked, result.removed, min(result.attacked, result.removed))
    table = results_table("", "this run", "oracle")
    table.add_column("definition", style="dim")
    rows = (
        ("ESR", "esr", "planted and removed, of all edges planted or removed"),
        ("F1", "f1", "the harmonic mean of precision and recall"),
        ("precision", "precision", "planted, of all removed edges"),
        ("recall (CR)", "cr", "removed, of all planted edges"),
    )
    for name, metric, definition in rows:
        values = (percent(getattr(one, metric)) for one in (result, oracle))
        table.add_row(Text(name, style="bold"), *values, definition)
    console.print(table)
    console.print(
        Text("\nThe oracle knows the clean graph and removes as many edges, planted ones first.", style="dim")
    )


def _show_restored(restored: Restored) -> None:
    screen().print(
        f"\n{count(restored.cut, 'edge')} had been cut by the attacker; restore proposed {restored.proposed:,}, "
        f"{restored.hits:,} of them rightly:\n"
        f"precision {percent(restored.precision)}, recall {percent(restored.recall)}."
    )

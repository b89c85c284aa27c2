"""``focusedcleaner apply``: write the graph without the edges that reviewers judged planted."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from focusedcleaner.cli.console import count, note, print_json, screen
from focusedcleaner.cli.inputs import check_output
from focusedcleaner.errors import InputError
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import classes_of_ends, known_classes
from focusedcleaner.review.export import Conflicts, SelectedEdges, select_edges
from focusedcleaner.review.store import FILE
from focusedcleaner.runs import read_run

DEFAULT = "reviewed.npz"


def run(
    run_folder: Path,
    out: Path | None,
    undecided_above: float | None,
    reviewer: str | None,
    conflicts: str,
    force: bool,
    json: bool,
) -> None:
    """Check the options, remove the edges, write the graph and print the result."""
    rule = _conflict_rule(conflicts, reviewer)
    out = out or run_folder / DEFAULT
    finished = read_run(run_folder)
    check_output(out, force=force, suffixes=SUFFIXES)
    if not (run_folder / FILE).is_file():
        raise InputError(f"{run_folder} has not been reviewed: focusedcleaner review {run_folder}")
    with open_store(finished, classes_of_ends(finished, known_classes(finished.graph))) as store:
        selection = select_edges(store, reviewer=reviewer, conflicts=rule, undecided_above=undecided_above)
        unjudged = store.counts()["open"]
    if len(finished.added):
        note(f"{count(len(finished.added), 'edge')} that the run inserted were not reviewed and are left out")
    graph = finished.poisoned.without_edges(finished.removed[selection.ranks - 1])
    save_graph(graph, out)
    if json:
        print_json(
            {
                "removed": len(selection.ranks),
                "judged_planted": len(selection.judged),
                "conflicts_taken_as_planted": len(selection.disputed),
                "undecided_above": len(selection.undecided),
                "conflicts_left": selection.left_in_conflict,
                "edges": graph.num_edges,
                "out": str(out),
            }
        )
    else:
        _show(selection, graph.num_edges, out, unjudged, undecided_above)


def _conflict_rule(conflicts: str, reviewer: str | None) -> Conflicts:
    for rule in get_args(Conflicts):
        if conflicts == rule:
            if reviewer is not None and rule != "skip":
                raise InputError("--reviewer takes one reviewer's word, so there is no conflict for --conflicts")
            return rule
    raise InputError(f"--conflicts is {', '.join(get_args(Conflicts))}, not {conflicts!r}")


def _show(selection: SelectedEdges, edges: int, out: Path, unjudged: int, undecided_above: float | None) -> None:
    parts = [f"{len(selection.judged):,} judged planted"]
    if len(selection.disputed):
        parts.append(f"{len(selection.disputed):,} in conflict")
    if undecided_above is not None:
        parts.append(f"{len(selection.undecided):,} undecided with a score of {undecided_above:g} or more")
    removed = f"{len(selection.ranks):,} removed: {', '.join(parts)}"
    screen().print(f"{out}  {count(edges, 'edge')}, {removed}", soft_wrap=True)
    if selection.left_in_conflict:
        note(f"{count(selection.left_in_conflict, 'edge')} in conflict stayed; --conflicts planted removes them")
    if unjudged and undecided_above is None:
        note(f"{count(unjudged, 'edge')} without a verdict stayed; --undecided-above SCORE removes the suspicious ones")

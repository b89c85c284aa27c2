"""``focusedcleaner apply``: the graph without the edges that reviewers judged planted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from focusedcleaner.cli.console import count, note, print_json, screen
from focusedcleaner.cli.review import check_output
from focusedcleaner.errors import InputError
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import classes_of_ends, known_classes
from focusedcleaner.review.export import Conflicts, SelectedEdges, select_edges
from focusedcleaner.review.store import FILE
from focusedcleaner.runs import read_run

DEFAULT = "reviewed.npz"


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    folder: Path
    out: Path | None
    reviewer: str | None
    conflicts: str
    undecided_above: float | None
    force: bool


def run(request: Request, *, json: bool) -> None:
    """Check everything, take the edges away, write the graph, tell what was done."""
    conflicts = _conflicts(request)
    out = request.out or request.folder / DEFAULT
    done = read_run(request.folder)
    check_output(out, force=request.force, kinds=SUFFIXES)
    if not (request.folder / FILE).is_file():
        raise InputError(f"{request.folder} has not been reviewed: focusedcleaner review {request.folder}")
    with open_store(done, classes_of_ends(done, known_classes(done.graph))) as store:
        picked = select_edges(
            store, reviewer=request.reviewer, conflicts=conflicts, undecided_above=request.undecided_above
        )
        unjudged = store.counts()["open"]
    if len(done.added):
        note(f"{count(len(done.added), 'edge')} that the run inserted were not reviewed and are left out")
    graph = done.poisoned.without_edges(done.removed[picked.ranks - 1])
    save_graph(graph, out)
    if json:
        print_json(_fields(picked, graph.num_edges, out))
    else:
        _show(picked, graph.num_edges, out, unjudged, request)


def _conflicts(request: Request) -> Conflicts:
    for kind in get_args(Conflicts):
        if request.conflicts == kind:
            if request.reviewer is not None and kind != "skip":
                raise InputError("--reviewer takes one reviewer's word, so there is no conflict for --conflicts")
            return kind
    raise InputError(f"--conflicts is {', '.join(get_args(Conflicts))}, not {request.conflicts!r}")


def _fields(picked: SelectedEdges, edges: int, out: Path) -> dict[str, object]:
    return {
        "removed": len(picked.ranks),
        "judged_planted": len(picked.judged),
        "conflicts_taken_as_planted": len(picked.disputed),
        "undecided_above": len(picked.undecided),
        "conflicts_left": picked.left_in_conflict,
        "edges": edges,
        "out": str(out),
    }


def _show(picked: SelectedEdges, edges: int, out: Path, unjudged: int, request: Request) -> None:
    parts = [f"{len(picked.judged):,} judged planted"]
    if len(picked.disputed):
        parts.append(f"{len(picked.disputed):,} in conflict")
    if request.undecided_above is not None:
        parts.append(f"{len(picked.undecided):,} undecided with a score of {request.undecided_above:g} or more")
    console = screen()
    console.print(f"{out}  {count(edges, 'edge')}, {len(picked.ranks):,} removed: {', '.join(parts)}", soft_wrap=True)
    if picked.left_in_conflict:
        note(f"{count(picked.left_in_conflict, 'edge')} in conflict stayed; --conflicts planted takes them out")
    if unjudged and request.undecided_above is None:
        note(
            f"{count(unjudged, 'edge')} without a verdict stayed; --undecided-above SCORE takes out the suspicious ones"
        )

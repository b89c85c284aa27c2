"""``focusedcleaner review`` and ``apply``: judge the edges of a run in the browser, and remove those judged planted."""

from __future__ import annotations

import getpass
import shlex
from contextlib import closing, suppress
from pathlib import Path
from typing import get_args

from rich.text import Text

from focusedcleaner.cli.console import count, note, print_json, screen
from focusedcleaner.cli.inputs import check_output
from focusedcleaner.cli.options import ApplyOptions, ReviewOptions
from focusedcleaner.cli.signals import deferred
from focusedcleaner.errors import InputError, MissingExtra
from focusedcleaner.graph import no_pairs
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.io.parquet_table import PARQUET
from focusedcleaner.io.transaction import write_files
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import classes_of_ends, known_classes, shown_classes
from focusedcleaner.review.edge_details import EdgeDetails
from focusedcleaner.review.export import KINDS, Conflicts, SelectedEdges, export, select_edges, unreviewed
from focusedcleaner.review.page import Review
from focusedcleaner.review.store import FILE, checked_reviewer
from focusedcleaner.run_columns import remaining_columns
from focusedcleaner.runs import Run, opened_run, original_for, original_suffix

REVIEWED = "reviewed"


def review(options: ReviewOptions) -> None:
    """Serve the page, or write the decisions to a file."""
    if options.export is not None:
        check_output(options.export, force=options.force, suffixes=tuple(f".{kind}" for kind in KINDS))
    with opened_run(options.run_folder) as opened:
        run = opened.flagged
        if not run.complete:
            note(f"{run.path} was interrupted; a review covers only the edges flagged so far: finish the run first")
        if options.export is not None:
            _export(run, options.export, json=options.json)
        else:
            _serve(run, options)


def _serve(run: Run, options: ReviewOptions) -> None:
    try:
        from focusedcleaner.review import server
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("focusedcleaner"):
            raise
        raise MissingExtra("the review page", "review") from None
    login = "reviewer"
    with suppress(OSError, KeyError):  # no user name, as in some containers
        login = getpass.getuser()
    reviewer = checked_reviewer(login if options.reviewer is None else options.reviewer)

    def ready(address: str) -> None:
        if options.json:
            print_json({"address": address, "edges": len(run.removed), "store": str(run.path / FILE)})
            return
        console = screen()
        console.print(Text.assemble("Review at ", (address, "bold")), soft_wrap=True)
        console.print_dim("Ctrl-C ends the review; every decision is saved at once. Afterwards:")
        console.print_line(f"  focusedcleaner apply {shlex.quote(str(run.path))}")

    with closing(server.listen(options.port)) as listener:
        classes = shown_classes(run)
        with open_store(run, classes_of_ends(run, classes)) as store:
            server.serve(
                Review(store, EdgeDetails(run, classes)),
                listener,
                reviewer=reviewer,
                title=run.path.resolve().name,
                browser=options.browser,
                ready=ready,
            )
    note(f"the review has ended; every decision is in {run.path / FILE}")


def _export(run: Run, path: Path, *, json: bool) -> None:
    with open_store(run, classes_of_ends(run, known_classes(run.graph))) as store:
        write_files({path: "".join(export(store, path.suffix[1:].lower())).encode()})
        counts = {str(status): number for status, number in store.counts().items()}
    if json:
        print_json({"out": str(path), **counts})
    else:
        verdicts = ", ".join(f"{number:,} {status}" for status, number in counts.items())
        screen().print_line(f"{path}  {verdicts}")


def apply(options: ApplyOptions) -> None:
    """Check the options, remove the edges, write the graph and print the result."""
    rule = _conflict_rule(options)
    threshold = options.undecided_above
    with opened_run(options.run_folder) as opened:
        run = opened.flagged
        suffix = PARQUET if run.stored is not None else original_suffix(run) or ".npz"
        out = options.out or run.path / f"{REVIEWED}{suffix}"
        check_output(out, force=options.force, suffixes=SUFFIXES)
        original = original_for(run, out)
        judged = (run.path / FILE).exists()
        if judged or options.reviewer is not None:
            with open_store(run) as store:
                selection = select_edges(store, reviewer=options.reviewer, conflicts=rule, undecided_above=threshold)
                unjudged = store.counts()["open"]
            judged = judged and (unjudged < len(run.removed) or threshold is not None)
        if not judged:
            selection, unjudged = unreviewed(opened, threshold), 0
        if len(run.added):
            note(f"{count(len(run.added), 'edge')} that the run inserted were not reviewed and are left out")
        removed = run.removed[selection.ranks - 1]
        graph = run.poisoned.without_edges(removed)
        with deferred():
            if run.stored is not None and out.suffix.lower() == PARQUET:
                write_files({out: remaining_columns(run.stored, removed, no_pairs())})
            elif original is None:
                save_graph(graph, out)
            else:
                write_files({out: original.content(run.poisoned, removed, no_pairs())})
    if options.json:
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
        return
    screen().print_line(f"{out}  {count(graph.num_edges, 'edge')}, {_summary(selection, threshold, judged)}")
    if not judged and threshold is None:
        edges = count(len(opened.removed), "edge")
        left = (
            f"the {edges} that the run removed are left out" if len(opened.removed) else "the run removed none either"
        )
        note(f"no edge was judged yet: {left}")
    if selection.left_in_conflict:
        note(f"{count(selection.left_in_conflict, 'edge')} in conflict stayed; --conflicts planted removes them")
    if unjudged and threshold is None:
        note(f"{count(unjudged, 'edge')} without a verdict stayed; --undecided-above SCORE removes the suspicious ones")


def _summary(selection: SelectedEdges, threshold: float | None, judged: bool) -> str:
    """How many edges were removed, and why."""
    parts = [f"{len(selection.judged):,} judged planted"] if judged else []
    if len(selection.disputed):
        parts.append(f"{len(selection.disputed):,} in conflict")
    if threshold is not None:
        parts.append(f"{len(selection.undecided):,} undecided with a score of {threshold:g} or more")
    return f"{len(selection.ranks):,} removed{': ' if parts else ''}{', '.join(parts)}"


def _conflict_rule(options: ApplyOptions) -> Conflicts:
    for rule in get_args(Conflicts):
        if options.conflicts == rule:
            if options.reviewer is not None and rule != "skip":
                raise InputError("--reviewer takes one reviewer's word, so there is no conflict for --conflicts")
            return rule
    raise InputError(f"--conflicts is {', '.join(get_args(Conflicts))}, not {options.conflicts!r}")

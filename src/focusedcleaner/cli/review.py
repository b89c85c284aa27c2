"""``focusedcleaner review``: judge the edges of a run on a page in the browser."""

from __future__ import annotations

import getpass
import shlex
from contextlib import closing
from pathlib import Path
from types import ModuleType

from rich.text import Text

from focusedcleaner.cli.console import note, print_json, screen
from focusedcleaner.cli.inputs import check_output
from focusedcleaner.errors import MissingExtra
from focusedcleaner.io.disk import write_files
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import all_classes, classes_of_ends, known_classes
from focusedcleaner.review.export import KINDS, export
from focusedcleaner.review.store import FILE, checked_reviewer
from focusedcleaner.runs import Run, read_run


def run(
    run_folder: Path,
    port: int,
    browser: bool,
    reviewer: str | None,
    export: Path | None,
    force: bool,
    json: bool,
) -> None:
    """Serve the page, or write the decisions to a file."""
    if export is not None:
        check_output(export, force=force, suffixes=tuple(f".{kind}" for kind in KINDS))
    server = _server() if export is None else None
    finished = read_run(run_folder)
    if not finished.complete:
        note(f"{run_folder} was interrupted; a review covers only the edges removed so far: finish the run first")
    if export is not None:
        _export(finished, export, json=json)
    elif server is not None:
        _serve(finished, server, port, browser, checked_reviewer(_login() if reviewer is None else reviewer), json=json)


def _server() -> ModuleType:
    try:
        from focusedcleaner.review import server
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.partition(".")[0] == "focusedcleaner":
            raise
        raise MissingExtra("the review page", "review") from None
    return server


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no user name, as in some containers
        return "reviewer"


def _serve(finished: Run, server: ModuleType, port: int, browser: bool, reviewer: str, *, json: bool) -> None:
    from focusedcleaner.review.edge_details import EdgeDetails
    from focusedcleaner.review.page import Review

    def ready(address: str) -> None:
        if json:
            print_json({"address": address, "edges": len(finished.removed), "store": str(finished.path / FILE)})
            return
        console = screen()
        console.print(Text.assemble("Review at ", (address, "bold")), soft_wrap=True)
        console.print(Text("Ctrl-C ends the review; every decision is saved at once. Afterwards:", style="dim"))
        console.print(f"  focusedcleaner apply {shlex.quote(str(finished.path))}", soft_wrap=True)

    with closing(server.listen(port)) as listener:
        classes = all_classes(finished.graph)
        with open_store(finished, classes_of_ends(finished, classes)) as store:
            server.serve(
                Review(store, EdgeDetails(finished, classes)),
                listener,
                reviewer=reviewer,
                title=finished.path.resolve().name,
                browser=browser,
                ready=ready,
            )
    note(f"the review has ended; every decision is in {finished.path / FILE}")


def _export(finished: Run, path: Path, *, json: bool) -> None:
    with open_store(finished, classes_of_ends(finished, known_classes(finished.graph))) as store:
        write_files({path: "".join(export(store, path.suffix[1:].lower())).encode()})
        counts = {str(status): number for status, number in store.counts().items()}
    if json:
        print_json({"out": str(path), **counts})
    else:
        verdicts = ", ".join(f"{number:,} {status}" for status, number in counts.items())
        screen().print(f"{path}  {verdicts}", soft_wrap=True)

"""``focusedcleaner review``: a run on a page, to be judged edge by edge."""

from __future__ import annotations

import getpass
import shlex
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from rich.text import Text

from focusedcleaner.cli.console import note, print_json, screen
from focusedcleaner.errors import InputError, MissingExtra
from focusedcleaner.io.disk import prefix_errors, write_files
from focusedcleaner.review import open_store
from focusedcleaner.review.classes import all_classes, classes_of_ends, known_classes
from focusedcleaner.review.export import KINDS, export
from focusedcleaner.review.store import FILE, checked_reviewer
from focusedcleaner.runs import Run, read_run


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    folder: Path
    port: int
    browser: bool
    reviewer: str | None
    export: Path | None
    force: bool


def run(request: Request, *, json: bool) -> None:
    """Serve the page, or write the decisions to a file."""
    if request.export is not None:
        check_output(request.export, force=request.force, kinds=tuple(f".{kind}" for kind in KINDS))
    server = _server() if request.export is None else None
    done = read_run(request.folder)
    if not done.complete:
        note(f"{request.folder} was interrupted; a review belongs to the edges found so far, so finish the run first")
    if server is None:
        _export(request, done, json=json)
    else:
        _serve(request, done, server, json=json)


def _server() -> ModuleType:
    try:
        from focusedcleaner.review import server
    except ModuleNotFoundError as missing:
        if missing.name is not None and missing.name.partition(".")[0] == "focusedcleaner":
            raise
        raise MissingExtra("the review page", "review") from None
    return server


def _serve(request: Request, done: Run, server: ModuleType, *, json: bool) -> None:
    from focusedcleaner.review.edge_details import EdgeDetails
    from focusedcleaner.review.page import Review

    reviewer = checked_reviewer(_login() if request.reviewer is None else request.reviewer)
    with closing(server.listen(request.port)) as listener:
        classes = all_classes(done.graph)
        with open_store(done, classes_of_ends(done, classes)) as store:

            def ready(address: str) -> None:
                _tell(request, address, len(done.removed), json=json)

            server.serve(
                Review(store, EdgeDetails(done, classes)),
                listener,
                reviewer=reviewer,
                title=done.path.resolve().name,
                browser=request.browser,
                ready=ready,
            )
    note(f"ended; every decision is in {request.folder / FILE}")


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # nobody in particular, as in some containers
        return "reviewer"


def _tell(request: Request, address: str, edges: int, *, json: bool) -> None:
    if json:
        print_json({"address": address, "edges": edges, "store": str(request.folder / FILE)})
        return
    console = screen()
    console.print(Text.assemble("Review at ", (address, "bold")), soft_wrap=True)
    console.print(Text("Ctrl-C ends it; every decision is kept as it is made. Afterwards:", style="dim"))
    console.print(f"  focusedcleaner apply {shlex.quote(str(request.folder))}", soft_wrap=True)


def _export(request: Request, done: Run, *, json: bool) -> None:
    assert request.export is not None
    with open_store(done, classes_of_ends(done, known_classes(done.graph))) as store:
        write_files({request.export: "".join(export(store, request.export.suffix[1:].lower())).encode()})
        counts = {str(status): number for status, number in store.counts().items()}
    if json:
        print_json({"out": str(request.export), **counts})
    else:
        words = ", ".join(f"{number:,} {status}" for status, number in counts.items())
        screen().print(f"{request.export}  {words}", soft_wrap=True)


def check_output(path: Path, *, force: bool, kinds: tuple[str, ...]) -> None:
    """Refuse a file that can't be written, or that is there already unless that is meant."""
    with prefix_errors(path):
        if path.suffix.lower() not in kinds:
            raise InputError(f"its name must end in {' or '.join(kinds)}")
        if path.is_dir():
            raise InputError("is a folder, not a file")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
        if path.exists() and not force:
            raise InputError("exists already: choose another name, or replace it with --force")

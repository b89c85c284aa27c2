"""``focusedcleaner sanitize``: a graph in, a run folder out."""

from __future__ import annotations

import json as json_format
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from focusedcleaner.budget import AUTO
from focusedcleaner.cli.console import Stopped, count, note, print_json, progress_bar
from focusedcleaner.cli.inputs import GraphSource, with_some_split
from focusedcleaner.cli.summary import show
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.report import write_report
from focusedcleaner.runs import RECORD, REPORT, RunFolder, check_same, free_path, read_record, read_run
from focusedcleaner.sanitizers import Interrupted, Sanitation, Sanitizer, default_method, sanitizer
from focusedcleaner.sanitizers.base import check_sanitizable
from focusedcleaner.scoring import aligned
from focusedcleaner.settings import parse_pairs


@dataclass(frozen=True)
class Request:
    """What the user asked for."""

    given: GraphSource
    method: str | None
    """None for CLD where there are settings, else for the one that suits the graph."""
    budget: str | None
    """None for the method's default."""
    out: Path | None
    settings: tuple[str, ...]
    seed: int
    resume: bool
    truth: GraphSource | None = None
    """The clean graph, for the report alone."""


def run(request: Request, *, typed: Sequence[str], json: bool) -> None:
    """Check everything, clean the graph, write the run folder, tell the result.

    Args:
        request: what to do.
        typed: the command's words, to tell how to go on after an interruption.
        json: whether to print one JSON object.
    """
    name = request.method or ("cld" if request.settings else None)
    method = None if name is None else sanitizer(name, **parse_pairs(list(request.settings)))
    if request.resume and request.out is None:
        raise InputError("--resume needs --out: the folder of the run that is to go on")
    out = request.out or free_path(request.given.graph, name or "cleaned")
    with parent_made(out, request.out is None), RunFolder.opened(out, resume=request.resume) as folder:
        graph = with_some_split(request.given.read(), request.seed)
        method = method or sanitizer(default_method(graph))
        clean = None if request.truth is None else aligned(request.truth.read(), graph)
        before = _earlier(folder, method, graph, request)
        computes = before is None or before["status"] != "complete"
        if computes:
            _compute(method, graph, request, folder, before, _again(typed, out), clean)
    done = read_run(out)
    if clean is not None and not computes:
        write_report(done, out / REPORT, truth=clean)
    if json:
        keys = ("method", "budget", "removed", *(("added",) if len(done.added) else ()), "seconds")
        print_json({key: done.record[key] for key in keys} | {"out": str(out)})
    else:
        show(done)


@contextmanager
def parent_made(out: Path, wanted: bool) -> Iterator[None]:
    """Make the folder for runs where the user named none; it goes again if nothing came to be in it."""
    if wanted:
        try:
            out.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise InputError(f"the folder {out.parent} can't be made: {error.strerror}; --out names another") from None
    try:
        yield
    finally:
        if wanted and not any(out.parent.iterdir()):
            out.parent.rmdir()


def _earlier(folder: RunFolder, method: Sanitizer, graph: Graph, request: Request) -> Mapping[str, Any] | None:
    """The record of the run that is to go on, if there is one, after making sure that it was the same run."""
    if not (folder.work / RECORD).is_file():
        if request.resume and not folder.checkpoint.exists():
            note(f"there is nothing in {folder.path} to go on from, so the run begins at the beginning")
        return None
    check_sanitizable(graph)
    allowed = method.allowed(graph, request.budget)
    now = {
        "method": method.name,
        "settings": json_format.loads(json_format.dumps(method.settings())),
        "budget": AUTO if allowed is None else allowed,
        "seed": request.seed,
        "fingerprint": graph.fingerprint(),
    }
    record = read_record(folder.work)
    check_same(folder.path, record, now)
    if record["status"] == "complete":
        note(f"{folder.path} is complete already")
    elif not folder.checkpoint.exists():
        note(f"{folder.path} has lost its checkpoint, so the run begins at the beginning")
    return record


def _compute(
    method: Sanitizer,
    graph: Graph,
    request: Request,
    folder: RunFolder,
    before: Mapping[str, Any] | None,
    again: str,
    clean: Graph | None,
) -> None:
    source = request.given.record()
    earlier = float(before["seconds"]) if before is not None and folder.checkpoint.exists() else 0.0

    def timed(sanitation: Sanitation) -> Sanitation:
        return replace(sanitation, seconds=earlier + sanitation.seconds)

    try:
        with progress_bar("Removing edges") as progress:
            sanitation = method.sanitize(
                graph, request.budget, seed=request.seed, progress=progress, checkpoint=folder.checkpoint
            )
    except Interrupted as stop:
        so_far = stop.sanitation
        changed = len(so_far.removed) + len(so_far.added)
        if not changed:
            raise Stopped("interrupted before the first edge was removed; nothing was written") from None
        folder.finish(timed(so_far), source, status="interrupted")
        write_report(read_run(folder.path), folder.path / REPORT, truth=clean)
        raise Stopped(
            f"interrupted after {_progress(changed, so_far)}; what was found so far is in {folder.path}; "
            f"go on with: {again}"
        ) from None
    except KeyboardInterrupt:
        kept = f"; go on with: {again}" if folder.checkpoint.exists() else "; nothing was written"
        raise Stopped(f"interrupted{kept}") from None
    folder.finish(timed(sanitation), source)
    write_report(read_run(folder.path), folder.path / REPORT, truth=clean)


def _progress(changed: int, so_far: Sanitation) -> str:
    return count(changed, "edge") if so_far.auto else f"{changed:,} of {so_far.budget:,} edges"


def _again(typed: Sequence[str], out: Path) -> str:
    """The command that goes on with an interrupted run."""
    words = ["focusedcleaner", *typed]
    if not any(word == "--out" or word.startswith("--out=") for word in typed):
        words += ["--out", str(out)]
    return shlex.join(words if "--resume" in typed else [*words, "--resume"])

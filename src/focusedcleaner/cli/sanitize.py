"""``focusedcleaner sanitize``: clean a graph and write a run folder."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from focusedcleaner import runs
from focusedcleaner.budget import AUTO
from focusedcleaner.checking import check_graph
from focusedcleaner.cli.console import (
    Stopped,
    edge_list,
    grid,
    note,
    print_facts,
    print_json,
    progress_bar,
    resume_command,
    screen,
)
from focusedcleaner.cli.inputs import note_drawn_split, read_graph, read_truth, source_record, table_options
from focusedcleaner.cli.options import SanitizeOptions
from focusedcleaner.cli.signals import deferred
from focusedcleaner.engine.parallel import Executor
from focusedcleaner.errors import InputError, ResumableRun, recorded_warnings
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import Graph
from focusedcleaner.io.original import ORIGINAL_SUFFIXES, Original, open_original
from focusedcleaner.report import write_report
from focusedcleaner.run_columns import as_parquet
from focusedcleaner.run_record import RECORD, Status, check_same_configuration, read_record
from focusedcleaner.runs import Run, RunFolder, read_run
from focusedcleaner.sanitizers import (
    SANITIZERS,
    Interrupted,
    Sanitation,
    Sanitizer,
    check_offers,
    default_method,
    preset_settings,
    sanitizer,
    sanitizer_for,
)
from focusedcleaner.sanitizers.checks import check_sanitizable
from focusedcleaner.scoring import score
from focusedcleaner.settings import parse_pairs

SHOWN_EDGES = 5
ENGINES = ("local", "ray")
ANYWAY = ("--budget 5%", "added to the command, removes the first 5 % of the edges")


def sanitize(options: SanitizeOptions) -> None:
    """Check the options, clean the graph, write the run folder and print the result."""
    extra = {"edges_per_round": options.edges_per_round, "purpose": options.purpose}
    pairs = [f"{name}={value}" for name, value in extra.items() if value is not None]
    settings: Mapping[str, object] = parse_pairs([*(options.settings or []), *pairs])
    if options.preset is not None:
        name, preset = preset_settings(options.preset, options.method)
        options, settings = replace(options, method=name), {**preset, **settings}
    if options.method != AUTO:
        _make(options, options.method, settings)  # refuses a wrong setting before the graph is read
    check_engine(options)
    if options.resume and options.out is None:
        raise InputError("--resume needs --out: the folder of the interrupted run")
    with ExitStack() as stack:
        if options.out is None:
            stack.enter_context(runs_folder())
        else:
            try:
                folder = stack.enter_context(RunFolder.opened(options.out, resume=options.resume))
            except ResumableRun as error:
                raise InputError(f"{error}; to continue: {resume_command(options.ctx.obj)}") from None
        executor = stack.enter_context(chosen_engine(options))
        with recorded_warnings() as notes:
            given = read_graph(options)
        graph = given.with_drawn_split(options.seed, hide=False)
        method = _make(options, default_method(graph) if options.method == AUTO else options.method, settings, graph)
        clean = None if options.truth is None else read_truth(options.truth, options, graph)
        if options.out is None:
            folder = stack.enter_context(RunFolder.opened(runs.free_path(options.graph, method.name)))
        earlier = _earlier_record(folder, method, graph, options)
        if earlier is None or earlier["status"] != "complete":
            before = float(earlier["seconds"]) if earlier and folder.checkpoint.exists() else 0.0
            _introduce(given, graph, method, options)
            _compute(folder, method, graph, clean, options, executor, seconds=before, notes=notes)
        elif clean is not None or not (folder.path / runs.REPORT).exists():
            write_run_report(folder.path, clean)
    run = read_run(folder.path)
    if options.json:
        print_json(_fields(run, clean))
    else:
        _show(run, clean)


def _make(options: SanitizeOptions, name: str, settings: Mapping[str, object], graph: Graph | None = None) -> Sanitizer:
    """The method of that name or, with the graph, the one that the options ask for."""
    if options.purpose is not None and "purpose" not in SANITIZERS[name].names():
        others = ", ".join(method.name for method in SANITIZERS if "purpose" in method.names()) or "no method"
        raise InputError(f"{name} has no purpose to choose: --for is for {others}")
    method = sanitizer(name, **settings) if graph is None else sanitizer_for(graph, options.method, settings)
    check_offers(method, scores=options.scores)
    return method


def _introduce(given: Graph, graph: Graph, method: Sanitizer, options: SanitizeOptions) -> None:
    """Say what was read, which method works on it and how long that takes, once it is clear that the run can start.

    ``given`` is the graph before a split was drawn.
    """
    check_sanitizable(graph, method.name, labels=method.needs_labels)
    method.allowed(graph, options.budget)
    if not options.json:
        found = check_graph(given, method=None if options.method == AUTO else method, seed=options.seed)
        print_facts(found.short_form)
    elif graph is not given:
        note_drawn_split(graph, options.seed)


def _fields(run: Run, clean: Graph | None) -> dict[str, Any]:
    """What ``--json`` prints."""
    verdict, record = run.verdict.to_dict(), run.record
    return {
        **{key: verdict[key] for key in ("status", "reason")},
        "estimate": record["estimate"],
        **{key: verdict[key] for key in ("expected_precision", "expected_false_alarms", "caveat", "rule")},
        **{key: record[key] for key in ("method", "budget", "removed")},
        **({"added": record["added"]} if record["added"] else {}),
        **{key: record[key] for key in ("suspects", "warnings", "seconds")},
        **({} if clean is None else {"score": score(run.removed, poisoned=run.poisoned, clean=clean).to_dict()}),
        "out": str(run.path),
    }


@contextmanager
def runs_folder() -> Iterator[None]:
    """Make the folder ``runs``; remove it again if it stays empty."""
    folder = Path("runs")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder {folder} can't be made: {error.strerror}; --out names another") from None
    try:
        yield
    finally:
        with suppress(OSError):  # it is not empty
            folder.rmdir()


def write_run_report(folder: Path, clean: Graph | None) -> None:
    """Write the report of a run that was just saved into its folder."""
    write_report(read_run(folder), folder / runs.REPORT, truth=clean)


def _earlier_record(
    folder: RunFolder, method: Sanitizer, graph: Graph, options: SanitizeOptions
) -> dict[str, Any] | None:
    """The record of the run to resume, if there is one; its configuration must be the same."""
    if not (folder.work / RECORD).is_file():
        if options.resume and not folder.checkpoint.exists():
            note(f"there is no run in {folder.path} to resume, so the run starts from the beginning")
        return None
    check_sanitizable(graph, method.name, labels=method.needs_labels)
    allowed = method.allowed(graph, options.budget)
    configuration = {
        "method": method.name,
        "settings": json.loads(json.dumps(method.settings())),
        "budget": AUTO if allowed is None else allowed,
        "seed": options.seed,
        "fingerprint": graph.fingerprint(),
    }
    record = read_record(folder.work)
    check_same_configuration(folder.path, record, configuration)
    if record["status"] == "complete":
        if options.scores and not (folder.work / _name(runs.SCORES, graph)).exists():
            raise InputError(f"{folder.path} is complete and has no {_name(runs.SCORES, graph)}: choose another folder")
        note(f"{folder.path} is complete already")
    elif not folder.checkpoint.exists():
        note(f"{folder.path} has lost its checkpoint, so the run starts from the beginning")
    return record


def _compute(
    folder: RunFolder,
    method: Sanitizer,
    graph: Graph,
    clean: Graph | None,
    options: SanitizeOptions,
    executor: Executor | None,
    *,
    seconds: float,
    notes: list[str],
) -> None:
    """Clean the graph and save the result; after Ctrl-C, the result so far.

    ``seconds`` were spent before, and ``notes`` are the warnings about the graph's file.
    """
    again = resume_command(options.ctx.obj, *(["--out", str(folder.path)] if options.out is None else []))
    source = source_record(options)

    def save(sanitation: Sanitation, status: Status) -> None:
        with deferred():
            whole = replace(sanitation, seconds=seconds + sanitation.seconds, warnings=(*notes, *sanitation.warnings))
            folder.finish(whole, source, status=status, scores=options.scores, original=_original(options, source))
            if options.scores and whole.edge_scores is None:
                note(f"no {_name(runs.SCORES, graph)} was written: {whole.headline}")
            write_run_report(folder.path, clean)

    try:
        with progress_bar("Looking for planted edges") as progress:
            sanitation = method.sanitize(
                graph,
                options.budget,
                seed=options.seed,
                progress=progress,
                checkpoint=folder.checkpoint,
                threads=options.threads,
                executor=executor,
            )
    except Interrupted as stop:
        partial = stop.sanitation
        changed = len(partial.removed) + len(partial.added) or len(partial.suspects)
        if not changed:
            raise Stopped("interrupted before the first edge was found; nothing was written") from None
        save(partial, "interrupted")
        done = f"after {count(changed, 'edge') if partial.auto else f'{changed:,} of {partial.budget:,} edges'}"
        if not len(partial.removed) + len(partial.added):
            done = f"with {count(changed, 'suspicious edge')} listed so far"
        kept = f"the result so far is in {folder.path}; continue with: {again}"
        raise Stopped(f"interrupted {done}; {kept}") from None
    except KeyboardInterrupt:
        kept = f"continue with: {again}" if folder.checkpoint.exists() else "nothing was written"
        raise Stopped(f"interrupted; {kept}") from None
    try:
        save(sanitation, "complete")
    except KeyboardInterrupt:
        raise Stopped(f"interrupted; the run was finished and is in {folder.path}") from None


@contextmanager
def chosen_engine(options: SanitizeOptions) -> Iterator[Executor | None]:
    """The executor that ``--engine`` asks for; None for threads of this process."""
    if options.engine == "local":
        yield None
        return
    from focusedcleaner.engine.ray_blocks import ray_executor

    with ray_executor(options.address) as executor:
        yield executor


def check_engine(options: SanitizeOptions) -> None:
    """Refuse an unknown engine, and an address that no engine uses."""
    if options.engine not in ENGINES:
        raise InputError(f"there is no engine {options.engine!r}: it is {' or '.join(ENGINES)}")
    if options.address is not None and options.engine != "ray":
        raise InputError("--address is that of a Ray cluster: add --engine ray")


def _original(options: SanitizeOptions, source: Mapping[str, Any]) -> Original | None:
    """The file that the graph was read from, if it is one that can be written again; a note if it has changed."""
    path = Path(options.graph)
    if path.suffix.lower() not in ORIGINAL_SUFFIXES or not path.is_file() or options.adjacency is not None:
        return None
    try:
        return open_original(path, table_options(options), sha256=source.get("sha256"))
    except InputError as error:
        note(f"{error}, so there is no cleaned copy of it")
        return None


def _name(table: str, graph: Graph) -> str:
    """The file of a table: Parquet for a graph folder."""
    return table if graph.stored is None else as_parquet(table)


def _cleaned(run: Run) -> Path:
    """The cleaned graph, as its file came in if there is such a copy."""
    if run.stored is not None:
        return run.path / as_parquet(runs.CLEANED)
    suffix = runs.original_suffix(run)
    path = run.path / f"{runs.CLEANED}{suffix}"
    return path if suffix is not None and path.is_file() else run.path / runs.GRAPH


def _show(run: Run, clean: Graph | None) -> None:
    """Print the verdict, what was done, the most suspicious edges, and where the results are."""
    console, listed = screen(), run.flagged
    method, record = run.record["method"], run.record
    console.print_heading(run.headline)
    if run.verdict.explanation:
        console.print(run.verdict.explanation)
    added = f" and added {len(run.added):,} others" if len(run.added) else ""
    removed = f"{len(run.removed):,}" if len(run.removed) else "none"
    console.print(f"Removed {removed} of {count(run.poisoned.num_edges, 'edge')}{added}.", "")
    facts = grid(style="dim")
    facts.add_row("method", f"{method}: {SANITIZERS[method].summary}" if method in SANITIZERS.names() else method)
    facts.add_row("budget", _budget(run))
    facts.add_row("time", f"{record['seconds']:.1f} s")
    if not math.isnan(run.poisoned.homophily) and run.poisoned.has_several_classes:
        before, after = percent(run.poisoned.homophily), percent(run.graph.homophily)
        facts.add_row("same class", f"{before} of the edges before, {after} after (where both classes are known)")
    if clean is not None:
        facts.add_row("truth", score(run.removed, poisoned=run.poisoned, clean=clean).sentence)
    console.print(facts, "")
    if len(listed.removed):
        title = "The first edges that were removed" if len(run.removed) else "Most suspicious edges; none was removed"
        console.print_heading(title)
        console.print(edge_list(run.graph, listed.removed[:SHOWN_EDGES], listed.evidence, listed.scores), "")
    path = shlex.quote(str(run.path))
    compare = (f"focusedcleaner score {path} --truth CLEAN", "compare with the clean graph, if you have it")
    console.print_pointers(
        "Results",
        (str(run.path / runs.REPORT), "the report: open it in a browser"),
        *_tables(run),
        (str(_cleaned(run)), "the cleaned graph" if len(run.removed) + len(run.added) else "the graph, as it was"),
        *([(f"focusedcleaner review {path}", "judge the edges one by one")] if len(listed.removed) else []),
        *([] if clean is not None else [compare]),
        *([] if len(run.removed) or run.verdict.status == "no sign" else [ANYWAY]),
    )


def _tables(run: Run) -> Iterator[tuple[str, str]]:
    """The tables of edges that a run has, each with a description."""
    for name, description, is_there in (
        (runs.REMOVED, "every removed edge, with its evidence", len(run.removed) > 0),
        (runs.ADDED, "every added edge", len(run.added) > 0),
        (runs.SUSPECTS, "suspicious edges that were not removed", len(run.suspects) > 0),
        (runs.SCORES, "the score of every edge", (run.path / run.table_name(runs.SCORES)).exists()),
    ):
        if is_there:
            yield str(run.path / run.table_name(name)), description


def _budget(run: Run) -> str:
    """The budget and, if not all of it was used, the reason."""
    budget, changed = run.record["budget"], len(run.removed) + len(run.added)
    if run.record["auto_budget"]:
        return f"{count(changed, 'edge')}, as the method chose" if changed else "none was given"
    shortfall = f"; after {changed:,} no candidate was left" if changed < budget else ""
    return f"{count(budget, 'edge')}{shortfall}"

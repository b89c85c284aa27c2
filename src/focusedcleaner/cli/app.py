"""The commands and their options."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from focusedcleaner.cli.options import (
    AdjacencyOption,
    ComponentOption,
    ForceSplitOption,
    GraphArgument,
    JsonOption,
    NodesOption,
    RunArgument,
    SeedOption,
    SplitOption,
)
from focusedcleaner.errors import InputError

# Some versions of typer bring their own click and some use click's: the root of its usage errors is found, not named.
_UsageProblem: type[Exception] = typer.BadParameter.__mro__[2]


class OneLineErrors(TyperGroup):
    """Tells a user's mistakes and interruptions in one line, with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise _failed(f"error: {error}") from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except KeyboardInterrupt as stop:
            raise _failed(str(stop) or "interrupted") from None

    def main(self, args: Sequence[str] | None = None, *more: Any, **options: Any) -> Any:
        given = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(given, *more, **{**options, "standalone_mode": False, "obj": given})
        except _UsageProblem as problem:
            code = _failed(f"error: {getattr(problem, 'format_message', problem.__str__)()}").exit_code
        if options.get("standalone_mode", True):
            sys.exit(code)
        return code


def _failed(line: str) -> typer.Exit:
    typer.echo(" ".join(line.split()), err=True)
    return typer.Exit(2)


app = typer.Typer(cls=OneLineErrors, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
datasets_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(datasets_app, name="datasets")


def _print_version(asked: bool) -> None:
    if asked:
        from focusedcleaner import __version__

        typer.echo(f"focusedcleaner {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Finds and removes the edges that an attacker planted in a graph."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command()
def demo(seed: SeedOption = 0, json: JsonOption = False) -> None:
    """Poison a real graph, clean it, and show what happened."""
    from focusedcleaner.cli.demo import run

    run(seed=seed, json=json)


@datasets_app.callback(invoke_without_command=True)
def datasets(ctx: typer.Context, json: JsonOption = False) -> None:
    """Which data sets there are, where they come from, and their checksums."""
    if ctx.invoked_subcommand is None:
        from focusedcleaner.cli.datasets import show_all

        show_all(json=json)


@datasets_app.command("list")
def datasets_list(json: JsonOption = False) -> None:
    """List the data sets."""
    from focusedcleaner.cli.datasets import show_all

    show_all(json=json)


@datasets_app.command("get")
def datasets_get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set's name.")], json: JsonOption = False
) -> None:
    """Fetch a data set, unless it is here already, and say where it is."""
    from focusedcleaner.cli.datasets import fetch

    fetch(name, json=json)


@app.command()
def attack(
    ctx: typer.Context,
    graph: GraphArgument,
    method: Annotated[
        str, typer.Option("--method", metavar="NAME", help="mettack, dice, … (see: methods).")
    ] = "mettack",
    power: Annotated[
        str,
        typer.Option("--power", help="Pairs that may be flipped: 10%, 0.1 or 500; a list (5%,10%) gives a file each."),
    ] = "10%",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The poisoned graph file, which must not exist.")
    ] = None,
    targets: Annotated[
        str | None, typer.Option("--targets", metavar="NODES", help="Whom nettack attacks: node ids, by commas.")
    ] = None,
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    split: SplitOption = None,
    force_split: ForceSplitOption = False,
    largest_component: ComponentOption = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the attack; repeatable.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an attack that was interrupted.")] = False,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Poison a graph, to test how robust a model or a sanitizer is."""
    from focusedcleaner.cli.attack import Request, run
    from focusedcleaner.cli.inputs import GraphSource

    given = GraphSource(graph, nodes, adjacency, split, largest_component, force_split)
    request = Request(given, method, power, out, targets, tuple(settings or ()), seed, resume)
    run(request, typed=ctx.obj or [], json=json)


@app.command()
def sanitize(
    ctx: typer.Context,
    graph: GraphArgument,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            metavar="NAME",
            help="cld, lp, … (see: methods). \\[default: self-attack if there are attributes and 2,000 to 200,000 "
            "edges, else cld]",
            show_default=False,
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            help="Edges that may be removed: 10%, 0.1 (a share), 500 (a number), or auto: the method chooses, if it "
            "can. \\[default: auto if it can, else 10%]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="RUN", help="The folder for the results, which must not exist.")
    ] = None,
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    split: SplitOption = None,
    force_split: ForceSplitOption = False,
    largest_component: ComponentOption = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the method; repeatable.")
    ] = None,
    edges_per_round: Annotated[
        int | None, typer.Option("--edges-per-round", min=1, help="Edges removed at a time; 1 is the paper's way.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that was interrupted.")] = False,
    truth: Annotated[
        str | None,
        typer.Option("--truth", metavar="GRAPH", help="The clean graph, for the report; the method never sees it."),
    ] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Remove the edges that an attacker most likely planted."""
    from focusedcleaner.cli.inputs import GraphSource
    from focusedcleaner.cli.sanitize import Request, run

    pairs = [*(settings or []), *([] if edges_per_round is None else [f"edges_per_round={edges_per_round}"])]
    given = GraphSource(graph, nodes, adjacency, split, largest_component, force_split)
    clean = None if truth is None else GraphSource(truth)
    run(Request(given, method, budget, out, tuple(pairs), seed, resume, clean), typed=ctx.obj or [], json=json)


@app.command()
def score(
    run_folder: RunArgument,
    truth: Annotated[str, typer.Option("--truth", metavar="GRAPH", help="The clean graph: a name or a graph file.")],
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    largest_component: ComponentOption = False,
    json: JsonOption = False,
) -> None:
    """Compare what was removed with what was planted: ESR, F1 and CR beside the oracle's."""
    from focusedcleaner.cli.inputs import GraphSource
    from focusedcleaner.cli.score import run

    run(run_folder, GraphSource(truth, nodes, adjacency, None, largest_component), json=json)


@app.command()
def classify(
    graph: GraphArgument,
    model: Annotated[
        str, typer.Option("--model", metavar="NAMES", help="gcn, …: one, several by commas, or all (see: methods).")
    ] = "gcn",
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How often each model is trained.")] = 10,
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    split: SplitOption = None,
    force_split: ForceSplitOption = False,
    largest_component: ComponentOption = False,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the model; repeatable.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=2**32 - 1, help="The first seed; the others follow it.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Train models on a graph, or on what sanitize left of it, and tell their accuracy."""
    from focusedcleaner.cli.classify import Request, run
    from focusedcleaner.cli.inputs import GraphSource

    given = GraphSource(graph, nodes, adjacency, split, largest_component, force_split)
    run(Request(given, model, seeds, seed, tuple(settings or ())), json=json)


@app.command()
def review(
    run_folder: RunArgument,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Where to serve the page; 0 takes any free port.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", metavar="NAME", help="Who judges; the page can change it.")
    ] = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write the decisions to a .csv or .json, and serve nothing."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the exported file if it exists.")] = False,
    json: JsonOption = False,
) -> None:
    """Judge the flagged edges on a page in the browser, on this machine only."""
    from focusedcleaner.cli.review import Request, run

    run(Request(run_folder, port, browser, reviewer, export, force), json=json)


@app.command()
def apply(
    run_folder: Annotated[Path, typer.Argument(metavar="RUN", help="The folder that was reviewed.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The graph file. \\[default: RUN/reviewed.npz]")
    ] = None,
    undecided_above: Annotated[
        float | None,
        typer.Option("--undecided-above", metavar="SCORE", help="Remove unjudged edges with this score or more, too."),
    ] = None,
    reviewer: Annotated[
        str | None, typer.Option("--reviewer", metavar="NAME", help="Take this reviewer's word alone.")
    ] = None,
    conflicts: Annotated[
        str, typer.Option("--conflicts", help="What disputed edges are: planted, genuine, or skip (they stay).")
    ] = "skip",
    force: Annotated[bool, typer.Option("--force", help="Replace the graph file if it exists.")] = False,
    json: JsonOption = False,
) -> None:
    """Build the graph without the edges that were judged planted."""
    from focusedcleaner.cli.apply import Request, run

    run(Request(run_folder, out, reviewer, conflicts, undecided_above, force), json=json)


@app.command()
def restore(
    run_folder: RunArgument,
    limit: Annotated[
        str, typer.Option("--limit", help="Edges to propose at most: 100, or 1% of the cleaned graph's edges.")
    ] = "100",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Also write the cleaned graph with the proposals inserted."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the graph file if it exists.")] = False,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Propose edges that the attacker may have removed; none is inserted unless --out asks for it."""
    from focusedcleaner.cli.restore import Request, run

    run(Request(run_folder, limit, seed, out, force), json=json)


@app.command()
def reproduce(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names of experiments (see --list).", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Run all eighteen experiments.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List the experiments and exit.")] = False,
    profile: Annotated[
        str,
        typer.Option("--profile", metavar="NAME", help="full, or quick: one data set, two powers, two seeds."),
    ] = "full",
    data: Annotated[
        str | None,
        typer.Option("--data", metavar="NAMES", help="Only these data sets, comma-separated."),
    ] = None,
    engine: Annotated[str, typer.Option("--engine", metavar="NAME", help="local, or ray for a cluster.")] = "local",
    address: Annotated[
        str | None,
        typer.Option("--address", help="host:port of the Ray cluster. \\[default: one on this machine]"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Cells computed at a time. \\[default: one per core]")
    ] = None,
    store: Annotated[Path | None, typer.Option("--store", metavar="FOLDER", help="Folder of the results.")] = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FOLDER", help="Folder for tables and figures.")] = None,
    only: Annotated[str, typer.Option("--only", metavar="TEXT", help="Only cells with this text in their name.")] = "",
    max_minutes: Annotated[
        float | None, typer.Option("--max-minutes", min=0, help="Start no new cell after this many minutes.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be computed, and for how long.")] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Compute nothing; write tables, figures and page from existing results.")
    ] = False,
    export: Annotated[
        bool, typer.Option("--export", help="Write the results to the package, for the repository.")
    ] = False,
) -> None:
    """Reproduce the paper's tables and figures, and compare with its numbers."""
    from focusedcleaner.cli.reproduce import Request, run, show_list

    if list_:
        show_list()
        return
    request = Request(
        tuple(names or ()),
        everything,
        profile,
        data,
        engine,
        address,
        workers,
        store,
        out,
        only,
        max_minutes,
        dry_run,
        page,
        export,
    )
    run(request)


@app.command()
def report(
    run_folder: RunArgument,
    truth: Annotated[
        str | None, typer.Option("--truth", metavar="GRAPH", help="The clean graph, if you know it: a name or a file.")
    ] = None,
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    largest_component: ComponentOption = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="The report. \\[default: RUN/report.html, replaced]")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a run's report anew, with what is planted and what is not if the truth is given."""
    from focusedcleaner.cli.inputs import GraphSource
    from focusedcleaner.cli.report import run

    clean = None if truth is None else GraphSource(truth, nodes, adjacency, None, largest_component)
    run(run_folder, clean, out, json=json)


@app.command()
def methods(json: JsonOption = False) -> None:
    """List the methods that are known by name, with their settings."""
    from focusedcleaner.cli.methods import show

    show(json=json)

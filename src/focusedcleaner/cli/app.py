"""The commands: their options and help texts.

A command's code is in the module of its name and is imported when the command runs, so that ``--help`` needs neither
torch nor numpy.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from focusedcleaner.cli.options import (
    AdjacencyOption,
    ComponentOption,
    ForceOption,
    GraphSource,
    JsonOption,
    NodesOption,
    ResumeOption,
    RunArgument,
    SeedOption,
    SettingsOption,
    option,
)
from focusedcleaner.errors import InputError

# Some versions of typer bundle click and some import it: the base class of its usage errors is found, not named.
_UsageError: type[Exception] = typer.BadParameter.__mro__[2]


class OneLineErrors(TyperGroup):
    """Reports input errors, usage errors and interruptions in one line, with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise _failure(f"error: {error}") from None
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(1) from None
        except KeyboardInterrupt as stop:
            raise _failure(str(stop) or "interrupted") from None

    def main(self, args: Sequence[str] | None = None, *more: Any, **options: Any) -> Any:
        words = list(sys.argv[1:] if args is None else args)
        try:
            code = super().main(words, *more, **{**options, "standalone_mode": False, "obj": words})
        except _UsageError as error:
            code = _failure(f"error: {getattr(error, 'format_message', error.__str__)()}").exit_code
        if options.get("standalone_mode", True):
            sys.exit(code)
        return code


def _failure(line: str) -> typer.Exit:
    from focusedcleaner.cli.console import print_error

    print_error(line)
    return typer.Exit(2)


app = typer.Typer(
    cls=OneLineErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
datasets_app = typer.Typer(rich_markup_mode="rich")
app.add_typer(datasets_app, name="datasets")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command: the function declares options and help text; `run` in the module of its name does the work.

    A parameter of type `GraphSource` stands for the argument and the options that name a graph.
    """
    declared = inspect.signature(function, eval_str=True).parameters
    graph_options = inspect.signature(GraphSource, eval_str=True).parameters
    sources = [name for name, parameter in declared.items() if parameter.annotation is GraphSource]

    @functools.wraps(function)
    def invoke(**options: Any) -> None:
        for name in sources:
            options[name] = GraphSource(**{option: options.pop(option) for option in graph_options})
        import_module(f"focusedcleaner.cli.{function.__name__}").run(**options)

    parameters: list[inspect.Parameter] = []
    for name, parameter in declared.items():
        parameters += graph_options.values() if name in sources else [parameter]
    keyword_only = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    invoke.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    app.command()(invoke)
    return invoke


def _print_version(requested: bool) -> None:
    if requested:
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
    """Find and remove the edges that an attacker planted in a graph."""
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@command
def demo(seed: SeedOption = 0, json: JsonOption = False) -> None:
    """Poison a real graph, clean it, and show the result."""


@datasets_app.callback(invoke_without_command=True)
def datasets(ctx: typer.Context, json: JsonOption = False) -> None:
    """List the data sets, or fetch one."""
    if ctx.invoked_subcommand is None:
        datasets_list(json)


@datasets_app.command("list")
def datasets_list(json: JsonOption = False) -> None:
    """List the data sets with their sources and checksums."""
    from focusedcleaner.cli.datasets import show_all

    show_all(json=json)


@datasets_app.command("get")
def datasets_get(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A data set's name.")], json: JsonOption = False
) -> None:
    """Fetch a data set, unless it is on this machine, and print its path."""
    from focusedcleaner.cli.datasets import fetch

    fetch(name, json=json)


@command
def check(source: GraphSource, json: JsonOption = False) -> None:
    """Show what a graph contains and what a sanitation would assume about it."""


@command
def attack(
    ctx: typer.Context,
    source: GraphSource,
    method: Annotated[str, option("mettack, dice, … (see: methods).", "NAME")] = "mettack",
    power: Annotated[str, option("Pairs to flip: 10%, 0.1 or 500; a list (5%,10%) gives a file each.")] = "10%",
    out: Annotated[Path | None, option("The poisoned graph file, which must not exist.", "FILE")] = None,
    targets: Annotated[str | None, option("Target nodes of nettack: ids, separated by commas.", "NODES")] = None,
    settings: SettingsOption = None,
    resume: ResumeOption = False,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Poison a graph, to test how robust a model or a sanitizer is."""


_METHOD = (
    "cld, lp, … (see: methods); auto is self-attack for a graph with attributes and 2,000 to 200,000 edges, "
    "and cld for any other."
)
_BUDGET = (
    "Edges to remove at most: 10%, 0.1 (a fraction) or 500 (a number); with auto the method decides. "
    "\\[default: auto if the method can decide, else 10%]"
)
_RUN = "The run folder, which must not exist. \\[default: runs/GRAPH-METHOD]"


@command
def sanitize(
    ctx: typer.Context,
    source: GraphSource,
    method: Annotated[str, option(_METHOD, "NAME")] = "auto",
    budget: Annotated[str | None, option(_BUDGET, show_default=False)] = None,
    out: Annotated[Path | None, option(_RUN, "RUN")] = None,
    settings: SettingsOption = None,
    edges_per_round: Annotated[int | None, option("Edges to remove per round; 1 in the paper.", min=1)] = None,
    resume: ResumeOption = False,
    truth: Annotated[str | None, option("The clean graph, for the report; the method never sees it.", "GRAPH")] = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Remove the edges that an attacker most likely planted."""


@command
def score(
    run_folder: RunArgument,
    truth: Annotated[str, option("The clean graph: a data set or a graph file.", "GRAPH")],
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    largest_component: ComponentOption = False,
    json: JsonOption = False,
) -> None:
    """Compare the removed edges with the planted ones: ESR, F1, precision and recall."""


@command
def classify(
    source: GraphSource,
    model: Annotated[str, option("gcn, … (see: methods); several separated by commas, or all.", "NAMES")] = "gcn",
    seeds: Annotated[int, option("The number of trainings of each model.", min=1)] = 10,
    settings: SettingsOption = None,
    seed: Annotated[int, option("The first of the seeds.", min=0, max=2**32 - 1)] = 0,
    json: JsonOption = False,
) -> None:
    """Train node classifiers on a graph or a run's cleaned graph, and report their accuracy."""


@command
def review(
    run_folder: RunArgument,
    port: Annotated[int, option("The port of the page; 0 takes any free port.", min=0, max=65535)] = 0,
    browser: Annotated[bool, option("Open the page in a browser.", None, "--browser/--no-browser")] = True,
    reviewer: Annotated[str | None, option("The reviewer's name; the page can change it.", "NAME")] = None,
    export: Annotated[Path | None, option("Write the decisions to a .csv or .json; serve no page.", "FILE")] = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Judge the removed edges on a page in the browser, on this machine only."""


@command
def apply(
    run_folder: RunArgument,
    out: Annotated[Path | None, option("The graph file. \\[default: RUN/reviewed.npz]", "FILE")] = None,
    undecided_above: Annotated[float | None, option("Also remove unjudged edges from this score on.", "SCORE")] = None,
    reviewer: Annotated[str | None, option("Use the verdicts of this reviewer only.", "NAME")] = None,
    conflicts: Annotated[str, option("How to treat disputed edges: planted, genuine, or skip (they stay).")] = "skip",
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Write the graph without the edges that reviewers judged planted."""


@command
def restore(
    run_folder: RunArgument,
    limit: Annotated[str, option("Edges to propose at most: 100, or 1% of the cleaned graph's edges.")] = "100",
    out: Annotated[Path | None, option("Also write the cleaned graph with the proposed edges.", "FILE")] = None,
    force: ForceOption = False,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Propose edges that the attacker may have removed; they are inserted only with --out."""


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


@command
def report(
    run_folder: RunArgument,
    truth: Annotated[str | None, option("The clean graph, if known: a data set or a graph file.", "GRAPH")] = None,
    nodes: NodesOption = None,
    adjacency: AdjacencyOption = None,
    largest_component: ComponentOption = False,
    out: Annotated[Path | None, option("The report. \\[default: RUN/report.html, which is replaced]", "FILE")] = None,
    json: JsonOption = False,
) -> None:
    """Write a run's report again; with the clean graph, it shows which removed edges were planted."""


@command
def methods(json: JsonOption = False) -> None:
    """List the sanitizers, attacks and classifiers with their settings."""

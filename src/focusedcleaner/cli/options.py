"""The options of each command, with their help texts: one dataclass per command, whose docstring is the command's help.

`app` turns a class into a command; the command's function receives an instance. This module is part of ``--help`` and
imports neither torch nor numpy.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer


def option(text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option with its help text; without ``flags`` it is named after the field."""
    return typer.Option(*flags, help=text, metavar=metavar, **more)


def graph_option(text: str, metavar: str | None = None, *flags: str) -> Any:
    """An option that changes which graph is read."""
    return option(text, metavar, *flags, rich_help_panel="Graph options")


def _not_nan(value: float | None) -> float | None:
    if value != value:
        raise typer.BadParameter("nan is not a score")
    return value


_GRAPH = (
    "The name of a data set (cora), a graph file (.csv, .tsv, .txt, .parquet, .npz, .graphml), a graph folder (see: "
    "ingest), or a run folder."
)
_METHOD = "cld, lp, … (see: methods); auto is self-attack, dense-blocks for users and items."
_BUDGET = (
    "Edges to remove at most: 10%, 0.1 (a fraction) or 500 (a number); with auto the method decides. "
    "\\[default: auto if the method can decide, else 10%]"
)
_PURPOSE = (
    "What the result is for: a model, which profits from removing doubtful edges too, or evidence, a list of edges "
    "that are almost certainly planted. \\[default: model]"
)
_PRESET = "paper: the settings with which the paper's tables are reproduced, for cld (the default then), lp, focused-…"
_RUN = "The run folder, which must not exist. \\[default: runs/GRAPH-METHOD]"

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, which sanitize wrote.")]
NodesOption = Annotated[Path | None, graph_option("The node table of an edge table.", "FILE")]
AdjacencyOption = Annotated[Path | None, graph_option("A scipy.sparse file with other edges for the graph.", "FILE")]
ComponentOption = Annotated[
    bool, graph_option("Keep only the largest connected component.", None, "--largest-component")
]
SettingsOption = Annotated[
    list[str] | None, option("A setting of the method (see: methods); repeatable.", "KEY=VALUE", "--set")
]
ResumeOption = Annotated[bool, option("Continue after an interruption.", None, "--resume")]
ForceOption = Annotated[bool, option("Replace the output file if it exists.", None, "--force")]
SeedOption = Annotated[int, option("The seed of the random numbers.", min=0, max=2**32 - 1)]
ThreadsOption = Annotated[
    int | None, option("Threads; the result is the same for any number. \\[default: all cores]", min=1, max=1024)
]
JsonOption = Annotated[bool, option("Print one JSON object and nothing else.", None, "--json")]


def _column(text: str) -> Any:
    """An option that names a column; without it, the column is recognized by its name."""
    return graph_option(text, "COLUMN")


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """The options on the columns of a table; commands that read a graph inherit them."""

    source: Annotated[
        str | None,
        _column("The edge table's column with one end of each edge. Columns are recognized by their names, too."),
    ] = None
    target: Annotated[str | None, _column("Its column with the other end.")] = None
    weight: Annotated[str | None, _column("Its column of weights; kept in the output, not used.")] = None
    time: Annotated[str | None, _column("Its column of times; kept in the output, not used.")] = None
    id: Annotated[str | None, _column("The node table's column of ids.")] = None
    label: Annotated[str | None, _column("The node table's column of classes.")] = None
    header: Annotated[
        bool | None,
        graph_option(
            "Whether the edge table's first row names its columns. \\[default: found out]", None, "--header/--no-header"
        ),
    ] = None
    bipartite: Annotated[
        bool | None,
        graph_option(
            "Whether source and target are two kinds of nodes. \\[default: by the columns' names]",
            None,
            "--bipartite/--no-bipartite",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GraphSource(TableColumns):
    """The argument and the options that name a graph; commands on a graph inherit them."""

    graph: Annotated[str, typer.Argument(metavar="GRAPH", help=_GRAPH, show_default=False)]
    nodes: NodesOption = None
    adjacency: AdjacencyOption = None
    split: Annotated[Path | None, graph_option("A JSON file with idx_train, idx_val and idx_test.", "FILE")] = None
    force_split: Annotated[
        bool, graph_option("Use --split even if the graph file has a different split.", None, "--force-split")
    ] = False
    largest_component: ComponentOption = False


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """Poison a real graph, clean it, and show the result."""

    seed: SeedOption = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class CheckOptions(GraphSource):
    """Show what a graph contains and what a sanitation would assume about it."""

    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class IngestOptions(GraphSource):
    """Write a graph file as a graph folder, from which large graphs are read block by block."""

    ctx: typer.Context
    out: Annotated[Path, option("The graph folder, which must not exist.", "FOLDER")]
    resume: ResumeOption = False
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class GenerateOptions:
    """Draw a graph with classes and attributes, of any size, to try things on; attack poisons it."""

    out: Annotated[Path, option("The graph file, or the graph folder if the name has no suffix.", "GRAPH")]
    nodes: Annotated[int, option("The number of nodes.", min=1)] = 1000
    edges: Annotated[int, option("The number of edges.", min=0)] = 2000
    classes: Annotated[int, option("The number of classes, equally large.", min=1)] = 5
    attributes: Annotated[int, option("The number of attributes: words, which a node has or has not.", min=0)] = 200
    homophily: Annotated[float, option("The share of edges within a class.", min=0.0, max=1.0)] = 0.8
    seed: SeedOption = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class AttackOptions(GraphSource):
    """Poison a graph, to test how robust a model or a sanitizer is."""

    ctx: typer.Context
    method: Annotated[str, option("mettack, dice, … (see: methods).", "NAME")] = "mettack"
    power: Annotated[str, option("Pairs to flip: 10%, 0.1 or 500; a list (5%,10%) gives a file each.")] = "10%"
    out: Annotated[Path | None, option("The poisoned graph, a file or a graph folder; must not exist.", "FILE")] = None
    targets: Annotated[str | None, option("Target nodes of nettack: ids, separated by commas.", "NODES")] = None
    settings: SettingsOption = None
    resume: ResumeOption = False
    seed: SeedOption = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class SanitizeOptions(GraphSource):
    """Remove the edges that an attacker most likely planted."""

    ctx: typer.Context
    method: Annotated[str, option(_METHOD, "NAME")] = "auto"
    budget: Annotated[str | None, option(_BUDGET, show_default=False)] = None
    purpose: Annotated[str | None, option(_PURPOSE, "model|evidence", "--for")] = None
    out: Annotated[Path | None, option(_RUN, "RUN")] = None
    settings: SettingsOption = None
    preset: Annotated[str | None, option(_PRESET, "NAME")] = None
    scores: Annotated[bool, option("Also write scores.csv: the score of every edge.", None, "--scores")] = False
    edges_per_round: Annotated[int | None, option("Edges to remove per round; 1 in the paper.", min=1)] = None
    resume: ResumeOption = False
    truth: Annotated[str | None, option("The clean graph, for the report; the method never sees it.", "GRAPH")] = None
    threads: ThreadsOption = None
    engine: Annotated[str, option("local, or ray for a cluster.", "NAME")] = "local"
    address: Annotated[str | None, option("HOST:PORT of the Ray cluster. \\[default: one on this machine]")] = None
    seed: SeedOption = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ScoreOptions(TableColumns):
    """Compare the removed edges with the planted ones: ESR, F1, precision and recall."""

    run_folder: RunArgument
    truth: Annotated[str, option("The clean graph: a data set or a graph file.", "GRAPH")]
    nodes: NodesOption = None
    adjacency: AdjacencyOption = None
    largest_component: ComponentOption = False
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ClassifyOptions(GraphSource):
    """Train node classifiers on a graph or a run's cleaned graph, and report their accuracy."""

    model: Annotated[str, option("gcn, … (see: methods); several separated by commas, or all.", "NAMES")] = "gcn"
    seeds: Annotated[int, option("The number of trainings of each model.", min=1, max=1000)] = 10
    settings: SettingsOption = None
    seed: Annotated[int, option("The first of the seeds.", min=0, max=2**32 - 1)] = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """Judge the removed edges on a page in the browser, on this machine only."""

    run_folder: RunArgument
    port: Annotated[int, option("The port of the page; 0 takes any free port.", min=0, max=65535)] = 0
    browser: Annotated[bool, option("Open the page in a browser.", None, "--browser/--no-browser")] = True
    reviewer: Annotated[str | None, option("The reviewer's name; the page can change it.", "NAME")] = None
    export: Annotated[Path | None, option("Write the decisions to a .csv or .json; serve no page.", "FILE")] = None
    force: ForceOption = False
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ApplyOptions:
    """Write the graph without the edges that reviewers judged planted or, before a review, that the run removed."""

    run_folder: RunArgument
    out: Annotated[
        Path | None, option("The graph file. \\[default: RUN/reviewed, in the format of the input]", "FILE")
    ] = None
    undecided_above: Annotated[
        float | None, option("Also remove unjudged edges from this score on.", "SCORE", callback=_not_nan)
    ] = None
    reviewer: Annotated[str | None, option("Use the verdicts of this reviewer only.", "NAME")] = None
    conflicts: Annotated[str, option("How to treat disputed edges: planted, genuine, or skip (they stay).")] = "skip"
    force: ForceOption = False
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """Propose edges that the attacker may have removed; they are inserted only with --out."""

    run_folder: RunArgument
    limit: Annotated[str, option("Edges to propose at most: 100, or 1% of the cleaned graph's edges.")] = "100"
    out: Annotated[Path | None, option("Also write the cleaned graph with the proposed edges.", "FILE")] = None
    force: ForceOption = False
    seed: SeedOption = 0
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ReportOptions(TableColumns):
    """Write a run's report again; with the clean graph, it shows which removed edges were planted."""

    run_folder: RunArgument
    truth: Annotated[str | None, option("The clean graph, if known: a data set or a graph file.", "GRAPH")] = None
    nodes: NodesOption = None
    adjacency: AdjacencyOption = None
    largest_component: ComponentOption = False
    out: Annotated[Path | None, option("The report. \\[default: RUN/report.html, which is replaced]", "FILE")] = None
    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class MethodsOptions:
    """List the sanitizers, attacks and classifiers with their settings."""

    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """Show versions, extras, data sources, cores and memory: what to send with a question."""

    json: JsonOption = False


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions:
    """Reproduce the paper's tables and figures, and compare with its numbers."""

    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names of experiments (see --list).", show_default=False)
    ] = None
    everything: Annotated[bool, option("Run all experiments.", None, "--all")] = False
    list_: Annotated[bool, option("List the experiments and exit.", None, "--list")] = False
    profile: Annotated[str, option("full, or quick: one data set, two powers, two seeds.", "NAME")] = "full"
    data: Annotated[str | None, option("Only these data sets, comma-separated.", "NAMES")] = None
    engine: Annotated[str, option("local, or ray for a cluster.", "NAME")] = "local"
    address: Annotated[str | None, option("host:port of the Ray cluster. \\[default: one on this machine]")] = None
    workers: Annotated[int | None, option("Cells computed at a time. \\[default: one per core]", min=1)] = None
    store: Annotated[Path | None, option("Folder of the results.", "FOLDER")] = None
    out: Annotated[Path | None, option("Folder for tables and figures.", "FOLDER")] = None
    only: Annotated[str, option("Only cells with this text in their name.", "TEXT")] = ""
    max_minutes: Annotated[float | None, option("Start no new cell after this many minutes.", min=0)] = None
    dry_run: Annotated[bool, option("Show what would be computed, and for how long.", None, "--dry-run")] = False
    page: Annotated[
        bool, option("Compute nothing; write tables, figures and page from existing results.", None, "--page")
    ] = False
    export: Annotated[bool, option("Write the results to the package, for the repository.", None, "--export")] = False

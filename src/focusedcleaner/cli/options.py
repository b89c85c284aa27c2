"""Arguments and options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer


def option(text: str, metavar: str | None = None, *flags: str, **more: Any) -> Any:
    """An option with its help text; without ``flags`` it is named after the parameter."""
    return typer.Option(*flags, help=text, metavar=metavar, **more)


def graph_option(text: str, metavar: str | None = None, *flags: str) -> Any:
    """An option that changes which graph is read."""
    return option(text, metavar, *flags, rich_help_panel="Graph options")


_GRAPH = "The name of a data set (cora), a graph file (.npz, .csv, .graphml), or a run folder."
GraphArgument = Annotated[str, typer.Argument(metavar="GRAPH", help=_GRAPH, show_default=False)]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder, which sanitize wrote.")]
NodesOption = Annotated[Path | None, graph_option("The node table (CSV) of an edge list.", "FILE")]
AdjacencyOption = Annotated[Path | None, graph_option("A scipy.sparse file with other edges for the graph.", "FILE")]
SplitOption = Annotated[Path | None, graph_option("A JSON file with idx_train, idx_val and idx_test.", "FILE")]
ForceSplitOption = Annotated[
    bool, graph_option("Use --split even if the graph file has a different split.", None, "--force-split")
]
ComponentOption = Annotated[
    bool, graph_option("Keep only the largest connected component.", None, "--largest-component")
]
SettingsOption = Annotated[
    list[str] | None, option("A setting of the method (see: methods); repeatable.", "KEY=VALUE", "--set")
]
ResumeOption = Annotated[bool, option("Continue after an interruption.", None, "--resume")]
ForceOption = Annotated[bool, option("Replace the output file if it exists.", None, "--force")]
SeedOption = Annotated[int, option("The seed of the random numbers.", min=0, max=2**32 - 1)]
JsonOption = Annotated[bool, option("Print one JSON object and nothing else.", None, "--json")]


@dataclass(frozen=True)
class GraphSource:
    """The argument and the options that name a graph; a parameter of this type gives a command all of them."""

    graph: GraphArgument
    nodes: NodesOption = None
    adjacency: AdjacencyOption = None
    split: SplitOption = None
    force_split: ForceSplitOption = False
    largest_component: ComponentOption = False

"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GraphArgument = Annotated[
    str,
    typer.Argument(
        metavar="GRAPH", help="A data set's name (cora), a graph file (.npz, .csv, .graphml), or a run folder."
    ),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The folder that sanitize wrote.")]
NodesOption = Annotated[
    Path | None, typer.Option("--nodes", metavar="FILE", help="The node table (CSV) of an edge list (CSV).")
]
AdjacencyOption = Annotated[
    Path | None,
    typer.Option("--adjacency", metavar="FILE", help="A scipy.sparse file whose edges replace the graph's."),
]
SplitOption = Annotated[
    Path | None, typer.Option("--split", metavar="FILE", help="JSON with idx_train, idx_val and idx_test.")
]
ForceSplitOption = Annotated[
    bool, typer.Option("--force-split", help="Take --split although the graph file carries another one.")
]
ComponentOption = Annotated[
    bool, typer.Option("--largest-component", help="Keep the largest connected component only.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, max=2**32 - 1, help="Fixes everything random.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]

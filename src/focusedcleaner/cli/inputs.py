"""Reading the graph that the options of a command name, and checking the file that a command is to write."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from focusedcleaner import datasets
from focusedcleaner.cli.console import note, progress_bar
from focusedcleaner.cli.options import GraphSource, TableColumns
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.formatting import shown_path
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, TABLE_SUFFIXES, TableOptions, load_adjacency, load_split, read_graph_file
from focusedcleaner.io.disk import checksum
from focusedcleaner.io.folder import INDEX, folder_checksum, is_folder, open_folder
from focusedcleaner.io.transaction import recover

RECORD, GRAPH = "run.json", "sanitized.npz"
"""Files of a run folder, by which it is known without `runs`, which takes a second to import."""


def table_options(source: TableColumns, *, strict: bool = True) -> TableOptions:
    """The options on the columns of a table; unless ``strict``, those that a table lacks are ignored."""
    return TableOptions(**{one.name: getattr(source, one.name) for one in fields(TableColumns)}, strict=strict)


def read_graph(source: GraphSource, *, strict: bool = True) -> Graph:
    """Read the graph and apply the options; unless ``strict``, columns that the file lacks are ignored."""
    graph = _load(source, strict)
    if graph.stored is not None:
        _refuse_folder_options(source)
    if source.adjacency is not None:
        matrix = load_adjacency(source.adjacency).tocoo()
        if (size := matrix.shape[0]) != graph.num_nodes:
            mismatch = f"is an adjacency of {size:,} nodes, but the graph has {graph.num_nodes:,}"
            raise InputError(f"{source.adjacency}: {mismatch}")
        pairs = np.column_stack([matrix.row, matrix.col])
        graph = replace(graph, edges=Graph.from_pairs(graph.num_nodes, pairs).edges)
    if source.split is not None:
        split = load_split(source.split, num_nodes=graph.num_nodes)
        if graph.split is not None and graph.split != split and not source.force_split:
            raise InputError(
                f"{source.split}: is another split than the one that {source.graph} carries, which it may have "
                "been poisoned for: leave out --split, or add --force-split"
            )
        graph = graph.with_split(split)
    return graph.largest_component() if source.largest_component else graph


def read_truth(truth: str, options: TableColumns, graph: Graph, **more: Any) -> Graph:
    """Read the clean graph with the command's options on columns, its nodes numbered as those of the run's graph."""
    from focusedcleaner.scoring import aligned

    columns = {one.name: getattr(options, one.name) for one in fields(TableColumns)}
    source = GraphSource(graph=truth, **columns, **more)
    partial = Path(truth).suffix.lower() in TABLE_SUFFIXES and not source.largest_component
    return aligned(read_graph(source, strict=False), graph, partial=partial)


def read_graph_with_split(source: GraphSource, seed: int) -> Graph:
    """Read the graph and draw a split if it has labels but no split."""
    graph = read_graph(source)
    drawn = graph.with_drawn_split(seed)
    if drawn is not graph:
        note_drawn_split(drawn, seed)
    return drawn


def note_drawn_split(graph: Graph, seed: int) -> None:
    """Say how many nodes a drawn split has in each part."""
    if (split := graph.split) is not None:
        sizes = f"{len(split.train):,} for training, {len(split.val):,} for validation, {len(split.test):,} for testing"
        note(f"the graph has no split, so one was drawn (seed {seed}): {sizes}")


def source_record(source: GraphSource) -> dict[str, Any]:
    """The options as `run.json` records them, with the checksum of each file."""
    record: dict[str, Any] = {"graph": shown_path(source.graph)}
    if (file := _graph_file(source)).is_file():
        record["sha256"] = checksum(file)
    elif is_folder(file):
        record["checksum"] = folder_checksum(file)
    elif (file / RECORD).is_file():
        record["sha256"] = checksum(file / RECORD)
    for option in ("nodes", "adjacency", "split"):
        path = getattr(source, option)
        if path is not None and path.is_file():
            record |= {option: shown_path(path), f"{option}_sha256": checksum(path)}
    if not {"sha256", "checksum"} & record.keys():
        if source.graph not in datasets.names():
            raise _unknown(source)
        if source.graph not in datasets.registered_names():  # those have no file
            record["sha256"] = datasets.info(source.graph).sha256
    if columns := table_options(source).given():
        record["columns"] = columns
    return {**record, "largest_component": source.largest_component}


def _load(source: GraphSource, strict: bool) -> Graph:
    path = _graph_file(source)
    if is_folder(path):
        _refuse_table_options(source, strict)
        return open_folder(path, verify=True)
    if path.is_file() or (path / RECORD).is_file():
        if (path == Path(source.graph) and path.is_file()) or source.nodes is not None:
            return read_graph_file(path, source.nodes, table_options(source, strict=strict))
        _refuse_table_options(source, strict)
        from focusedcleaner.runs import read_run

        run = read_run(source.graph)
        if not run.complete:
            note(f"{source.graph} was interrupted: its graph is only partly cleaned")
        return run.graph
    if source.nodes is not None:
        raise InputError(f"--nodes goes with an edge table, and {source.graph} is none")
    _refuse_table_options(source, strict)
    if source.graph in datasets.names():
        with progress_bar(f"Fetching {source.graph}", bytes_=True) as progress:
            return datasets.load(source.graph, progress=progress)
    raise _unknown(source)


def _unknown(source: GraphSource) -> InputError:
    """Say that there is no such graph."""
    path = Path(source.graph)
    if path.is_dir():
        kinds = f"neither a graph folder nor a run folder: it has no {INDEX} and no {RECORD}"
        return InputError(f"{source.graph}: is a folder, but {kinds}")
    if path.suffix or len(path.parts) > 1:
        return InputError(f"{source.graph}: there is no such file")
    return InputError(
        f"there is no file and no data set {source.graph!r}; data sets are {', '.join(datasets.names())}, "
        f"graph files end in {', '.join(SUFFIXES)}"
    )


def _refuse_table_options(source: GraphSource, strict: bool) -> None:
    if strict and (given := table_options(source).given()):
        raise InputError(f"--{next(iter(given))} goes with an edge table, and {source.graph} is none")


def _refuse_folder_options(source: GraphSource) -> None:
    """Refuse what would make another graph of a graph folder's."""
    for option in ("nodes", "adjacency", "largest_component"):
        if getattr(source, option):
            flag = f"--{option.replace('_', '-')}"
            raise InputError(f"{source.graph}: {flag} goes with a graph file: give it to ingest, not to a graph folder")


def _graph_file(source: GraphSource) -> Path:
    """The graph file; of a run folder, its cleaned graph."""
    if not source.graph:
        raise InputError("the name of the graph is empty")
    path = Path(source.graph)
    with prefix_errors(shown_path(path)):
        path.is_file()  # of a folder that can't be read, or a name that is too long
        return path / GRAPH if (path / RECORD).is_file() and (path / GRAPH).is_file() else path


def check_output(path: Path, *, force: bool, suffixes: tuple[str, ...]) -> None:
    """Refuse an output file that can't be written, or that exists unless ``force`` is set."""
    with prefix_errors(path):
        if path.suffix.lower() not in suffixes:
            raise InputError(f"its name must end in {' or '.join(suffixes)}")
        if path.is_dir():
            raise InputError("is a folder, not a file")
        if not path.parent.is_dir():
            raise InputError(f"there is no folder {path.parent}")
        recover(path.parent, only=path.name)
        if path.exists() and not force:
            raise InputError("exists already: choose another name, or replace it with --force")

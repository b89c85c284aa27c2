"""``focusedcleaner generate``: draw a synthetic graph and write it as a graph file or a graph folder."""

from __future__ import annotations

from focusedcleaner.cli.console import print_json, screen
from focusedcleaner.cli.inputs import check_output
from focusedcleaner.cli.options import GenerateOptions
from focusedcleaner.datasets import synthetic
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count
from focusedcleaner.graph import Graph
from focusedcleaner.io import SUFFIXES, save_graph
from focusedcleaner.io.folder_writer import check_free, write_folder


def generate(options: GenerateOptions) -> None:
    """Check the place, draw the graph, write it and print its sizes."""
    if options.out.suffix:
        check_output(options.out, force=False, suffixes=SUFFIXES)
        graph = _drawn(options)
        save_graph(graph, options.out)
    else:
        check_free(options.out)
        graph = _drawn(options)
        write_folder(options.out, dict(graph.notes), graph)
    sizes = {name: getattr(graph, f"num_{name}") for name in ("nodes", "edges", "classes", "attributes")}
    if options.json:
        print_json({**sizes, "seed": options.seed, "out": str(options.out)})
        return
    listed = ", ".join(f"{number:,} {name}" for name, number in sizes.items())
    screen().print_line(f"{options.out}  {listed}")


def _drawn(options: GenerateOptions) -> Graph:
    most = options.nodes * (options.nodes - 1) // 2
    if options.edges > most:
        raise InputError(f"{count(options.nodes, 'node')} can have at most {most:,} edges, not {options.edges:,}")
    return synthetic(
        options.nodes,
        2 * options.edges / options.nodes,
        options.classes,
        options.homophily,
        options.attributes,
        seed=options.seed,
    )

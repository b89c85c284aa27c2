"""``focusedcleaner ingest``: write a graph file as a graph folder."""

from __future__ import annotations

import time

from focusedcleaner.cli.console import Stopped, note, print_json, resume_command, screen
from focusedcleaner.cli.inputs import read_graph, source_record
from focusedcleaner.cli.options import IngestOptions
from focusedcleaner.errors import InputError, prefix_errors
from focusedcleaner.io.folder import INDEX, is_folder, read_object
from focusedcleaner.io.folder_writer import write_folder
from focusedcleaner.io.transaction import lock_file


def ingest(options: IngestOptions) -> None:
    """Read the graph, write the folder and print what it holds."""
    start = time.perf_counter()
    if is_folder(options.out) and options.resume:
        with lock_file(options.out):
            _check_same_source(options)
        note(f"{options.out} is complete already")
    else:
        try:
            write_folder(options.out, source_record(options), lambda: read_graph(options), resume=options.resume)
        except KeyboardInterrupt:
            kept = f"what was finished is kept; continue with: {resume_command(options.ctx.obj)}"
            raise Stopped(f"interrupted; {kept}") from None
    with prefix_errors(options.out):
        index = read_object(options.out / INDEX)
    sizes = {name: index[f"num_{name}"] or 0 for name in ("nodes", "edges", "attributes")}
    seconds = time.perf_counter() - start
    if options.json:
        print_json({**sizes, "checksum": index["checksum"], "seconds": round(seconds, 3), "out": str(options.out)})
        return
    listed = ", ".join(f"{number:,} {name}" for name, number in sizes.items())
    screen().print_line(f"{options.out}  {listed}  ", f"{seconds:.1f} s")


def _check_same_source(options: IngestOptions) -> None:
    with prefix_errors(options.out):
        if read_object(options.out / INDEX).get("source") != source_record(options):
            raise InputError("exists already, made of another file or with other options: choose another folder")

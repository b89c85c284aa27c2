"""``python -m benchmarks.hops``: the way of one `sanitize` command through the modules, for docs/architecture.md.

A hop is a distinct pair of modules of which one calls a function of the other. Calls into plain values (graph,
settings, budget, errors, formatting) and the templates of the report do not count. A back-and-forth is a pair with
calls both ways.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from types import CodeType, FrameType

import focusedcleaner
from focusedcleaner.cli.app import app
from focusedcleaner.datasets import synthetic
from focusedcleaner.io import save_graph

PACKAGE = f"{Path(focusedcleaner.__file__).parent}{os.sep}"
VALUES = {"graph", "settings", "budget", "errors", "formatting", "__init__"}


def module_of(code: CodeType) -> str | None:
    """The module of a function of ours, such as ``cli/sanitize``."""
    name = code.co_filename.removeprefix(PACKAGE)
    inside = name != code.co_filename and name.endswith(".py") and code.co_name != "<module>"
    return name.removesuffix(".py").removesuffix("/__init__") if inside else None


def hops_of(arguments: list[str]) -> list[tuple[str, str]]:
    """Run a command; the hops in the order of their first call."""
    found: dict[tuple[str, str], None] = {}

    def watch(frame: FrameType, event: str, argument: object) -> None:
        callee = module_of(frame.f_code) if event == "call" else None
        caller = frame.f_back
        while callee is not None and caller is not None and module_of(caller.f_code) is None:
            caller = caller.f_back
        if callee is not None and caller is not None and callee not in VALUES:
            source = module_of(caller.f_code)
            if source not in (None, callee):
                found[str(source), callee] = None

    sys.setprofile(watch)
    try:
        app(arguments, standalone_mode=False)
    finally:
        sys.setprofile(None)
    return list(found)


def main() -> None:
    """Count the hops of a small run of cld, by module and by room."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        save_graph(synthetic(num_nodes=200, seed=0), "graph.npz")
        command = ["sanitize", "graph.npz", "--method", "cld", "--budget", "10", "--json", "--out"]
        app([*command, "FIRST"], standalone_mode=False)  # imports every module, so that none is counted as a call
        hops = hops_of([*command, "SECOND"])
    rooms = dict.fromkeys((a.split("/")[0], b.split("/")[0]) for a, b in hops)
    rooms = dict.fromkeys(pair for pair in rooms if pair[0] != pair[1])
    for name, pairs in (("modules", hops), ("rooms", list(rooms))):
        both = sorted({tuple(sorted(pair)) for pair in pairs if pair[::-1] in pairs})
        sys.stdout.write(f"{name}: {len(pairs)} hops, {len(both)} back-and-forths {both}\n")
    sys.stdout.write("".join(f"  {a} -> {b}\n" for a, b in rooms))


if __name__ == "__main__":
    main()

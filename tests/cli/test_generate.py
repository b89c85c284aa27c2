"""``focusedcleaner generate``."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from focusedcleaner.io import load_graph
from tests.cli.conftest import fails
from tests.cli.test_ingest import done
from tests.conftest import Command


def test_generate_writes_a_folder_or_a_file(cli: Command, folder: Path) -> None:
    sizes = ("--nodes", "200", "--edges", "500", "--classes", "4", "--attributes", "30", "--homophily", "0.7")
    told = done(cli("generate", *sizes, "--out", "G"))
    assert told.stdout == "G  200 nodes, 500 edges, 4 classes, 30 attributes\n"
    fields = json.loads(done(cli("generate", *sizes, "--out", "g.npz", "--json")).stdout)
    assert fields == {"nodes": 200, "edges": 500, "classes": 4, "attributes": 30, "seed": 0, "out": "g.npz"}
    stored, file = load_graph("G"), load_graph("g.npz")
    assert stored.homophily == file.homophily == 0.7
    names = np.array(list(stored.names or ()))
    assert sorted(map(sorted, names[stored.edges].tolist())) == file.edges.tolist()
    fails(cli("generate", "--out", "G"), "G: exists already", left=["G", "g.npz"])
    fails(cli("generate", "--out", "g.xlsx"), "its name must end in", left=["G", "g.npz"])
    fails(
        cli("generate", "--nodes", 9, "--edges", 99, "--out", "H"), "9 nodes can have at most 36", left=["G", "g.npz"]
    )

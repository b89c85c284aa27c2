"""Sanitizers by name: the default method, and registration as docs/sanitizers.md describes it."""

from __future__ import annotations

import re
import runpy
from dataclasses import replace
from pathlib import Path

import pytest

from focusedcleaner.api import register_sanitizer
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import SANITIZERS, RandomEdges, default_method, sanitizer
from tests.conftest import Command

PAGE = Path(__file__).parents[2] / "docs" / "sanitizers.md"


def test_the_default_method_needs_neither_attributes_nor_labels(graph: Graph) -> None:
    bare = replace(graph, attributes=None, attribute_names=None)
    assert default_method(graph) == default_method(bare) == default_method(graph.unlabelled()) == "self-attack"
    users_and_items = Graph(14, [[user, item] for user in range(7) for item in range(7, 14)])
    assert default_method(users_and_items) == "dense-blocks"


def test_the_documented_sanitizer_works(
    graph: Graph, cli: Command, graph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("focusedcleaner.registry.SANITIZERS._methods", {**SANITIZERS._methods})
    section = PAGE.read_text().partition("## Add a sanitizer")[2]
    (example,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)[:1]
    Path("degree.py").write_text(example)
    runpy.run_path("degree.py")
    done = sanitizer("degree", power=2.0).sanitize(graph, 10)
    assert done.settings == {"kind": "Degree", "power": 2.0}
    assert (done.scores[:-1] >= done.scores[1:]).all()
    printed = cli("sanitize", graph_file, "--method", "degree", "--set", "power=1", "--budget", "5", "--out", "RUN")
    assert printed.exit_code == 0, printed.output


def test_a_name_is_registered_once() -> None:
    with pytest.raises(InputError, match="already"):
        register_sanitizer(RandomEdges)

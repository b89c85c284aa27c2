"""Data sets of one's own, by name."""

from __future__ import annotations

import json
from typing import Any
from unittest.mock import Mock

import pytest

import focusedcleaner as fc
from focusedcleaner.io.convert import to_networkx, to_pyg, to_scipy
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("registries")


@pytest.mark.parametrize("convert", [lambda graph: graph, to_pyg, to_networkx, to_scipy])
def test_a_loader_may_return_any_kind_of_graph(graph: fc.Graph, convert: Any) -> None:
    fc.register_dataset("mine", lambda: convert(graph))
    assert fc.datasets.load("mine") == graph
    assert fc.datasets.names() == ("cora", "citeseer", "polblogs", "mine")


def test_the_loader_is_called_at_each_load_and_not_before(graph: fc.Graph) -> None:
    loader = Mock(return_value=graph)
    fc.register_dataset("mine", loader)
    assert loader.call_count == 0
    fc.datasets.load("mine")
    fc.datasets.load("mine")
    assert loader.call_count == 2


def test_names_are_unique_and_the_loader_is_a_function(graph: fc.Graph) -> None:
    fc.register_dataset("mine", lambda: graph)
    for name in ("mine", "cora"):
        with pytest.raises(fc.InputError, match=f"there is already a data set '{name}'"):
            fc.register_dataset(name, lambda: graph)
    for name, loader in (("", lambda: graph), ("other", graph)):
        with pytest.raises(fc.InputError, match="a data set needs a name and a function that returns its graph"):
            fc.register_dataset(name, loader)  # type: ignore[arg-type]


def test_unusable_graphs_and_unknown_names_are_refused_in_one_line() -> None:
    fc.register_dataset("mine", lambda: 17)
    with pytest.raises(fc.InputError, match=r"mine: a graph must be a Graph, .* not int"):
        fc.datasets.load("mine")
    with pytest.raises(fc.InputError, match="no data set 'my'; known are cora, citeseer, polblogs, mine"):
        fc.datasets.load("my")


def test_commands_of_the_same_process_know_it(graph: fc.Graph, cli: Command) -> None:
    fc.register_dataset("mine", lambda: graph)
    done = cli("sanitize", "mine", "--method", "jaccard", "--budget", "5", "--out", "RUN", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["removed"] == 5
    assert cli("score", "RUN", "--truth", "mine").exit_code == 0
    assert "mine" in cli("datasets").stdout
    assert json.loads(cli("datasets", "--json").stdout)["datasets"][-1] == {"name": "mine"}
    assert "data sets are cora, citeseer, polblogs, mine" in cli("check", "my").stderr

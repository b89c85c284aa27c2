"""The public functions: what `dir` shows, every kind of graph, one default, methods of one's own."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch_geometric.data import HeteroData

import focusedcleaner as fc
from focusedcleaner.io.convert import as_graph, to_networkx, to_pyg, to_scipy
from focusedcleaner.sanitizers import default_method

KINDS: dict[str, Callable[[fc.Graph], Any]] = {
    "Graph": lambda graph: graph,
    "PyG": to_pyg,
    "NetworkX": to_networkx,
    "scipy": to_scipy,
}


def test_dir_shows_what_is_public_and_nothing_else() -> None:
    assert dir(fc) == sorted(fc.__all__)
    assert all(getattr(fc, name) is not None for name in fc.__all__)
    with pytest.raises(AttributeError, match="no attribute 'clean'"):
        _ = fc.clean


def test_importing_the_package_loads_no_torch() -> None:
    code = "import sys, focusedcleaner; dir(focusedcleaner); print({'torch', 'scipy', 'polars'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_result_is_of_the_kind_that_was_given(graph: fc.Graph, kind: str) -> None:
    data = KINDS[kind](graph)
    result = fc.sanitize(data, "jaccard", budget=10)
    assert type(result.data) is type(data)
    assert as_graph(result.data) == result.graph == graph.without_edges(result.removed)
    assert as_graph(data) == graph, "the input was changed"


@pytest.mark.parametrize("kind", KINDS)
def test_attacks_classifiers_and_scores_take_every_kind(graph: fc.Graph, kind: str) -> None:
    data = KINDS[kind](graph)
    poisoning = fc.attack("dice").poison(data, 10, seed=1)
    assert poisoning.graph == fc.attack("dice").poison(graph, 10, seed=1).graph
    model = fc.classifier("mlp", epochs=2).fit(data)
    assert len(model.predict(data)) == graph.num_nodes
    assert 0 <= model.accuracy(data) <= 1
    removed = poisoning.added[:3]
    assert fc.score(removed, poisoned=KINDS[kind](poisoning.graph), clean=data).hits == 3


def test_a_matrix_alone_has_no_labels(graph: fc.Graph) -> None:
    with pytest.raises(fc.InputError, match="the graph has no attributes"):
        fc.sanitize(graph.adjacency(), "jaccard")
    assert fc.check(graph.adjacency()).edges == graph.num_edges


def test_a_missing_split_is_drawn_as_on_the_command_line(graph: fc.Graph, cli: Callable[..., Any]) -> None:
    whole = graph.with_split(None)
    fc.save_graph(whole, "whole.npz")
    cli("sanitize", "whole.npz", "--method", "cld", "--budget", "9", "--seed", "4", "--out", "RUN")
    on_disk = np.loadtxt("RUN/removed.csv", delimiter=",", skiprows=1, usecols=(1, 2), dtype=int)
    assert fc.sanitize(whole, "cld", 9, seed=4).removed.tolist() == on_disk.tolist()


def test_one_default_for_python_the_transform_and_the_command_line(graph: fc.Graph, cli: Callable[..., Any]) -> None:
    fc.save_graph(graph, "graph.npz")
    quick: dict[str, Any] = {"rounds": 1, "trees": 2, "attackers": "random"}
    done = cli("sanitize", "graph.npz", "--json", *(f"--set={name}={value}" for name, value in quick.items()))
    assert done.exit_code == 0, done.output
    with pytest.warns(fc.InputWarning, match="Not suitable: too small: 300 edges"):
        result = fc.sanitize(graph, **quick)
    assert json.loads(done.stdout)["method"] == default_method(graph) == result.method == "self-attack"
    assert json.loads(done.stdout)["status"] == result.verdict.status
    assert fc.check(graph).method == "self-attack"
    assert fc.Sanitize(**quick)(to_pyg(graph)).removed_edge_index.T.tolist() == result.removed.tolist()


def test_a_setting_of_another_method_is_refused_with_the_method_that_auto_chose(graph: fc.Graph) -> None:
    with pytest.raises(fc.InputError, match=r"auto chose self-attack .*no setting 'tau'"):
        fc.sanitize(graph, tau=0.5)


def test_a_result_is_one_line_a_table_and_a_frame(graph: fc.Graph) -> None:
    names = [f"<b>{node}</b>\x1b[31m" for node in range(graph.num_nodes)]
    result = fc.sanitize(replace(graph, names=tuple(names)), "cld", 12)
    assert repr(result) == "Sanitation(cld, uncertain: 12 of 300 edges removed)"
    page = result._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "\x1b" not in page
    frame = result.to_frame()
    assert frame.columns[:4] == ["rank", "u", "v", "score"]
    assert len(frame) == 12
    assert frame["u"][0] == names[result.removed[0, 0]]
    assert frame["score"].to_list() == result.scores.tolist()
    assert set(result.evidence) <= set(frame.columns)


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("status", ["poisoned", "no sign", "uncertain", "not suitable"])
def test_a_verdict_that_is_no_finding_warns_once(graph: fc.Graph, status: str) -> None:
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        result = fc.sanitize(graph, "judge", status=status)
    assert result.status == status
    texts = [str(warning.message) for warning in raised if warning.filename == __file__]
    assert texts == ([result.summary] if status in ("uncertain", "not suitable") else [])
    assert result.warnings == ()


@pytest.mark.usefixtures("judge")
def test_who_gave_a_budget_is_not_warned_of_a_ranking(graph: fc.Graph) -> None:
    assert fc.sanitize(graph, "judge", 5, status="uncertain").status == "uncertain"
    with pytest.warns(fc.InputWarning, match="Not suitable"):
        fc.sanitize(graph, "judge", 5, status="not suitable")
    with pytest.warns(fc.InputWarning, match="30 edges were removed because the budget says so"):
        fc.sanitize(graph, "jaccard")


def test_what_was_changed_is_on_the_result_and_a_warning(graph: fc.Graph) -> None:
    data = to_pyg(graph)
    del data.val_mask
    with pytest.warns(fc.InputWarning, match="without val_mask") as raised:
        result = fc.sanitize(data, "cosine", 5)
    assert result.warnings == tuple(str(warning.message) for warning in raised)


def test_scores_of_all_edges(graph: fc.Graph) -> None:
    named = replace(graph, names=tuple(f"n{node}" for node in range(graph.num_nodes)))
    result = fc.sanitize(named, "agreement", 12, scores=True)
    assert result.edge_scores is not None
    frame = result.to_frame(all_edges=True)
    assert frame.columns == ["rank", "u", "v", "score", "removed"]
    assert frame["score"].is_sorted(descending=True)
    listed = np.array([[int(row["u"][1:]), int(row["v"][1:])] for row in frame.iter_rows(named=True)])
    assert result.edge_scores[graph.edge_numbers(listed)].tolist() == frame["score"].to_list()
    gone = {tuple(pair) for pair in listed[frame["removed"].to_numpy()].tolist()}
    assert gone == {tuple(pair) for pair in result.removed.tolist()}


def test_scores_are_refused_before_any_work() -> None:
    with pytest.raises(fc.InputError, match=r"cld scores only .* come from self-attack, agreement, "):
        fc.sanitize(None, "cld", scores=True)
    with pytest.raises(fc.InputError, match="jaccard gives no probabilities"):
        fc.sanitize(None, "jaccard", soft=True)
    with pytest.raises(fc.InputError, match="leave out the budget"):
        fc.sanitize(None, "self-attack", 5, soft=True)


@pytest.mark.usefixtures("judge")
@pytest.mark.parametrize("kind", KINDS)
def test_soft_weights_in_every_kind(graph: fc.Graph, kind: str) -> None:
    data = KINDS[kind](graph)
    result = fc.sanitize(data, "judge", soft=True)
    assert (len(result.removed), result.soft, result.graph == graph) == (0, True, True)
    assert (result.verdict.expected_precision, len(result.suspects)) == (None, 8)
    assert result.edge_scores is not None
    assert result.edge_weights.tolist() == (1 - result.edge_scores).tolist()
    assert type(result.data) is type(data)
    u, v = graph.edges.T
    if kind == "PyG":
        index, weights = result.data.edge_index.numpy(), np.ones((150, 150))
        weights[index[0], index[1]] = result.data.edge_weight.numpy()
        found = weights[u, v]
        assert (weights == weights.T).all()
    elif kind == "NetworkX":
        found = np.array([result.data.edges[pair]["weight"] for pair in graph.edges.tolist()])
    elif kind == "scipy":
        found = result.data["adjacency"].toarray()[u, v]
    else:
        found = result.edge_weights
    np.testing.assert_allclose(found, result.edge_weights, rtol=1e-6)
    assert as_graph(data) == graph, "the input was changed"


@pytest.mark.usefixtures("judge")
def test_soft_weights_are_1_unless_the_graph_is_poisoned(graph: fc.Graph) -> None:
    with pytest.warns(fc.InputWarning, match="The weight of every edge is 1"):
        result = fc.sanitize(to_pyg(graph), "judge", soft=True, status="uncertain")
    assert (result.data.edge_weight == 1).all()
    assert "planted" not in result.to_frame(all_edges=True).columns
    assert repr(result) == "Sanitation(judge, uncertain: 300 edges weighted, 16 suspects)"


def test_what_only_some_data_have_is_refused_elsewhere(graph: fc.Graph) -> None:
    with pytest.raises(fc.InputError, match="edge_type is for a PyG HeteroData, and this is a Graph"):
        fc.sanitize(graph, "svd", edge_type=("user", "rates", "item"))
    with pytest.raises(fc.InputError, match="split chooses a column of PyG masks"):
        fc.sanitize(graph, "svd", split=0)


def test_the_papers_class_takes_pyg_data(graph: fc.Graph) -> None:
    assert fc.FocusedCleaner().sanitize(to_pyg(graph), 5).data.num_edges == 590


# check ---------------------------------------------------------------------------------------------------------------


def test_check_tells_what_the_graph_is(graph: fc.Graph) -> None:
    found = fc.check(graph)
    split = graph.split
    assert split is not None
    assert (found.nodes, found.edges, found.classes, found.attributes) == (150, 300, 5, 200)
    assert found.split == {"train": len(split.train), "val": len(split.val), "test": len(split.test)}
    assert found.homophily == pytest.approx(graph.homophily)
    assert not found.bipartite
    small = (
        "not suitable: too small: 300 edges, and at least 500 are needed; no edge is removed unless a budget is given"
    )
    assert found.warnings[0] == small
    assert not found.suitable
    assert json.loads(json.dumps(found.to_dict()))["method"] == "self-attack"
    text = str(found)
    assert "150 nodes, 300 edges" in text
    assert "\nAssumed\n" in text


def test_check_of_a_heterophilous_graph_without_a_split() -> None:
    square = fc.Graph(8, [[0, 1], [0, 3], [1, 2], [2, 3], [4, 5], [6, 7]], labels=[0, 1] * 4)
    found = fc.check(square)
    assert (found.components, found.isolated_nodes, found.bipartite) == (3, 0, False)
    assert any(warning.startswith("only 0.0 % of the edges join nodes of one class") for warning in found.warnings)
    assert "class 0 links mostly to class 1 (100.0 %)" in str(found)
    assert found.split is None
    assert (
        "8 labelled nodes are too few to use: at least 20 are needed, so clusters stand for classes" in found.warnings
    )
    assert found.drawn_split is None
    assert "too few labels are known, so clusters that it finds stand in for classes" in found.method_reason


def test_check_takes_one_split_and_one_edge_type(graph: fc.Graph) -> None:
    data = to_pyg(graph)
    for part in ("train_mask", "val_mask", "test_mask"):
        data[part] = torch.stack([data[part], data[part].roll(1)], dim=1)
    with pytest.raises(fc.InputError, match="choose one of them with split=0"):
        fc.check(data)
    assert fc.check(data, split=1).split == {"train": 15, "val": 15, "test": 120}
    shop = HeteroData()
    shop["user"].num_nodes, shop["item"].num_nodes = 20, 30
    shop["user", "rates", "item"].edge_index = torch.cartesian_prod(torch.arange(20), torch.arange(30))[::7].T
    with pytest.raises(fc.InputError, match="one edge type at a time"):
        fc.check(shop)
    assert fc.check(shop, edge_type=("user", "rates", "item")).sides == (20, 30)


def test_check_of_users_and_items(graph: fc.Graph) -> None:
    users_and_items = replace(graph, edges=np.array([[user, item] for user in range(20) for item in range(20, 60)]))
    found = fc.check(users_and_items)
    assert (found.bipartite, found.sides) == (True, (20, 40))
    assert "20 nodes on one side, 40 on the other" in str(found)


# Methods of one's own ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Longest(fc.Filter):
    """Removes edges between distant node numbers."""

    name: ClassVar[str] = "longest"
    power: float = 1.0

    def score_edges(self, graph: fc.Graph, seed: int) -> fc.EdgeScores:
        return fc.EdgeScores(np.diff(graph.edges, axis=1).ravel().astype(float) ** self.power)


@pytest.mark.usefixtures("registries")
def test_a_sanitizer_of_ones_own(graph: fc.Graph, cli: Callable[..., Any]) -> None:
    assert fc.register_sanitizer(Longest) is Longest
    graph = replace(graph, names=tuple(range(graph.num_nodes)))
    result = fc.sanitize(graph, "longest", 5, power=2)
    lengths = np.diff(result.removed, axis=1).ravel()
    assert lengths[0] > 100
    assert (np.diff(lengths) <= 0).all()
    assert "Removes edges between distant node numbers" in " ".join(cli("methods").stdout.split())
    with pytest.raises(fc.InputError, match="already a method 'longest'"):
        fc.register_sanitizer(Longest)


@pytest.mark.usefixtures("registries")
def test_a_sanitizer_of_ones_own_that_needs_no_labels(graph: fc.Graph) -> None:
    @dataclass(frozen=True)
    class Unlabelled(Longest):
        name: ClassVar[str] = "unlabelled"
        needs_labels: ClassVar[bool] = False

    fc.register_sanitizer(Longest)
    fc.register_sanitizer(Unlabelled)
    bare = fc.Graph(graph.num_nodes, graph.edges)
    with pytest.raises(fc.InputError, match="the graph has no labels, and longest needs"):
        fc.sanitize(bare, "longest", 5)
    result = fc.sanitize(bare, "unlabelled", 5, scores=True)
    assert result.edge_scores is not None
    assert len(result.to_frame(all_edges=True)) == 300


@pytest.mark.usefixtures("registries")
def test_what_can_not_be_registered() -> None:
    with pytest.raises(fc.InputError, match="not a dataclass derived from Attack"):
        fc.register_attack(Longest)  # type: ignore[type-var]
    nameless: Any = dataclass(frozen=True)(type("Nameless", (fc.Filter,), {"score_edges": Longest.score_edges}))
    with pytest.raises(fc.InputError, match="Nameless needs a class attribute `name`"):
        fc.register_sanitizer(nameless)


def test_warnings_of_pyg_do_not_reach_the_user(graph: fc.Graph) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fc.Sanitize("jaccard", budget=3)(to_pyg(graph))

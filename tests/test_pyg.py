"""The PyG transform."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
import torch

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io.convert import from_pyg, to_pyg
from focusedcleaner.pyg import Sanitize
from focusedcleaner.sanitizers import sanitizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Batch, HeteroData
    from torch_geometric.nn import GCNConv
    from torch_geometric.transforms import Compose


@pytest.fixture
def data(graph: Graph) -> Any:
    return to_pyg(graph)


def test_removes_what_the_sanitizer_removes(graph: Graph, data: Any) -> None:
    cleaned = Sanitize("cld", budget=15, seed=3, tau=0.5)(data)
    sanitation = sanitizer("cld", tau=0.5).sanitize(graph, 15, seed=3)
    assert from_pyg(cleaned) == sanitation.graph
    assert cleaned.removed_edge_index.tolist() == sanitation.removed.T.tolist()


def test_leaves_the_input_alone(data: Any) -> None:
    before = data.clone()
    Sanitize("agreement", budget=5)(data)
    assert data.keys() == before.keys()
    assert torch.equal(data.edge_index, before.edge_index)


def test_what_belongs_to_edges_goes_with_them(data: Any) -> None:
    data.edge_attr = data.edge_index.T.clone().float()
    data.edge_weight = torch.ones(data.num_edges)
    cleaned = Sanitize("agreement", budget=10)(data)
    assert cleaned.num_edges == data.num_edges - 20
    assert torch.equal(cleaned.edge_attr, cleaned.edge_index.T.float())
    assert len(cleaned.edge_weight) == cleaned.num_edges
    assert torch.equal(cleaned.x, data.x)


def test_self_loops_stay(data: Any) -> None:
    loops = torch.arange(4).repeat(2, 1)
    data.edge_index = torch.cat([data.edge_index, loops], 1)
    with pytest.warns(InputWarning, match="4 self-loops"):
        cleaned = Sanitize("agreement", budget=10)(data)
    assert (cleaned.edge_index[0] == cleaned.edge_index[1]).sum() == 4


def test_composes_and_batches(data: Any) -> None:
    cleaned = Compose([Sanitize("jaccard", budget=5)])(data)
    batch = Batch.from_data_list([cleaned, cleaned])
    assert batch.removed_edge_index.shape == (2, 10)
    assert torch.equal(batch.removed_edge_index[:, 5:], cleaned.removed_edge_index + data.num_nodes)


@pytest.mark.parametrize(("missing", "message"), [("edge_index", "it has no edge_index"), ("y", "has no labels")])
def test_says_what_is_missing(data: Any, missing: str, message: str) -> None:
    del data[missing]
    with pytest.raises(InputError, match=message):
        Sanitize("cld")(data)


def test_a_missing_split_is_drawn(graph: Graph, data: Any) -> None:
    for part in ("train", "val", "test"):
        del data[f"{part}_mask"]
    cleaned = Sanitize("jaccard", budget=5, seed=3)(data)
    expected = sanitizer("jaccard").sanitize(graph.with_split(None).with_drawn_split(3), 5, seed=3)
    assert cleaned.removed_edge_index.T.tolist() == expected.removed.tolist()


def test_takes_one_graph_of_one_kind() -> None:
    with pytest.raises(InputError, match="not on dict"):
        Sanitize()({})
    with pytest.raises(InputError, match="one edge type at a time, edge_type; its types are none"):
        Sanitize()(HeteroData())


def test_one_edge_type_of_several() -> None:
    network = HeteroData()
    network["user"].num_nodes, network["item"].num_nodes = 20, 30
    pairs = torch.cartesian_prod(torch.arange(20), torch.arange(30))[::7].T
    network["user", "rates", "item"].edge_index = pairs
    network["user", "knows", "user"].edge_index = torch.tensor([[0, 1], [1, 0]])
    cleaned = Sanitize("dense-blocks", budget=9, edge_type=("user", "rates", "item"))(network)
    edges = cleaned["user", "rates", "item"]
    assert edges.num_edges == pairs.shape[1] - 9
    kept, gone = ({tuple(pair) for pair in index.T.tolist()} for index in (edges.edge_index, edges.removed_edge_index))
    assert kept | gone == {tuple(pair) for pair in pairs.T.tolist()}
    assert cleaned["user", "knows", "user"].num_edges == 2


def test_a_column_of_masks(graph: Graph, data: Any) -> None:
    other = graph.with_split(None).with_drawn_split(9)
    for part in ("train", "val", "test"):
        data[f"{part}_mask"] = torch.stack([data[f"{part}_mask"], to_pyg(other)[f"{part}_mask"]], 1)
    with pytest.raises(InputError, match=r"train_mask has 2 columns, .* split=0"):
        Sanitize("agreement", budget=5)(data)
    for column, expected in ((0, graph), (1, other)):
        cleaned = Sanitize("agreement", budget=5, split=column)(data)
        assert cleaned.removed_edge_index.T.tolist() == sanitizer("agreement").sanitize(expected, 5).removed.tolist()
        assert cleaned.train_mask.shape == (150, 2)


@pytest.mark.usefixtures("judge")
def test_soft_weights_reach_a_network(data: Any) -> None:
    weighted = Sanitize("judge", soft=True)(data)
    assert torch.equal(weighted.edge_index, data.edge_index)
    assert weighted.edge_weight.dtype == torch.float32
    assert "edge_weight" not in data
    convolution = GCNConv(data.x.shape[1], 3)
    plain, soft = (
        convolution(data.x, data.edge_index),
        convolution(weighted.x, weighted.edge_index, weighted.edge_weight),
    )
    assert not torch.allclose(plain, soft)
    assert torch.isfinite(soft).all()


def test_soft_weights_need_probabilities_and_no_budget() -> None:
    with pytest.raises(InputError, match=r"cld gives no probabilities, .*: choose self-attack"):
        Sanitize("cld", soft=True)
    with pytest.raises(InputError, match="leave out the budget"):
        Sanitize("self-attack", budget=5, soft=True)


def test_settings_are_checked_at_once() -> None:
    with pytest.raises(InputError, match="has no setting 'taw'"):
        Sanitize("cld", taw=1)
    assert repr(Sanitize("lp", budget="10%", eta=0)) == "Sanitize('lp', budget='10%', seed=0, eta=0)"
    assert repr(Sanitize(soft=True, split=0)) == "Sanitize('auto', budget=None, seed=0, soft=True, split=0)"


@pytest.mark.parametrize(
    ("status", "level", "line"),
    [
        (
            "poisoned",
            "INFO",
            "Poisoned: about 8 edges planted (6–12, nine times in ten), expected precision 0.75; 8",
        ),
        ("no sign", "INFO", "No sign of poison; 0 of 300 edges removed. A clean graph like this one would get 3 flags"),
        ("uncertain", "WARNING", "Uncertain: a ranking only; 0 of 300 edges removed. A clean graph"),
        (
            "not suitable",
            "WARNING",
            "Not suitable: a clean graph like this one would get 3 flags, this one got 8; 0",
        ),
    ],
)
@pytest.mark.usefixtures("judge")
def test_the_verdict_is_logged(data: Any, caplog: pytest.LogCaptureFixture, status: str, level: str, line: str) -> None:
    with caplog.at_level("INFO", "focusedcleaner"):
        cleaned = Sanitize("judge", status=status)(data)
    assert cleaned.removed_edge_index.shape[1] == (8 if status == "poisoned" else 0)
    (entry,) = caplog.records
    assert (entry.name, entry.levelname) == ("focusedcleaner", level)
    assert entry.getMessage().startswith(line)


@pytest.mark.usefixtures("judge")
def test_the_log_tells_of_a_budget(data: Any, caplog: pytest.LogCaptureFixture) -> None:
    Sanitize("judge", budget=5, status="uncertain")(data)
    assert "5 edges were removed because the budget says so; that is not a finding." in caplog.text

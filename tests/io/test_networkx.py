"""NetworkX graphs and GraphML files."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import assume, given

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.convert import from_networkx, to_networkx
from tests.io.helpers import graphs, plain, relaxed, split


@relaxed
@given(graphs())
def test_networkx_loses_nothing(graph: Graph) -> None:
    assert from_networkx(to_networkx(graph)) == graph


def test_names_that_are_numbers_stay_names() -> None:
    graph = Graph.from_pairs(2, [[0, 1]], names=(0, 1))
    assert from_networkx(to_networkx(graph)).names == (0, 1)


def test_node_data_of_any_networkx_graph_are_read() -> None:
    own = nx.Graph()
    own.add_node("ann", label="spam", split="train", age=30, town="Bern")
    own.add_node("bob", height=1.5, split="test")
    own.add_edge("ann", "bob")
    graph = from_networkx(own)
    assert graph.names == ("ann", "bob")
    assert graph.class_names == ("spam",)
    assert graph.labels.tolist() == [0, -1]  # type: ignore[union-attr]
    assert graph.split == split([0], [], [1])
    assert graph.attribute_names == ("age", "height")
    assert graph.attributes.toarray().tolist() == [[30, 0], [0, 1.5]]  # type: ignore[union-attr]


def test_nodes_removed_after_conversion_stay_removed() -> None:
    other = to_networkx(Graph.from_pairs(3, [[0, 1], [1, 2]], labels=[0, 1, 1]))
    other.remove_node(0)
    assert from_networkx(other) == Graph.from_pairs(2, [[0, 1]], labels=[0, 0], class_names=("1",), names=(1, 2))


def test_directed_weighted_parallel_networkx_graphs_are_warned_of() -> None:
    with pytest.warns(InputWarning, match="1 edge was given in one direction only"):
        from_networkx(nx.DiGraph([(0, 1)]))
    with pytest.warns(InputWarning, match="1 repeated edge was dropped, 1 weight other than 1 was not used"):
        from_networkx(nx.MultiGraph([(0, 1, {"weight": 2}), (1, 0)]))
    assert from_networkx(nx.DiGraph([(0, 1), (1, 0)])).num_edges == 1


@pytest.mark.parametrize(
    ("node", "message"),
    [
        ({"split": "dev"}, "'dev': it must be train, val, test or empty"),
        ({"age": float("inf")}, "finite"),
        ({"age": 10**400}, "too large"),
    ],
)
def test_invalid_node_data_are_refused(node: dict[str, object], message: str) -> None:
    other = nx.Graph()
    other.add_node(0, **node)
    with pytest.raises(InputError, match=message):
        from_networkx(other)


def test_a_label_that_is_no_class_is_refused() -> None:
    other = to_networkx(Graph.from_pairs(1, [], labels=[0], class_names=("a",)))
    other.nodes[0]["label"] = "b"
    with pytest.raises(InputError, match="'b' is not among the class names"):
        from_networkx(other)


KEYS = """<key id="l" for="node" attr.name="label" attr.type="string"/>
<key id="s" for="node" attr.name="split" attr.type="string"/>
<key id="a" for="node" attr.name="age" attr.type="int"><default>18</default></key>
<key id="n" for="node" attr.name="nick" attr.type="string"/>
<key id="w" for="edge" attr.name="weight" attr.type="double"/>"""


def graphml(folder: Path, body: str, keys: str = KEYS, edgedefault: str = "undirected", before: str = "") -> Path:
    path = folder / "graph.graphml"
    path.write_text(
        f"<?xml version='1.0' encoding='utf-8'?>\n{before}"
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}'
        f'<graph edgedefault="{edgedefault}">{body}</graph></graphml>',
        encoding="utf-8",
    )
    return path


@relaxed
@given(graph=graphs(plain))
def test_graphml_loses_nothing_but_the_kind_of_mixed_ids(graph: Graph, tmp_path: Path) -> None:
    names = graph.names or ()
    assume(all(isinstance(name, int) for name in names) or any(str(name).strip("0123456789") for name in names))
    assume(len({type(name) for name in names}) < 2)
    assume(names != tuple(range(len(names))) or not names)
    save_graph(graph, tmp_path / "graph.graphml")
    first = (tmp_path / "graph.graphml").read_bytes()
    back = load_graph(tmp_path / "graph.graphml")
    assert back == graph
    save_graph(back, tmp_path / "graph.graphml")
    assert (tmp_path / "graph.graphml").read_bytes() == first


def test_node_data_of_any_graphml_file_are_read(tmp_path: Path) -> None:
    body = """<node id="x"><data key="l">spam</data><data key="s">train</data><data key="a">3</data></node>
    <node id="y"><data key="n">yes</data><data key="l"/></node><node id="z"><data key="l">ham</data></node>
    <edge source="x" target="z"/>"""
    assert load_graph(graphml(tmp_path, body)) == Graph.from_pairs(
        3,
        [[0, 2]],
        names=("x", "y", "z"),
        labels=[1, -1, 0],
        class_names=("ham", "spam"),
        split=split([0], [], []),
        attributes=[[3], [18], [18]],
        attribute_names=("age",),
    )


NODES = '<node id="x"/><node id="y"/><node id="z"/>'


def test_directions_weights_and_repetitions_are_counted(tmp_path: Path) -> None:
    body = f'{NODES}<edge source="x" target="y"/><edge source="y" target="x"/><edge source="y" target="z"/>'
    with pytest.warns(InputWarning, match=r"graph\.graphml: 1 edge was given in one direction only"):
        assert load_graph(graphml(tmp_path, body, edgedefault="directed")).num_edges == 2
    with pytest.warns(InputWarning, match=r"graph\.graphml: 1 repeated edge was dropped$"):
        assert load_graph(graphml(tmp_path, body)).num_edges == 2
    twice = '<edge id="e" source="x" target="y"><data key="w">2</data></edge><edge source="x" target="x"/>'
    with pytest.warns(InputWarning, match="1 self-loop was dropped, 1 weight other than 1 was not used"):
        assert load_graph(graphml(tmp_path, NODES + twice)).num_edges == 1


@pytest.mark.parametrize(
    "before",
    [
        "<!DOCTYPE graphml>",
        '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused_in_any_encoding(before: str, encoding: str, tmp_path: Path) -> None:
    path = graphml(tmp_path, NODES, before=before)
    path.write_bytes(path.read_text(encoding="utf-8").replace("utf-8", encoding).encode(encoding))
    with pytest.raises(InputError, match=r"graph\.graphml: has a DOCTYPE"):
        load_graph(path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("<node", "is not XML"),
        ("", "the graph is empty"),
        ('<node id="x"><data key="q">1</data></node>', "no key q"),
        ('<node id="x"><data key="a">old</data></node>', "is not GraphML that can be read"),
        ('<node id="x"><data key="s">dev</data></node>', "must be train, val, test or empty"),
        ("</graph><graph>", "has 2 graphs"),
        (f'{NODES}<edge source="x" target="y"><data key="w">-1</data></edge>', "edge x–y has weight -1"),
        (f'{NODES}<edge source="x" target="y"><data key="w">NaN</data></edge>', "edge x–y has weight nan"),
        ("<hyperedge/>", "hyperedges"),
        (f'{NODES}<edge source="x" target="y" directed="true"/>', "directed=true"),
    ],
)
def test_invalid_graphml_is_refused(body: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load_graph(graphml(tmp_path, body))
    assert message in str(error.value)
    assert str(error.value).startswith(f"{tmp_path}/graph.graphml: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("about", ["{", "[]", '{"class_names": [1]}', '{"notes": {"a": 1}}', '{"attributes": "x"}'])
def test_metadata_from_a_file_are_checked(about: str, tmp_path: Path) -> None:
    keys = '<key id="f" for="graph" attr.name="focusedcleaner" attr.type="string"/>'
    with pytest.raises(InputError, match="its graph data 'focusedcleaner'"):
        load_graph(graphml(tmp_path, f'{NODES}<data key="f">{about}</data>', keys=keys))


def test_an_attribute_that_is_text_on_some_nodes_is_said(tmp_path: Path) -> None:
    keys = "".join(f'<key id="{kind}" for="node" attr.name="age" attr.type="{kind}"/>' for kind in ("int", "string"))
    data = {"x": ("int", 3), "y": ("int", 4), "z": ("string", "old")}
    body = "".join(f'<node id="{n}"><data key="{key}">{value}</data></node>' for n, (key, value) in data.items())
    said = r"graph\.graphml: the node data 'age' is a number on 2 nodes and something else on 1, so it is no attribute"
    with pytest.warns(InputWarning, match=said):
        assert load_graph(graphml(tmp_path, body, keys=keys)).attributes is None


def test_ports_are_counted(tmp_path: Path) -> None:
    body = (
        '<node id="x"><port name="N"/><port name="S"/></node><node id="y"/><edge source="x" target="y" sourceport="N"/>'
    )
    with pytest.warns(InputWarning, match="2 ports ignored: edges join whole nodes"):
        assert load_graph(graphml(tmp_path, body)).num_edges == 1

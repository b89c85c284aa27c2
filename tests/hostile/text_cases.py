"""Hostile CSV tables, GraphML files and splits."""

from __future__ import annotations

from tests.hostile.case import WORKS, Case, Content, npz


def _table(what: str, answer: str, edges: Content, nodes: Content | None = None, point: int | None = None) -> Case:
    files = {"graph.csv": edges, **({} if nodes is None else {"graph.nodes.csv": nodes})}
    return Case(f"table {what}", answer, ("check", "graph.csv"), files, point)


def _nodes(what: str, answer: str, nodes: Content, point: int | None = None) -> Case:
    return _table(what, answer, "a,b\n", nodes, point)


def _graphml(what: str, answer: str, body: Content, point: int | None = None, keys: str = "") -> Case:
    if isinstance(body, str):
        body = f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{KEYS}{keys}<graph edgedefault="undirected">{body}</graph></graphml>'
    return Case(f"graphml {what}", answer, ("check", "graph.graphml"), {"graph.graphml": body}, point)


def _split(what: str, answer: str, text: Content) -> Case:
    files = {"graph.npz": npz(), "split.json": text}
    return Case(f"split file {what}", answer, ("check", "graph.npz", "--split", "split.json"), files)


LONG = "x" * 1001
FORMULAS = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "'=1", "＝1", "=cmd|' /C calc'!A0"]

TABLES = [
    _table("empty", "the graph is empty", ""),
    _table("of blank lines", "the graph is empty", "\n\n \n"),
    _table("of a header", "the graph is empty", "source,target\n"),
    _table("of one column", "an edge table needs two columns", "a\nb\n"),
    _table("of four columns", WORKS, "a,b,c,d\n"),
    _table("of unequal rows", "line 2: has 3 columns", "a,b\na,b,c\n"),
    _table("with an open quote", "line 1: a quote is opened and never closed", 'a,"b\n'),
    _table("with a quote inside", "line 1: a quote inside a cell", 'a,"b"c\n'),
    _table("with a quote in the middle", "line 2: a quote inside a cell", 'a,b\nx,5" pipe\n'),
    _table("in Latin-1", "is not UTF-8 text", "é,b\n".encode("latin-1")),
    _table("in UTF-16", "is not UTF-8 text", "a,b\n".encode("utf-16")),
    _table("with a byte-order mark", WORKS, b"\xef\xbb\xbfa,b\n"),
    _table("of NUL bytes", "control characters", "a\0,b\n"),
    _table("of binary", "is not UTF-8 text", bytes(range(256))),
    _table("of carriage returns", WORKS, "a,b\rb,c\r"),
    _table("with an empty id", "line 2: a node id is empty", "a,b\na,\n"),
    _table("with a carriage return in an id", "node 'b\\rc': a name", 'a,"b\rc"\n', point=5),
    _table("with a line feed in an id", "control characters", 'a,"b\nc"\n', point=5),
    _table("with an escape sequence in an id", "control characters", "a,\x1b[31mred\n", point=5),
    _table("with a C1 control in an id", "control characters", "a,\x9b31m\n", point=5),
    _table("with an encoded surrogate", "is not UTF-8 text", b"a,\xed\xa0\x80\n", point=5),
    _table("with an id of 1,001 characters", "at most 1,000 characters, not 1,001", f"a,{LONG}\n", point=5),
    _table("with an id of 200,000 characters", "at most 1,000 characters, not 200,000", f"a,{'x' * 200_000}\n", point=5),
    _table("with an id of 400 digits", WORKS, f"a,{'9' * 400}\n"),
    _table("with ids of 290 digits", WORKS, f"{'9' * 290},{'8' * 290}\n"),
    _table("with ids of other digits", WORKS, "١,٢\n٢,٣\n"),
    _table("with ids that differ in zeros", WORKS, "1,01\n01,001\n"),
    _table("with signed ids", WORKS, "-1,1\n1,+1\n"),
    *(_table(f"with the id {formula}", WORKS, f"a,{formula}\n", point=5) for formula in FORMULAS),
    _table("with =x and '=x", WORKS, "=x,'=x\n", point=5),
    _table("with a weight of text", "line 2: the weight 'x' is not a number", "source,target,weight\na,b,x\n"),
    _table("with a weight of nan", WORKS, "source,target,weight\na,b,nan\n"),
    _table("with a weight of 1e999", "line 1: the weight '1e999' is not finite", "a,b,1e999\n"),
    _table("with a weight of 400 digits", "is not finite", f"a,b,{'9' * 400}\n"),
    _table("with a negative weight", WORKS, "a,b,-1\n"),
    _table("with weights of zero", WORKS, "a,b,0\n"),
    _table("with a header above numbers", WORKS, "one,two\n1,2\n"),
    _table("with a header it can't know", "may be a header or an edge", "one,two\na,b\nc,d\n"),
    _table("with a header of unknown names", "--source and --target; the columns are one, two, n", "one,two,n\na,b,1\n"),
    _table("with two source columns", WORKS, "source,u,target\na,x,b\n"),
    _table("of self-loops", WORKS, "a,a\nb,b\n"),
    _table("of one line of 20 MB", "has a line of more than", "a," * 10_000_000, point=7),
    _table("of a line of a million cells", "at most 10,000 columns, not 1,000,000", ",".join("ab" for _ in range(1_000_000)), point=7),
    _table("of 100,000 commas in line 2", "line 2: has 100,001 columns", f"a,b\n{',' * 100_000}\n", point=7),
    _table("of quotes", "an edge table needs two columns", '""""""""\n'),
    _nodes("with no node table header", "which column holds the nodes' ids?", ""),
    _nodes("with an empty node table", "2 of the 2 nodes with edges are not in it", "id\n"),
    _nodes("with a node twice", "line 4: node 'a' comes twice", "id\na\nb\na\n"),
    _nodes("with an empty id in the node table", "line 2: a node id is empty", "id,x\n,1\n"),
    _nodes("with a control character in the node table", "control characters", "id\na\nb\n\x07\n", point=5),
    _nodes("with a long id in the node table", "line 4: node 'xxx", f"id\na\nb\n{LONG}\n", point=5),
    _nodes("with columns of one name", "two columns called 'x'", "id,x,x\na,1,1\nb,1,1\n"),
    _nodes("with two id columns", "two columns called 'id'", "id,ID\na,1\nb,2\n"),
    _nodes("with an attribute of text", WORKS, "id,x\na,1\nb,red\n"),
    _nodes("with an empty attribute", WORKS, "id,x\na,1\nb,\n"),
    _nodes("with an infinite attribute", "line 3: the value of 'x' 'inf' is not finite", "id,x\na,1\nb,inf\n"),
    _nodes("with an attribute of 400 digits", "is not finite", f"id,x\na,1\nb,{'9' * 400}\n"),
    _nodes("with an attribute of 5,000 digits", "is not finite", f"id,x\na,1\nb,{'9' * 5000}\n"),
    _nodes("with a control character in a header", "attribute name 'x\\x07' can't", "id,x\x07\na,1\nb,1\n", point=5),
    _nodes("with a long header", "attribute name 'xxx", f"id,{LONG}\na,1\nb,1\n", point=5),
    _nodes("with an unknown split", "line 2: the split 'dev' must be", "id,split\na,dev\nb,\n"),
    _nodes("with a long split", "line 2: the split 'xxx", f"id,split\na,{LONG}\nb,\n"),
    _nodes("with a short row", "line 2: has 1 columns", "id,x\na\n"),
    _nodes("with labels of gaps", WORKS, "id,label\na,0\nb,7\n", point=6),
    _nodes("with a label of 100,000", WORKS, "id,label\na,0\nb,100000\n", point=6),
    _nodes("with a label of a billion", WORKS, "id,label\na,0\nb,1000000000\n", point=6),
    _nodes("with a label of 400 digits", WORKS, f"id,label\na,0\nb,{'9' * 400}\n", point=6),
    _nodes("with a label of -2", WORKS, "id,label\na,0\nb,-2\n", point=6),
    _nodes("with a label of 1.5", WORKS, "id,label\na,0\nb,1.5\n", point=6),
    _nodes("with a label of nan", WORKS, "id,label\na,0\nb,nan\n", point=6),
    _nodes("with labels true and false", WORKS, "id,label\na,true\nb,false\n", point=6),
    _nodes("with labels of other digits", WORKS, "id,label\na,١\nb,٢\n", point=6),
    _nodes("with a label of control characters", "class name 'b\\x07' can't", "id,label\na,0\nb,b\x07\n", point=5),
    _nodes("with a long label", "class name 'xxx", f"id,label\na,0\nb,{LONG}\n", point=5),
    _nodes("with formulas for labels", WORKS, "id,label\na,=1+1\nb,'=1+1\n", point=5),
    Case("table with 100,000 attributes", WORKS, ("check", "graph.csv"), {"graph.csv": "a,b\n", "graph.nodes.csv": f"id,{','.join(map(str, range(100_000)))}\na{',0' * 100_000}\nb{',1' * 100_000}\n"}, 7, megabytes=1536),
    _nodes("without most nodes", "is 'id' its column of ids? --id names another", "id\nx\ny\n"),
    _nodes("with a column of dates", WORKS, "id,d\na,2020-01-01\nb,31.12.2020\n"),
    _nodes("with hostile categories", "attribute name 'x=\\x07' can't", "id,x\na,\x07\nb,q\n", point=5),
    *(
        Case(f"table {what}", answer, ("check", name), {name: content})
        for what, answer, name, content in (
            ("of SNAP", WORKS, "graph.txt", "# Nodes: 3\n0\t1\n1   2\n\n% end\n"),
            ("of SNAP with a short row", "line 3: has 1 columns", "graph.txt", "# x\n0 1\n2\n"),
            ("of comments", "the graph is empty", "graph.txt", "# a\n# b\n"),
            ("of tabs", WORKS, "graph.tsv", "source\ttarget\na,b\tc\n"),
            ("of Parquet that is empty", "is not a Parquet file", "graph.parquet", ""),
            ("of Parquet that is text", "is not a Parquet file", "graph.parquet", "a,b\n"),
            ("of Parquet that is cut off", "is not a Parquet file, or a damaged one", "graph.parquet", b"PAR1\0\0\0\0"),
            ("of Parquet with a wrong footer", "is not a Parquet file, or a damaged one", "graph.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1"),
        )
    ),
    Case("table of nodes instead of edges", "is a node table", ("check", "graph.nodes.csv"), {"graph.nodes.csv": "id\na\n"}),
    Case("table with a missing node table", "there is no such file", ("check", "graph.csv", "--nodes", "absent.csv"), {"graph.csv": "a,b\n"}),
    Case("table with a folder for its node table", "is a folder", ("check", "graph.csv", "--nodes", "."), {"graph.csv": "a,b\n"}),
    Case("table with itself as node table", "which column holds", ("check", "graph.csv", "--nodes", "graph.csv"), {"graph.csv": "a,b\n"}),
]  # fmt: skip

NODES = '<node id="x"/><node id="y"/><node id="z"/>'
EDGE = '<edge source="x" target="y"/>'
KEYS = """<key id="l" for="node" attr.name="label" attr.type="string"/><key id="s" for="node" attr.name="split" attr.type="string"/>
<key id="a" for="node" attr.name="age" attr.type="int"/><key id="t" for="node" attr.name="age" attr.type="string"/>
<key id="b" for="node" attr.name="old" attr.type="boolean"/><key id="d" for="node" attr.name="size" attr.type="double"/>
<key id="w" for="edge" attr.name="weight" attr.type="double"/><key id="f" for="graph" attr.name="focusedcleaner" attr.type="string"/>"""


def _data(key: str, *values: str) -> str:
    """Nodes with one piece of data each, and an edge."""
    nodes = zip("xyz", values, strict=False)
    return (
        "".join(f'<node id="{node}"><data key="{key}">{value}</data></node>' for node, value in nodes)
        + NODES[len(values) * 14 :]
        + EDGE
    )


GRAPHML = [
    _graphml("empty", "is not XML", b""),
    _graphml("of text", "is not XML", b"graph"),
    _graphml("cut short", "is not XML", b"<graphml><graph>"),
    _graphml("of another language", "has 0 graphs", b"<html><body/></html>"),
    _graphml("without a graph", "has 0 graphs", b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns"/>'),
    _graphml("in an unknown encoding", "is not XML", b"<?xml version='1.0' encoding='klingon'?><graphml/>"),
    _graphml("in UTF-16 that is none", "is not XML", b"<?xml version='1.0' encoding='utf-16'?><graphml/>"),
    _graphml("in Latin-1 that is not declared", "is not XML", "<graphml a='é'/>".encode("latin-1")),
    _graphml("with a document type", "has a DOCTYPE", b"<!DOCTYPE g><graphml/>"),
    _graphml("with entities", "has a DOCTYPE", b'<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><graphml>&b;</graphml>'),
    _graphml("with an entity of a file", "has a DOCTYPE", b'<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]><graphml>&a;</graphml>'),
    _graphml("with an unknown entity", "is not XML", f"{NODES}&evil;"),
    _graphml("with NUL", "is not XML", f"{NODES}\0"),
    _graphml("with a control character reference", "is not XML", '<node id="&#7;"/>', 5),
    _graphml("with a surrogate reference", "is not XML", '<node id="&#xD800;"/>', 5),
    _graphml("with a line feed in an id", "control characters", '<node id="a&#10;b"/>', 5),
    _graphml("with a carriage return in an id", "control characters", '<node id="a&#13;b"/>', 5),
    _graphml("with a C1 control in an id", "control characters", '<node id="&#x9b;31m"/>', 5),
    _graphml("with an id of 1,001 characters", "at most 1,000 characters", f'<node id="{LONG}"/>', 5),
    _graphml("with a formula for an id", WORKS, f'{NODES}<node id="=1+1"/>{EDGE}', 5),
    _graphml("of no nodes", "the graph is empty", ""),
    _graphml("of no edges", WORKS, NODES),
    _graphml("nested", "nested graphs are not supported", f'<node id="n"><graph edgedefault="undirected">{NODES}</graph></node>{EDGE}', 9),
    _graphml("nested in the graph", "nested graphs are not supported", f'{NODES}{EDGE}<graph edgedefault="undirected"/>', 9),
    _graphml("with two graphs", "has 2 graphs", f"{NODES}</graph><graph edgedefault='directed'><node id='q'/>", 9),
    _graphml("with a node without an id", "a node has no id", f"<node/>{NODES}{EDGE}", 9),
    _graphml("with an empty id", "a node has no id", f'<node id=""/>{NODES}{EDGE}', 9),
    _graphml("with a node twice", "node 'x' comes twice", f'{NODES}<node id="x"/>{EDGE}', 9),
    _graphml("with an edge without a source", "an edge has no source", f'{NODES}<edge target="y"/>', 9),
    _graphml("with an edge without a target", "an edge has no target", f'{NODES}<edge source="y"/>', 9),
    _graphml("with an edge without ends", "an edge has no source", f"{NODES}<edge/>", 9),
    _graphml("with an undeclared end", "names node 'q', which the file does not declare", f'{NODES}<edge source="x" target="q"/>', 9),
    _graphml("with an edge before its nodes", WORKS, f"{EDGE}{NODES}"),
    _graphml("with hyperedges", "hyperedges", f'{NODES}<hyperedge><endpoint node="x"/></hyperedge>', 9),
    _graphml("with ports", WORKS, f'{NODES}<node id="p"><port name="N"/></node>{EDGE}', 9),
    _graphml("with an undeclared key", "no key q", f'{NODES}<node id="n"><data key="q">1</data></node>', 9),
    _graphml("with data without a key", "is not GraphML", f'{NODES}<node id="n"><data>1</data></node>', 9),
    _graphml("with an attribute that is text on a node", WORKS, f'{NODES}<node id="n"><data key="a">1</data></node><node id="m"><data key="t">old</data></node>{EDGE}', 9),
    _graphml("with a mixed direction", "directed=true", f'{NODES}<edge source="x" target="y" directed="true"/>'),
    _graphml("with a whole number that is none", "is not GraphML", _data("a", "old")),
    _graphml("with a whole number of 400 digits", "too large a number", _data("a", "9" * 400)),
    _graphml("with a whole number of 5,000 digits", "is not GraphML", _data("a", "9" * 5000)),
    _graphml("with a number of NaN", "attributes must be finite", _data("d", "NaN")),
    _graphml("with a number of 1e999", "attributes must be finite", _data("d", "1e999")),
    _graphml("with booleans", WORKS, _data("b", "true", "false", "1")),
    _graphml("with a boolean that is none", "is not GraphML", _data("b", "maybe")),
    _graphml("with an unknown split", "must be train, val, test or empty", _data("s", "dev")),
    _graphml("with labels of gaps", WORKS, _data("l", "0", "7", "7"), 6),
    _graphml("with a label of a billion", WORKS, _data("l", "0", "1", "1000000000"), 6),
    _graphml("with a label of -2", WORKS, _data("l", "0", "1", "-2"), 6),
    _graphml("with a label of control characters", "class name 'a\\nb'", _data("l", "a&#10;b", "1"), 5),
    _graphml("with a long label", "class name 'xxx", _data("l", LONG, "1"), 5),
    _graphml("with a negative weight", "edge x–y has weight -1", f'{NODES}<edge source="x" target="y"><data key="w">-1</data></edge>'),
    _graphml("with a weight of NaN", "has weight nan", f'{NODES}<edge source="x" target="y"><data key="w">NaN</data></edge>'),
    _graphml("with a weight of text", "is not GraphML", f'{NODES}<edge source="x" target="y"><data key="w">x</data></edge>'),
    _graphml("with metadata that are no JSON", "is not JSON", f'{NODES}<data key="f">{{</data>'),
    _graphml("with metadata of a list", "does not hold what it should", f'{NODES}<data key="f">[]</data>'),
    _graphml("with metadata too deep", "is not JSON", f'{NODES}<data key="f">{"[" * 100_000}</data>'),
    _graphml("with metadata of 5,000 digits", "is not JSON", f'{NODES}<data key="f">{"9" * 5000}</data>'),
    _graphml("with a million attributes in its metadata", WORKS, f'{NODES}{EDGE}<data key="f">{{"attributes": {str([str(n) for n in range(100_000)]).replace(chr(39), chr(34))}}}</data>', 7),
    _graphml("with 5,000 class names", "5,000 classes for 3 nodes", f'{NODES}{EDGE}<data key="f">{{"class_names": {str([str(n) for n in range(5_000)]).replace(chr(39), chr(34))}}}</data>', 6),
    _graphml("101 deep", "nested more than 100 deep", "<desc>" * 101 + "</desc>" * 101, 9),
    _graphml("a million deep", "nested more than 100 deep", b"<graphml>" + b"<a>" * 1_000_000, 7),
    _graphml("with an attribute of 10 MB", WORKS, f'{NODES}{EDGE}<desc about="{"x" * 10_000_000}"/>', 7),
    _graphml("with an unknown type of key", "is not GraphML", NODES, keys='<key id="q" for="node" attr.name="q" attr.type="matrix"/>'),
    _graphml("with a key without a type", WORKS, f"{NODES}{EDGE}", keys='<key id="q" for="node" attr.name="q"/>'),
    _graphml("with a default that is no number", "is not GraphML", f"{NODES}{EDGE}", keys='<key id="q" for="node" attr.name="q" attr.type="int"><default>x</default></key>'),
]  # fmt: skip

SPLITS = [
    _split("empty", "is not JSON", ""),
    _split("of text", "is not JSON", "idx_train"),
    _split("cut short", "is not JSON", '{"idx_train": [0'),
    _split("too deep", "is not JSON", "[" * 100_000),
    _split("of a list", "must be a JSON object", "[0, 1]"),
    _split("of null", "must be a JSON object", "null"),
    _split("in UTF-16", "is not UTF-8 text", "{}".encode("utf-16")),
    _split("of NUL", "is not JSON", b"\0\0\0"),
    _split("without lists", "lacks the list idx_train", "{}"),
    _split("with null for a list", "lacks the list idx_train", '{"idx_train": null, "idx_val": [], "idx_test": []}'),
    _split("with text for a list", "must be a list of whole numbers", '{"idx_train": "01", "idx_val": [], "idx_test": []}'),
    _split("with floats", "must be a list of whole numbers", '{"idx_train": [0.0], "idx_val": [], "idx_test": []}'),
    _split("with booleans", "must be a list of whole numbers", '{"idx_train": [true], "idx_val": [], "idx_test": []}'),
    _split("with lists in a list", "must be a list of whole numbers", '{"idx_train": [[0]], "idx_val": [], "idx_test": []}'),
    _split("with NaN", "must be a list of whole numbers", '{"idx_train": [NaN], "idx_val": [], "idx_test": []}'),
    _split("with 2**70", "must be a list of whole numbers", f'{{"idx_train": [{2**70}], "idx_val": [], "idx_test": []}}'),
    _split("with 400 digits", "must be a list of whole numbers", f'{{"idx_train": [{"9" * 400}], "idx_val": [], "idx_test": []}}'),
    _split("with 5,000 digits", "is not JSON", f'{{"idx_train": [{"9" * 5000}], "idx_val": [], "idx_test": []}}'),
    _split("with a negative node", "node numbers start at 0", '{"idx_train": [-1], "idx_val": [], "idx_test": []}'),
    _split("with a node twice", "names node 1 twice", '{"idx_train": [1], "idx_val": [1], "idx_test": []}'),
    _split("of another graph", "names node 5", '{"idx_train": [0], "idx_val": [], "idx_test": [5]}'),
    _split("of no nodes", WORKS, '{"idx_train": [], "idx_val": [], "idx_test": []}'),
    _split("with more than it needs", WORKS, '{"idx_train": [0], "idx_val": [1], "idx_test": [2], "seed": 15}'),
    _split("with a list twice", WORKS, '{"idx_train": [9], "idx_train": [0], "idx_val": [], "idx_test": []}'),
]  # fmt: skip

CASES = [*TABLES, *GRAPHML, *SPLITS]

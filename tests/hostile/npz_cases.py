"""Hostile npz files: graphs and adjacency matrices."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

import numpy as np
import scipy.sparse as sp

from tests.hostile.case import WORKS, Case, claimed, members, npy, npz, with_member, zipped


def _changed(what: str, answer: str, point: int | None = None, **changed: Any) -> Case:
    return Case(what, answer, files={"graph.npz": npz(**changed)}, point=point)


def _labelled(what: str, answer: str, *labels: Any, dtype: Any = None) -> Case:
    return _changed(f"labels {what}", answer, point=6, labels=np.array(labels, dtype=dtype))


def _named(what: str, answer: str, *names: str) -> Case:
    return _changed(f"names {what}", answer, point=5, node_names=np.array(names))


def _raw(what: str, answer: str, content: bytes, point: int | None = None) -> Case:
    return Case(what, answer, files={"graph.npz": content}, point=point)


def _member(what: str, answer: str, content: bytes, name: str = "adj_data", point: int | None = None) -> Case:
    return _raw(f"{name} {what}", answer, with_member(name, content), point)


def _adjacency(what: str, answer: str, **arrays: Any) -> Case:
    whole = {"format": b"csr", "shape": [3, 3], "data": np.ones(4), "indices": [1, 0, 2, 1], "indptr": [0, 1, 3, 4]}
    buffer = io.BytesIO()
    np.savez(buffer, **{name: array for name, array in (whole | arrays).items() if array is not None})
    files = {"graph.npz": npz(), "adjacency.npz": buffer.getvalue()}
    return Case(f"adjacency {what}", answer, ("check", "graph.npz", "--adjacency", "adjacency.npz"), files)


def _star(leaves: int) -> dict[str, Any]:
    """The arrays of a star, whose edges are many and whose columns compress to nothing."""
    matrix = sp.csr_array((np.ones(leaves, np.int8), (np.zeros(leaves, int), np.arange(1, leaves + 1))))
    size = leaves + 1
    matrix.resize((size, size))
    parts = {
        "adj_data": matrix.data,
        "adj_indices": matrix.indices,
        "adj_indptr": matrix.indptr,
        "adj_shape": [size] * 2,
    }
    return parts | dict.fromkeys(("attr_data", "attr_indices", "attr_indptr", "attr_shape", "labels"))


def _twice(name: str) -> bytes:
    """The file with a second member of the same name."""
    buffer = io.BytesIO(npz())
    with zipfile.ZipFile(buffer, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        archive.writestr(name, archive.read(name))
    return buffer.getvalue()


def _bomb(method: int) -> bytes:
    """Zeros that compress a thousand times or, with bzip2, a million times; as floats they take 320 MB."""
    buffer = io.BytesIO(npz(adj_data=None))
    with zipfile.ZipFile(buffer, "a", method) as archive:
        archive.writestr("adj_data.npy", claimed("|i1", (40_000_000,), bytes(40_000_000)))
    return buffer.getvalue()


NO_ATTRIBUTES = dict.fromkeys(("attr_data", "attr_indices", "attr_indptr", "attr_shape"))
LONG = "x" * 1001
HUGE = np.array([3, 2_000_000_000])
ZIP = npz()
END = ZIP.rindex(b"PK\x05\x06")

CASES = [
    # files that are no archives, or damaged ones
    _raw("empty file", "is not an npz file", b""),
    _raw("one byte", "is not an npz file", b"P"),
    _raw("text", "is not an npz file", b"not a zip"),
    _raw("magic only", "is not an npz file", b"PK\x03\x04"),
    _raw("end record only", "is not a graph file", b"PK\x05\x06" + bytes(18)),
    _raw("npy file", "is not an npz file", claimed("<f8", (1,), bytes(8))),
    _raw("pickle", "is not an npz file", b"\x80\x04\x95cos\nsystem\n"),
    _raw("cut in half", "is not an npz file", ZIP[: len(ZIP) // 2]),
    _raw("without its end", "is not an npz file", ZIP[:END]),
    _raw("junk before", WORKS, b"junk" * 10 + ZIP),
    _raw("junk after", WORKS, ZIP + b"\0" * 10),
    _raw("no members", "is not a graph file", zipped({})),
    _raw("members that are no arrays", "is not a graph file", zipped({"adj_data": b"1", "a.txt": b"x"})),
    _raw("a path that climbs out", WORKS, zipped({**members(ZIP), "../../evil.npy": claimed("<f8", (1,), bytes(8))})),
    _raw("an escape sequence in a name", "the name of an array holds control", zipped({"\x1b[31m.npy": b"", **members(ZIP)})),
    _raw("zip in a zip", "is not a graph file", zipped({"graph.npz": ZIP})),
    _raw("stored, not compressed", WORKS, zipped(members(ZIP), compress=False)),
    _raw("bomb", "would expand to", _bomb(zipfile.ZIP_DEFLATED), point=7),
    _raw("bomb of bzip2", "would expand to", _bomb(zipfile.ZIP_BZIP2), point=7),
    # headers of arrays
    _member("empty", "the array adj_data is damaged", b""),
    _member("text", "the array adj_data is damaged", b"one"),
    _member("magic only", "the array adj_data is damaged", b"\x93NUMPY"),
    _member("version 9", "version 9.0 of the npy format", npy("{}", version=b"\x09\x00")),
    _member("version 3", "version 3.0 of the npy format", npy("{}", version=b"\x03\x00")),
    _member("no dict", "the array adj_data is damaged", npy("[]")),
    _member("code for a header", "the array adj_data is damaged", npy("__import__('os').system('id')")),
    _member("deep header", "the array adj_data is damaged", npy("(" * 5000)),
    _member("header without a shape", "the array adj_data is damaged", npy("{'descr': '<f8', 'fortran_order': False}")),
    _member("shape of text", "the array adj_data is damaged", npy("{'descr':'<f8','fortran_order':False,'shape':'4'}")),
    _member("unknown type", "the array adj_data is damaged", claimed("<q99", (4,))),
    _member("negative shape", "the array adj_data is damaged", claimed("<f8", (-4,))),
    _member("huge shape", "it is shorter than it says", claimed("<f8", (10**14,), bytes(8)), point=7),
    _member("shape beyond 64 bits", "is damaged", claimed("<f8", (10**30,), bytes(8)), point=7),
    _member("overflowing product", "is damaged", claimed("<f8", (2**33, 2**33), bytes(8)), point=7),
    _member("items of no size", "would expand to", claimed("<U0", (10**9,)), point=7),
    _member("half of its items", "the array adj_data is damaged", claimed("<f8", (4,), bytes(16))),
    _member("more items than it claims", WORKS, claimed("<f4", (4,), np.ones(9, "f4").tobytes())),
    _member("pickled", "is pickled and is not loaded", claimed("|O", (4,), b"\x80\x04N.")),
    _member("records", "flat array of numbers", claimed("V8", (4,), bytes(32))),
    _member("dates", "flat array of numbers", claimed("<M8[s]", (4,), bytes(32))),
    _member("complex", "flat array of numbers", claimed("<c16", (4,), bytes(64))),
    _member("pickled, not needed", WORKS, claimed("|O", (4,), b"\x80\x04N."), "idx_to_node"),
    _member("damaged, not needed", "the array other is damaged", b"junk", "other"),
    _member("big-endian", WORKS, claimed(">f4", (4,), np.ones(4, ">f4").tobytes())),
    _raw("an array twice", "two of its arrays have the same name", _twice("labels.npy")),
    # sizes that do not fit each other
    _changed("no data", "lacks the array adj_data", adj_data=None),
    _changed("no indices", "lacks the array adj_indices", adj_indices=None),
    _changed("no indptr", "lacks the array adj_indptr", adj_indptr=None),
    _changed("no shape", "lacks the array adj_shape", adj_shape=None),
    _changed("more data than indices", "indptr does not fit", adj_data=np.ones(5)),
    _changed("indptr too short", "there are 3 labels for 2 nodes", adj_indptr=np.array([0, 1, 4])),
    _changed("indptr decreasing", "indptr does not fit", adj_indptr=np.array([0, 3, 1, 4])),
    _changed("indptr beyond the data", "indptr does not fit", adj_indptr=np.array([0, 1, 3, 400])),
    _changed("indptr from one", "indptr does not fit", adj_indptr=np.array([1, 1, 3, 4])),
    _changed("column out of range", "names column 3", adj_indices=np.array([1, 0, 3, 1])),
    _changed("negative column", "names column -1", adj_indices=np.array([1, 0, -1, 1])),
    _changed("column of 64 bits", "names column", adj_indices=np.array([1, 0, 2**62, 1])),
    _changed("unsigned column", "names column", adj_indices=np.array([1, 0, 2**64 - 1, 1], np.uint64)),
    _changed("two-dimensional data", "flat array of numbers", adj_data=np.ones((2, 2))),
    _changed("scalar data", "flat array of numbers", adj_data=np.float64(1)),
    _changed("not square", "must be square", adj_shape=np.array([3, 4])),
    _changed("shape of three", "shape must be two whole numbers", adj_shape=np.array([3, 3, 3])),
    _changed("shape of floats", "shape must be two whole numbers", adj_shape=np.array([3.0, 3.0])),
    _changed("negative shape", "shape must be two whole numbers", adj_shape=np.array([3, -3])),
    _changed("shape beyond 64 bits", "shape must be two whole numbers", adj_shape=np.array([2**63] * 2, np.uint64)),
    _changed("two billion nodes", "indptr does not fit", point=7, adj_shape=np.array([2_000_000_000] * 2)),
    _changed("two billion attributes", "claims 2,000,000,000 columns", point=7, attr_shape=HUGE),
    _changed("a million empty attributes", WORKS, point=7, attr_shape=np.array([3, 2**20])),
    _changed("attributes for two nodes", "2 rows of attributes for 3 nodes", attr_indptr=np.array([0, 1, 2])),
    _changed("attributes of text", "flat array of numbers", attr_data=np.array(["a", "b"])),
    _changed("attributes infinite", "attributes must be finite: node 2", attr_data=np.array([1, np.inf])),
    _changed("attributes NaN", "attributes must be finite: node 0", attr_data=np.array([np.nan, 1])),
    _changed("dense attributes too long", "4 rows of attributes", **NO_ATTRIBUTES, attr_matrix=np.ones((4, 1))),
    _changed("dense attributes flat", "must be a matrix of numbers", **NO_ATTRIBUTES, attr_matrix=np.ones(3)),
    _changed("dense attributes of text", "must be a matrix", **NO_ATTRIBUTES, attr_matrix=np.array([["a"]] * 3)),
    _changed("dense attributes of no column", WORKS, **NO_ATTRIBUTES, attr_matrix=np.ones((3, 0))),
    _changed("empty graph", "the graph is empty", adj_data=[], adj_indices=np.array([], int), adj_indptr=[0], adj_shape=[0, 0]),
    _changed("no edges", WORKS, adj_data=[], adj_indices=np.array([], int), adj_indptr=[0] * 4),
    _changed("self-loops only", WORKS, adj_indices=np.array([0, 1, 1, 2])),
    _changed("negative weight", "edge 1–2 has weight -2", adj_data=np.array([1, 1, -2.0, 1])),
    _changed("NaN weight", "has weight nan", adj_data=np.array([1, 1, np.nan, 1])),
    _changed("infinite weight", "has weight inf", adj_data=np.array([1, np.inf, 1, 1])),
    _changed("weights of zero", WORKS, adj_data=np.zeros(4)),
    _changed("huge weights", WORKS, adj_data=np.full(4, 1e308)),
    Case("a star of 200,000 leaves", WORKS, files={"graph.npz": npz(**_star(200_000))}, point=7),
    # class numbers
    _labelled("with gaps", WORKS, 0, 7, 7),
    _labelled("of 100,000", WORKS, 0, 1, 100_000),
    _labelled("of a billion", WORKS, 0, 1, 10**9),
    _labelled("of 2**63 - 1", WORKS, 0, 1, 2**63 - 1),
    _labelled("of 2**63", "is too large", 0, 1, 2**63, dtype=np.uint64),
    _labelled("of -2", "label -2 is negative", 0, 1, -2),
    _labelled("of NaN", WORKS, 0, 1, np.nan),
    _labelled("of 1.5", "label 1.5 is not a whole number", 0, 1, 1.5),
    _labelled("of infinity", "label inf is not a whole number", 0, 1, np.inf),
    _labelled("of 1e300", "is not a whole number", 0, 1, 1e300),
    _labelled("true and false", WORKS, True, False, True),
    _labelled("of text", "one class number per node", "0", "1", "1"),
    _labelled("complex", "one class number per node", 0j, 1, 1),
    _labelled("all unknown", WORKS, -1, -1, -1),
    _labelled("too few", "there are 2 labels for 3 nodes", 0, 1),
    _changed("labels as a column", WORKS, labels=np.array([[0], [1], [1]])),
    _changed("labels one-hot", WORKS, labels=np.eye(3)),
    _changed("labels scalar", "1 labels for 3 nodes", labels=np.int64(1)),
    _changed("labels pickled", "labels is pickled", labels=np.array([0, None, 1], object)),
    _changed("fewer class names than classes", "1 class names, but a label is 1", class_names=np.array(["a"])),
    _changed("far more class names than nodes", "5,000 classes for 3 nodes", 6, class_names=np.array(["a"] * 5000)),
    _changed("class names of numbers", "flat array of text", class_names=np.array([1, 2])),
    _changed("class names with control characters", "class name 'a\\x07' can't", 5, class_names=np.array(["a\a", "b"])),
    _changed("class names too long", "at most 1,000 characters", 5, class_names=np.array([LONG, "b"])),
    _changed("code points beyond Unicode", "invalid characters", 5, class_names=np.full(2, 2**31, np.uint32).view("U1")),
    # names
    _named("twice", "two nodes are called 'a'", "a", "b", "a"),
    _named("too few", "2 node names for 3 nodes", "a", "b"),
    _named("with a carriage return", "node 1 is called 'b\\r'", "a", "b\r", "c"),
    _named("with a line feed", "control characters", "a", "b\nc", "c"),
    _named("with NUL inside", "control characters", "a", "b\0c", "c"),
    _named("with an escape sequence", "control characters", "a", "\x1b[31mred", "c"),
    _named("with a lone surrogate", "control characters", "a", "\ud800", "c"),
    _named("with a line separator", "control characters", "a", "\u2028", "c"),
    _named("with a C1 control", "control characters", "a", "\x9b31m", "c"),
    _named("too long", "at most 1,000 characters, not 1,001", "a", LONG, "c"),
    _named("of 200,000 characters", "at most 1,000 characters", "a", "x" * 200_000, "c"),
    _named("right to left", WORKS, "a", "\u202egpj.exe", "c"),
    _named("of formulas", WORKS, "=cmd|' /C calc'!A0", "+1+1", "@SUM(A1)"),
    _named("with blanks around", WORKS, " a", "b ", "c"),
    _named("empty", WORKS, "", "b", "c"),
    _changed("names 1 and '1'", "two nodes are called '1'", 5, node_names=np.array(["1", "1", "c"]), node_names_whole=np.array([True, False, False])),
    _changed("names marked as numbers that are none", "a number that is none", node_names=np.array(["a", "b", "c"]), node_names_whole=np.ones(3, bool)),
    _changed("names of 5,000 digits", "a number that is none", node_names=np.array(["9" * 5000, "b", "c"]), node_names_whole=np.ones(3, bool)),
    _changed("names marked for two of three", "for each of the node names", node_names=np.array(list("abc")), node_names_whole=np.ones(2, bool)),
    _changed("attribute names too few", "1 attribute names where 2 are needed", attribute_names=np.array(["a"])),
    _changed("attribute names with NUL", "attribute name 'a\\x00b' can't", 5, attribute_names=np.array(["a\0b", "c"])),
    # splits and notes
    _changed("split without validation", "lacks the array idx_val", idx_train=[0]),
    _changed("split that overlaps", "node 0 twice", idx_train=[0], idx_val=[0], idx_test=[1]),
    _changed("split of a fourth node", "names node 3", idx_train=[0], idx_val=[1], idx_test=[3]),
    _changed("split of a negative node", "node numbers start at 0", idx_train=[-1], idx_val=[1], idx_test=[2]),
    _changed("split of floats", "whole numbers", idx_train=[0.5], idx_val=[1], idx_test=[2]),
    _changed("split of masks", "whole numbers", idx_train=[True], idx_val=[False], idx_test=[True]),
    _changed("split longer than the graph", "9 nodes in idx_train for 3 nodes", idx_train=[0] * 9, idx_val=[1], idx_test=[2]),
    _changed("split two-dimensional", "must be flat", idx_train=[[0]], idx_val=[1], idx_test=[2]),
    _changed("split empty", WORKS, idx_train=np.array([], int), idx_val=np.array([], int), idx_test=np.array([], int)),
    _changed("notes that are no JSON", "notes are not JSON", notes=np.array("{")),
    _changed("notes that are a list", "one JSON object", notes=np.array("[]")),
    _changed("notes of numbers", "one JSON object", notes=np.array('{"a": 1}')),
    _changed("notes too deep", "notes are not JSON", notes=np.array("[" * 100_000)),
    # adjacency files
    _adjacency("as it should be", WORKS),
    _adjacency("of another size", "is an adjacency of 4 nodes", shape=[4, 4], indptr=[0, 1, 3, 4, 4]),
    _adjacency("of an unknown format", "format 'dia' is not supported", format=b"dia"),
    _adjacency("with a format of text", WORKS, format="csr"),
    _adjacency("with a format of numbers", "is not supported", format=7),
    _adjacency("without a shape", "lacks the array shape", shape=None),
    _adjacency("of two billion nodes", "indptr does not fit", shape=[2_000_000_000] * 2),
    _adjacency("coo of two billion nodes", "claims 2,000,000,000 rows", format=b"coo", shape=[2_000_000_000] * 2, row=[0, 1, 1, 2], col=[1, 0, 2, 1]),
    _adjacency("coo out of range", "names row 3", format=b"coo", row=[0, 1, 1, 3], col=[1, 0, 2, 1]),
    _adjacency("coo of unequal lengths", "flat arrays of one length", format=b"coo", row=[0, 1], col=[1, 0, 2, 1]),
    _adjacency("csc out of range", "names column 9", format=b"csc", indices=[1, 0, 9, 1]),
    _adjacency("of negative weights", "has weight -1", data=-np.ones(4)),
    _adjacency("pickled", "data is pickled", data=np.array([1, None, 1, 1], object)),
    _adjacency("that is none", "is not an adjacency", format=None),
]  # fmt: skip

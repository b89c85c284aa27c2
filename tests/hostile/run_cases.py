"""Tampered run folders: a change to the files of a run, by name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.transaction import JOURNAL
from tests.hostile.case import claimed, members, npz, zipped

Tamper = Callable[[Path], object]


def _record(**changed: Any) -> Tamper:
    """Change fields of run.json; None is null, ... leaves the field out."""

    def tamper(run: Path) -> None:
        record = json.loads((run / "run.json").read_text()) | changed
        kept = {key: value for key, value in record.items() if value is not ...}
        (run / "run.json").write_text(json.dumps(kept))

    return tamper


def _text(name: str, content: str | bytes) -> Tamper:
    return lambda run: (run / name).write_bytes(content.encode() if isinstance(content, str) else content)


def _edited(name: str, old: str, new: str) -> Tamper:
    def tamper(run: Path) -> None:
        text = (run / name).read_text()
        assert old in text
        (run / name).write_text(text.replace(old, new, 1))

    return tamper


def _rows(change: Callable[[list[str]], list[str]], name: str = "removed.csv") -> Tamper:
    return lambda run: (run / name).write_text("\n".join(change((run / name).read_text().splitlines())) + "\n")


def _verdict(**changed: Any) -> Tamper:
    """A verdict with some fields changed; ... leaves a field out."""
    fields = {"status": "poisoned", "reason": "why", "expected_precision": 0.5, "expected_false_alarms": 3} | changed
    return _record(verdict={key: value for key, value in fields.items() if value is not ...})


def _cell(column: int, value: str, name: str = "removed.csv") -> Tamper:
    """Change a cell of the first edge."""

    def change(lines: list[str]) -> list[str]:
        cells = lines[1].split(",")
        cells[column] = value
        return [lines[0], ",".join(cells), *lines[2:]]

    return _rows(change, name)


def _graph(change: Callable[[Graph], Graph]) -> Tamper:
    return lambda run: save_graph(change(load_graph(run / "sanitized.npz")), run / "sanitized.npz")


def _member(name: str, content: bytes | None) -> Tamper:
    def tamper(run: Path) -> None:
        kept = {**members((run / "sanitized.npz").read_bytes()), f"{name}.npy": content}
        kept_bytes = {key: value for key, value in kept.items() if value is not None}
        (run / "sanitized.npz").write_bytes(zipped(kept_bytes))

    return tamper


def _link(name: str, target: str) -> Tamper:
    def tamper(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).symlink_to(target)

    return tamper


def _folder(name: str) -> Tamper:
    def tamper(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        (run / name).mkdir()

    return tamper


FILES = ("run.json", "removed.csv", "suspects.csv", "sanitized.npz", "trace.csv")
FIELDS = (
    "status",
    "method",
    "settings",
    "budget",
    "auto_budget",
    "removed",
    "added",
    "suspects",
    "verdict",
    "estimate",
    "warnings",
    "seed",
    "seconds",
    "input",
    "versions",
)
WRONG: dict[str, Any] = {
    "null": None,
    "text": "x\x1b[31m",
    "a list": [1],
    "an object": {"a": {}},
    "NaN": float("nan"),
    "huge": 10**400,
}
MISSING = "rank,u,v,score\n1,n0,n9,0.5\n"

JOURNALS = {
    "cut short": "{",
    "renames above": '{"renamed": {".a.part": "../x"}, "removed": []}',
    "removes above": '{"renamed": {}, "removed": ["../graph.npz"]}',
    "wrong types": '{"renamed": [], "removed": 3}',
    "too deep": "[" * 100_000,
    "a number": "3",
}

CASES: dict[str, Tamper] = {
    **{f"journal: {what}": _text(JOURNAL, text) for what, text in JOURNALS.items()},
    "journal: a folder": lambda run: (run / JOURNAL).mkdir(),
    "journal: a link": lambda run: (run / JOURNAL).symlink_to(run.parent / "graph.npz"),
    "journal: a pipe": lambda run: os.mkfifo(run / JOURNAL),
    **{f"{name} is missing": (lambda run, name=name: (run / name).unlink()) for name in FILES},  # type: ignore[misc]
    **{f"{name} is empty": _text(name, "") for name in FILES},
    **{f"{name} is binary": _text(name, bytes(range(256))) for name in FILES},
    **{f"{name} is NUL": _text(name, bytes(1000)) for name in FILES},
    **{f"{name} is a folder": _folder(name) for name in FILES},
    **{f"{name} links to itself": _link(name, name) for name in FILES},
    **{f"run.json lacks {field}": _record(**{field: ...}) for field in FIELDS},
    **{f"run.json: {field} is {what}": _record(**{field: value}) for field in FIELDS for what, value in WRONG.items()},
    "run.json is a list": _text("run.json", "[]"),
    "run.json is too deep": _text("run.json", "[" * 100_000),
    "run.json is cut short": _text("run.json", '{"status": "complete"'),
    "run.json of 5,000 digits": _text("run.json", "9" * 5000),
    "run.json: unknown status": _record(status="finished"),
    "run.json: interrupted": _record(status="interrupted"),
    "run.json: unknown method": _record(method="../../evil"),
    "run.json: hostile method": _record(method="<script>alert(1)</script>"),
    "run.json: one edge too many": _record(removed=5),
    "run.json: negative count": _record(removed=-4),
    "run.json: a count as text": _record(removed="4"),
    "run.json: a count as a float": _record(removed=4.0),
    "run.json: tells of added edges": _record(added=3),
    "run.json: estimate of texts": _record(estimate={"number": "x", "low": "y", "high": "z"}),
    "run.json: estimate of nulls": _record(estimate={"number": None, "low": None, "high": None}),
    "run.json: estimate of NaN": _record(estimate=dict.fromkeys(("number", "low", "high"), float("nan"))),
    "run.json: estimate of infinity": _record(estimate=dict.fromkeys(("number", "low", "high"), float("inf"))),
    "run.json: estimate without bounds": _record(estimate={"number": 3.0}),
    "run.json: another fingerprint": _record(input={"graph": "graph.npz", "nodes": 16, "edges": 58, "fingerprint": "0" * 64}),
    "run.json: a fingerprint of numbers": _record(input={"graph": "graph.npz", "nodes": 16, "edges": 58, "fingerprint": 7}),
    "run.json: an input of nothing": _record(input={}),
    "run.json: an input of lists": _record(input={"graph": [], "nodes": [], "edges": [], "fingerprint": []}),
    "run.json: a hostile graph name": _record(input={"graph": "\x1b]0;evil\x07<img src=x>", "fingerprint": ""}),
    "run.json: settings with hostile text": _record(settings={"kind": "<b>", "\x1b[31m": "\x1b[31m"}),
    "run.json: a verdict of nothing": _record(verdict={}),
    "run.json: an unknown verdict": _verdict(status="clean"),
    "run.json: a verdict of another type": _verdict(status=["poisoned"]),
    "run.json: a verdict without a reason": _verdict(reason=...),
    "run.json: a verdict with a hostile reason": _verdict(status="not suitable", reason="\x1b[31m<script>\u202e", caveat="\x1b[31m"),
    "run.json: a verdict of 100,000 letters": _verdict(status="not suitable", reason="x" * 100_000),
    "run.json: a precision of 2": _verdict(expected_precision=2),
    "run.json: a precision of NaN": _verdict(expected_precision=float("nan")),
    "run.json: false alarms without end": _verdict(expected_false_alarms=float("inf")),
    "run.json: hostile warnings": _record(warnings=["\x1b[31m<script>", "\u202e"]),
    "run.json: no suspects": _record(suspects=0),
    "run.json: a suspect too many": _record(suspects=4),
    "run.json: nothing removed but suspects": _record(removed=0),
    "suspects.csv: only a header": _rows(lambda lines: lines[:1], "suspects.csv"),
    "suspects.csv: a row twice": _rows(lambda lines: [*lines[:2], lines[1], *lines[3:]], "suspects.csv"),
    "suspects.csv: unknown node": _cell(1, "stranger", "suspects.csv"),
    "suspects.csv: a self-loop": _cell(2, "n0", "suspects.csv"),
    "suspects.csv: no edge": _cell(2, "n15", "suspects.csv"),
    "suspects.csv: NaN": _cell(3, "nan", "suspects.csv"),
    "suspects.csv: a hostile node": _cell(1, "\x1b[31m<b>", "suspects.csv"),
    "removed.csv: only a header": _rows(lambda lines: lines[:1]),
    "removed.csv: no header": _rows(lambda lines: lines[1:]),
    "removed.csv: other columns": _text("removed.csv", "a,b\n1,2\n"),
    "removed.csv: a row twice": _rows(lambda lines: [*lines[:2], lines[1], *lines[3:]]),
    "removed.csv: a short row": _rows(lambda lines: [*lines[:-1], "4,n0"]),
    "removed.csv: a long row": _rows(lambda lines: [*lines[:-1], lines[-1] + ",1,2,3"]),
    "removed.csv: a column twice": _edited("removed.csv", "score", "u"),
    "removed.csv: rows in another order": _rows(lambda lines: [lines[0], *lines[:0:-1]]),
    "removed.csv: unknown node": _cell(1, "stranger"),
    "removed.csv: hostile node": _cell(1, "\x1b[31m<b>"),
    "removed.csv: empty node": _cell(1, ""),
    "removed.csv: a self-loop": _rows(lambda lines: [lines[0], ",".join(["1", "n0", "n0", *lines[1].split(",")[3:]]), *lines[2:]]),
    "removed.csv: an edge that the graph has": _rows(lambda lines: [lines[0], ",".join(["1", "n4", "n5", *lines[1].split(",")[3:]]), *lines[2:]]),
    "removed.csv: a formula for a node": _cell(1, "=1+1"),
    "removed.csv: rank of text": _cell(0, "first"),
    "removed.csv: rank of -1": _cell(0, "-1"),
    **{f"removed.csv: score {value}": _cell(3, value) for value in ("nan", "inf", "-inf", "x", "", "1e999", "9" * 400, "1;2")},
    "removed.csv: unclosed quote": _cell(1, '"n0'),
    "removed.csv: a cell of 200,000 characters": _cell(1, "x" * 200_000),
    "removed.csv: NUL in a cell": _cell(1, "n\0"),
    "removed.csv in UTF-16": lambda run: (run / "removed.csv").write_text((run / "removed.csv").read_text(), encoding="utf-16"),
    "removed.csv: carriage returns": lambda run: (run / "removed.csv").write_bytes((run / "removed.csv").read_bytes().replace(b"\n", b"\r\n")),
    "removed.csv: evidence of NaN": _rows(lambda lines: [lines[0] + ",planted", *(f"{line},nan" for line in lines[1:])]),
    "removed.csv: evidence of classes of unequal length": _rows(lambda lines: [lines[0] + ",classes_u,classes_v", *(f"{line},{'0.5;' * row}0.5,1" for row, line in enumerate(lines[1:]))]),
    "removed.csv: evidence of classes of NaN": _rows(lambda lines: [lines[0] + ",classes_u,classes_v", *(f"{line},nan;nan,nan;nan" for line in lines[1:])]),
    "removed.csv: evidence of one class": _rows(lambda lines: [lines[0] + ",classes_u,classes_v", *(f"{line},1,1" for line in lines[1:])]),
    "removed.csv: evidence of nine classes": _rows(lambda lines: [lines[0] + ",classes_u,classes_v", *(f"{line},0;0;0;0;0;0;0;0;1,1;0;0;0;0;0;0;0;0" for line in lines[1:])]),
    "removed.csv: common neighbours of NaN": _rows(lambda lines: [lines[0] + ",common_neighbours", *(f"{line},nan" for line in lines[1:])]),
    "removed.csv: common neighbours without end": _rows(lambda lines: [lines[0] + ",common_neighbours", *(f"{line},inf" for line in lines[1:])]),
    "removed.csv: evidence with a hostile name": _rows(lambda lines: [lines[0] + ",<script>", *(f"{line},1" for line in lines[1:])]),
    "removed.csv: evidence without a name": _rows(lambda lines: [lines[0] + ",", *(f"{line},1" for line in lines[1:])]),
    "removed.csv: evidence of text": _rows(lambda lines: [lines[0] + ",planted", *(f"{line},likely" for line in lines[1:])]),
    "sanitized.npz: another graph": _text("sanitized.npz", npz()),
    "sanitized.npz: the poisoned graph": lambda run: (run / "sanitized.npz").write_bytes((run.parent / "graph.npz").read_bytes()),
    "sanitized.npz: without names": _member("node_names", None),
    "sanitized.npz: without labels": _member("labels", None),
    "sanitized.npz: without a split": lambda run: [_member(f"idx_{part}", None)(run) for part in ("train", "val", "test")],
    "sanitized.npz: without attributes": lambda run: [_member(f"attr_{part}", None)(run) for part in ("data", "indices", "indptr", "shape")],
    "sanitized.npz: pickled labels": _member("labels", claimed("|O", (16,), b"\x80\x04N.")),
    "sanitized.npz: huge labels": _member("labels", claimed("<i8", (16,), (10**9).to_bytes(8, "little") * 16)),
    "sanitized.npz: cut short": lambda run: (run / "sanitized.npz").write_bytes((run / "sanitized.npz").read_bytes()[:500]),
    "sanitized.npz: no edges": _graph(lambda graph: graph.without_edges(graph.edges)),
    "sanitized.npz: all edges unlabelled": _graph(lambda graph: Graph(16, graph.edges, names=graph.names)),
    "sanitized.npz: names in another order": _graph(lambda graph: Graph(16, graph.edges, names=(graph.names or ())[::-1])),
    "trace.csv: text": _text("trace.csv", "round,loss\n1,x\n"),
    "trace.csv: NaN": _text("trace.csv", "round,loss\n1,nan\n"),
    "trace.csv: infinity": _text("trace.csv", "round,loss\n1,inf\n2,-inf\n"),
    "trace.csv: unequal rows": _text("trace.csv", "round,loss\n1\n1,2,3\n"),
    "trace.csv: a column twice": _text("trace.csv", "loss,loss\n1,2\n"),
    "trace.csv: a hostile column": _text("trace.csv", "<script>,\x1b[31m\n1,2\n"),
    "trace.csv: only numbers": _text("trace.csv", "1,2\n3,4\n"),
    "missing.csv: proposals": _text("missing.csv", MISSING),
    "missing.csv: empty": _text("missing.csv", ""),
    "missing.csv: an edge of the graph": _text("missing.csv", "rank,u,v,score\n1,n4,n5,0.5\n"),
    "missing.csv: unknown node": _text("missing.csv", MISSING.replace("n9", "stranger")),
    "missing.csv: a self-loop": _text("missing.csv", MISSING.replace("n9", "n0")),
    "missing.csv: a pair twice": _text("missing.csv", MISSING + "2,n9,n0,0.4\n"),
    "missing.csv: NaN": _text("missing.csv", MISSING.replace("0.5", "nan")),
    "missing.csv: a folder": _folder("missing.csv"),
    "added.csv that run.json does not tell of": _text("added.csv", "junk"),
    "report.html: a folder": _folder("report.html"),
    "reviewed.npz: a folder": _folder("reviewed.npz"),
    "review.sqlite: text": _text("review.sqlite", "not a database" * 100),
    "review.sqlite: empty": _text("review.sqlite", ""),
    "review.sqlite: a folder": _folder("review.sqlite"),
}  # fmt: skip

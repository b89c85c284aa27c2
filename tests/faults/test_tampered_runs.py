"""Run folders that somebody has tampered with: every command works or says in one line what is wrong."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from focusedcleaner.cli.app import app
from focusedcleaner.io.transaction import JOURNAL
from focusedcleaner.runs import read_run
from tests.faults.scenarios import SANITIZE, SCENARIOS, inside, prepare

WRONG: tuple[object, ...] = (
    None,
    True,
    -1,
    1.5,
    1e999,
    float("nan"),
    10**400,
    "many",
    "\ud800",
    [],
    [[1]],
    {},
    {"kind": {"tau": None}},
)
COMMANDS = (
    ("report", "RUN"),
    ("score", "RUN", "--truth", "graph.npz"),
    ("apply", "RUN", "--force"),
    ("review", "RUN", "--export", "verdicts.csv", "--force"),
    (*SANITIZE, "--resume"),
    ("restore", "RUN", "--limit", "2"),
    ("classify", "RUN", "--model", "sgc", "--seeds", "1"),
)
QUICK = COMMANDS[:5]
Tampering = Callable[[Path], None]


def _field(name: str, value: object, inside: str | None = None) -> Tampering:
    def tamper(run: Path) -> None:
        record = json.loads((run / "run.json").read_text())
        (record if inside is None else record[inside])[name] = value
        (run / "run.json").write_text(json.dumps(record))

    return tamper


def _cell(file: str, column: int, value: str, row: int = 1) -> Tampering:
    def tamper(run: Path) -> None:
        lines = [line.split(",") for line in (run / file).read_text().splitlines()]
        lines[row][column] = value
        (run / file).write_text("".join(f"{','.join(line)}\n" for line in lines))

    return tamper


def _content(file: str, content: bytes) -> Tampering:
    def tamper(run: Path) -> None:
        (run / file).write_bytes(content)

    return tamper


def _poisoned(run: Path) -> None:
    shutil.copy(run.parent / "graph.npz", run / "sanitized.npz")


def _tamperings() -> Iterator[tuple[str, Tampering]]:
    fields = (
        "status",
        "method",
        "settings",
        "budget",
        "auto_budget",
        "removed",
        "added",
        "estimate",
        "seed",
        "seconds",
    )
    for name in (*fields, "input", "versions"):
        for value in WRONG:
            yield f"{name}={str(value)[:20]!a}", _field(name, value)
    for name in ("graph", "fingerprint"):
        for value in (None, 5, "\ud800", [1]):
            yield f"input.{name}={value!a}", _field(name, value, "input")
    nested: Any = {}
    for _ in range(500):
        nested = {"kind": nested}
    yield "nested settings", _field("settings", nested)
    for name in ("{number: 1}", "{number: 1, low: 5, high: 2}"):
        yield (
            f"estimate={name}",
            _field("estimate", json.loads(name.replace("{", '{"').replace(": ", '": ').replace(", ", ', "'))),
        )
    for file in ("run.json", "removed.csv", "sanitized.npz", "trace.csv", "review.sqlite"):
        for content in (b"", b"\0" * 50, b"\xff\xfe\x00", b"[]", b'"', b"a,b\n1\n"):
            yield f"{file} is {content[:10]!r}", _content(file, content)
    for value in ("nan", "inf", "1;2", "", "x", "9" * 140_000):
        for column in range(3, 9):
            yield f"removed.csv column {column} {value[:5]!r}", _cell("removed.csv", column, value)
        yield f"trace.csv {value[:5]!r}", _cell("trace.csv", 0, value)
        yield f"trace.csv, a measure, {value[:5]!r}", _cell("trace.csv", 2, value)
    yield "a self-loop", _cell("removed.csv", 1, "0")
    yield "a vector's header", _cell("removed.csv", 4, "planted", row=0)
    yield "a stranger", _cell("removed.csv", 2, "nobody")
    yield "missing.csv", _content("missing.csv", b"rank,u,v,score\n1,0,0,nan\n")
    yield "the poisoned graph", _poisoned
    for text in ("{", '{"renamed": {".a.part": "../x"}, "removed": []}', '{"renamed": [], "removed": 3}', "[[[[", "3"):
        yield f"journal {text[:30]}", _content(JOURNAL, text.encode())
    yield "a journal that removes above", _content(JOURNAL, b'{"renamed": {}, "removed": ["../graph.npz"]}')
    yield "a folder as journal", lambda run: (run / JOURNAL).mkdir()
    yield "a link as journal", lambda run: (run / JOURNAL).symlink_to(run.parent / "graph.npz")
    yield "a pipe as journal", lambda run: os.mkfifo(run / JOURNAL)


TAMPERINGS = dict(_tamperings())


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A reviewed run of cld."""
    place = tmp_path_factory.mktemp("judged") / "start"
    prepare(SCENARIOS["apply"], place)
    return place


@pytest.fixture
def tampered(judged: Path, tmp_path: Path) -> Callable[[Tampering], Path]:
    """The folder with a tampered copy of the run."""

    def copy(tamper: Tampering) -> Path:
        place = tmp_path / "here"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(judged, place)
        tamper(place / "RUN")
        return place

    return copy


def ends_in_order(place: Path, words: tuple[str, ...]) -> Result:
    """Whether it worked or said in one line what is wrong."""
    with inside(place):
        done = CliRunner().invoke(app, list(words))
    assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exc_info)
    assert done.exit_code in (0, 2), words
    errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert len(errors) == (done.exit_code == 2), (words, done.stderr)
    return done


def test_there_are_enough() -> None:
    assert len(TAMPERINGS) > 200


@pytest.mark.slow
@pytest.mark.parametrize("part", range(len(QUICK)), ids=[words[0] for words in QUICK])
def test_a_tampered_run_is_told(part: int, tampered: Callable[[Tampering], Path]) -> None:
    """Every tampering once, with one of the quick commands."""
    refused = 0
    for tamper in list(TAMPERINGS.values())[part :: len(QUICK)]:
        refused += ends_in_order(tampered(tamper), QUICK[part]).exit_code == 2
    assert refused


@pytest.mark.slow
@pytest.mark.campaign
@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_every_command_on_every_tampered_run(
    words: tuple[str, ...], tampered: Callable[[Tampering], Path], figures: Callable[..., None]
) -> None:
    refused = 0
    for tamper in TAMPERINGS.values():
        refused += ends_in_order(tampered(tamper), words).exit_code == 2
    figures(f"tampered-runs-{words[0]}", folders=len(TAMPERINGS), refused=refused, tracebacks=0)
    assert refused


def test_nothing_outside_the_folder_is_touched(tampered: Callable[[Tampering], Path]) -> None:
    place = tampered(TAMPERINGS["a journal that removes above"])
    assert read_run(place / "RUN").complete
    assert (place / "graph.npz").exists()
    assert not (place / "RUN" / JOURNAL).exists()


def test_another_graph_in_the_folder_is_noticed(tampered: Callable[[Tampering], Path]) -> None:
    place = tampered(TAMPERINGS["the poisoned graph"])
    for words in (*COMMANDS[:4], *COMMANDS[5:]):
        assert "sanitized.npz does not belong to this run" in ends_in_order(place, words).stderr, words

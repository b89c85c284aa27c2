"""Decisions in SQLite: any sequence of events gives what a naive model says, and nothing acknowledged is lost."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.review.store import (
    LONGEST_NOTE,
    STATUSES,
    VERDICTS,
    Store,
    StoreError,
    checked_reviewer,
    combined_status,
)
from focusedcleaner.runs import Run
from tests.review.sample_runs import a_run, a_store

RANKS, WHO = st.integers(1, 4), st.sampled_from(["ann", "bob", "Zoë"])
ACTIONS = st.one_of(
    st.tuples(st.just("decide"), RANKS, WHO, st.sampled_from(VERDICTS)),
    st.tuples(st.just("note"), RANKS, WHO, st.sampled_from(["", "hm", "two\nlines"])),
    st.tuples(st.just("undo"), st.just(0), WHO, st.just("")),
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return a_run(tmp_path_factory.mktemp("runs") / "RUN", edges=4)


class Model:
    """The rules once more, as plainly as can be: a pile of verdicts for each reviewer."""

    def __init__(self) -> None:
        self.piles: dict[str, list[tuple[int, str]]] = defaultdict(list)
        self.notes: dict[tuple[int, str], str] = {}

    def verdict(self, rank: int, who: str) -> str:
        return next((verdict for edge, verdict in reversed(self.piles[who]) if edge == rank), "open")

    def status(self, rank: int) -> str:
        said = {self.verdict(rank, who) for who in list(self.piles)} - {"open"}
        if said >= {"planted", "genuine"}:
            return "conflict"
        return "planted" if "planted" in said else "genuine" if "genuine" in said else "unsure" if said else "open"

    def act(self, kind: str, rank: int, who: str, value: str) -> int | None:
        if kind == "decide" and self.verdict(rank, who) != value:
            self.piles[who].append((rank, value))
        if kind == "note":
            self.notes[rank, who] = value
        return self.piles[who].pop()[0] if kind == "undo" and self.piles[who] else None


def act(store: Store, kind: str, rank: int, who: str, value: Any) -> int | None:
    if kind == "decide":
        store.decide(rank, who, value)
    elif kind == "note":
        store.decide(rank, who, None, value)
    return store.undo(who) if kind == "undo" else None


@settings(max_examples=25, deadline=None)
@given(st.lists(ACTIONS, max_size=14))
def test_any_sequence_of_events(run: Run, actions: list[tuple[str, int, str, str]]) -> None:
    model = Model()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(run.path / "removed.csv", folder)
        mine = replace(run, path=Path(folder))
        with a_store(mine) as store:
            for action in actions:
                assert act(store, *action) == model.act(*action)
        with a_store(mine) as again:
            for rank in range(1, 5):
                for decision in again.decisions(rank):
                    assert decision.verdict == model.verdict(rank, decision.reviewer)
                    assert decision.note == model.notes.get((rank, decision.reviewer), "")
            statuses = [model.status(rank) for rank in range(1, 5)]
            assert [row[0] for row in again.rows("SELECT status FROM edges ORDER BY rank")] == statuses
            assert again.counts() == {status: statuses.count(status) for status in STATUSES}
            for who, number in again.reviewers().items():
                assert number == sum(model.verdict(rank, who) != "open" for rank in range(1, 5))


def test_the_log_is_only_appended_to(run: Run, tmp_path: Path) -> None:
    shutil.copy(run.path / "removed.csv", tmp_path)
    with a_store(replace(run, path=tmp_path)) as store:
        store.decide(1, "ann", "planted", "look here")
        store.undo("ann")
        kinds = store.rows("SELECT kind, value, undoes FROM events ORDER BY id")
        assert kinds == [("verdict", "planted", None), ("note", "look here", None), ("undo", "", 1)]
        assert [(one.verdict, one.note) for one in store.decisions(1)] == [("open", "look here")]
        for statement in ("DELETE FROM events", "UPDATE events SET value = 'genuine'"):
            with pytest.raises(StoreError, match="events are never"):
                store.rows(statement)


def test_what_is_the_same_is_no_event(run: Run, tmp_path: Path) -> None:
    shutil.copy(run.path / "removed.csv", tmp_path)
    with a_store(replace(run, path=tmp_path)) as store:
        for _ in range(2):
            store.decide(2, "ann", "genuine", " so it is \r\n\r\nreally ")
        assert store.last_event() == 2
        assert store.decisions(2)[0].note == "so it is \n\nreally"


def test_mistakes_change_nothing(run: Run, tmp_path: Path) -> None:
    shutil.copy(run.path / "removed.csv", tmp_path)
    with a_store(replace(run, path=tmp_path)) as store:
        with pytest.raises(InputError, match="there is no edge 5"):
            store.decide(5, "ann", "planted")
        with pytest.raises(InputError, match="a verdict is planted, genuine, unsure, open"):
            store.decide(1, "ann", "guilty")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="a note has 4,000 characters at most"):
            store.decide(1, "ann", "planted", "x" * (LONGEST_NOTE + 1))
        assert store.last_event() == 0
        assert store.counts()["open"] == 4


def test_several_threads_and_two_connections(run: Run, tmp_path: Path) -> None:
    shutil.copy(run.path / "removed.csv", tmp_path)
    mine = replace(run, path=tmp_path)
    with a_store(mine) as one, a_store(mine) as other:

        def judge(store: Store, who: str) -> None:
            for turn in range(12):
                store.decide(turn % 4 + 1, who, VERDICTS[turn % 3])

        workers = [
            threading.Thread(target=judge, args=(store, who)) for store in (one, other) for who in ("ann", "bob")
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert one.last_event() == other.last_event() >= 24
        assert one.decisions(1) == other.decisions(1)


def test_together() -> None:
    assert combined_status([]) == "open"
    assert combined_status(["genuine", "unsure", "open"]) == "genuine"
    assert combined_status(["genuine", "planted", "unsure"]) == "conflict"


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\u202eb", "a\u0000b"])
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(InputError, match="a reviewer's name"):
        checked_reviewer(name)


def test_names_are_tidied() -> None:
    assert checked_reviewer("  Ann   Lee ") == "Ann Lee"


# Whose store it is ---------------------------------------------------------------------------------------------------


@pytest.fixture
def mine(run: Run, tmp_path: Path) -> Run:
    shutil.copy(run.path / "removed.csv", tmp_path)
    return replace(run, path=tmp_path)


def refused(run: Run) -> str:
    with pytest.raises(InputError) as error, a_store(run):
        pass
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_changed_run_is_refused(mine: Run) -> None:
    with a_store(mine) as store:
        store.decide(1, "ann", "planted")
    table = mine.path / "removed.csv"
    before = table.read_text()
    table.write_text(before.replace("\n1,", "\n2,"))
    assert "belongs to another run" in refused(mine)
    table.write_text(before)
    record = {**mine.record, "input": {**mine.record["input"], "fingerprint": "another"}}
    assert "belongs to another run" in refused(replace(mine, record=record))
    with a_store(mine) as store:
        assert store.counts()["planted"] == 1

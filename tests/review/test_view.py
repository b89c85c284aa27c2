"""The queries of the list compared with plain Python, and long lists."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from focusedcleaner.errors import InputError
from focusedcleaner.review import Store, view
from focusedcleaner.review.store import VERDICTS
from focusedcleaner.review.view import ORDERS, STATES, View
from focusedcleaner.runs import Run
from tests.review.sample_runs import a_client, a_review, a_run, a_store, large_run, token_of


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return a_run(tmp_path_factory.mktemp("runs") / "RUN", edges=24)


@pytest.fixture(scope="module")
def store(run: Run) -> Iterator[Store]:
    """Judged by two, who don't always agree, with notes and a changed order."""
    with a_store(run) as store:
        for rank in range(1, 25, 2):
            store.decide(rank, "ann", VERDICTS[rank % 3], "Curious" if rank % 5 == 0 else None)
        for rank in range(1, 25, 3):
            store.decide(rank, "bob", VERDICTS[rank % 2])
        store.decide(7, "ann", "open")
        store.reorder([((rank * 7) % 24 + 1, rank) for rank in range(1, 25)], None)
        yield store


def expected(store: Store, asked: View) -> list[int]:
    """The same ranks, by looking at every row."""
    found = []
    for rank, u, v, score, low, high, place, status, touched in store.rows(
        "SELECT rank, u, v, score, low, high, place, status, touched FROM edges"
    ):
        decisions = store.decisions(rank)
        said = [one for one in decisions if asked.by in ("", one.reviewer)]
        verdicts = [one.verdict for one in said if one.verdict != "open"]
        state = {
            "all": True,
            "open": not verdicts if asked.by else status == "open",
            "noted": any(one.note for one in said),
            "conflict": status == "conflict",
        }.get(asked.state, asked.state in verdicts if asked.by else status == asked.state)
        text = asked.text.casefold()
        quoted = len(text) > 2 and text[0] == text[-1] == '"'
        named = text[1:-1] in (u, v) if quoted else text in f"{u}\n{v}".casefold()
        noted = not quoted and any(text in one.note.casefold() for one in decisions if one.note)
        if state and (named or noted) and asked.classes in ("", f"{low}-{high}"):
            key = {"rank": rank, "reranked": place, "score": -score, "recent": -touched}[asked.sort]
            found.append((key, rank))
    return [rank for _, rank in sorted(found)]


VIEWS = st.builds(
    View,
    state=st.sampled_from(list(STATES)),
    by=st.sampled_from(["", "", "ann", "bob", "nobody"]),
    classes=st.sampled_from(["", "", "0-1", "1-1", "0-4"]),
    text=st.sampled_from(["", "", "NODE 1", "curious", '"node 12"', "%", "' OR 1 --"]),
    sort=st.sampled_from(list(ORDERS)),
)


@settings(max_examples=120, deadline=None)
@given(VIEWS, st.integers(1, 24))
def test_every_view_against_plain_python(store: Store, asked: View, rank: int) -> None:
    ranks = expected(store, asked)
    assert view.size(store, asked) == len(ranks)
    pages = [view.lines(store, asked, "ann", start=start, most=5) for start in range(0, 25, 5)]
    assert [line.rank for page in pages for line in page] == ranks
    assert View.of(dict(parse_qsl(asked.query()))) == asked
    if rank in ranks:
        place = ranks.index(rank)
        assert view.before(store, asked, rank) == place
        assert view.following(store, asked, rank) == (ranks[place + 1] if place + 1 < len(ranks) else None)
        assert view.preceding(store, asked, rank) == (ranks[place - 1] if place else None)


def test_an_edge_outside_the_view_has_neighbours_in_it(store: Store) -> None:
    asked = View(state="open", by="bob")
    ranks = expected(store, asked)
    assert 4 not in ranks
    assert view.following(store, asked, 4) == min(rank for rank in ranks if rank > 4)
    assert view.preceding(store, asked, 4) == max(rank for rank in ranks if rank < 4)


def test_the_list_shows_my_verdict_and_everybodys(store: Store) -> None:
    line = view.lines(store, View(text='"' + store.rows("SELECT u FROM edges WHERE rank = 1")[0][0] + '"'), "bob",
                      start=0, most=1)[0]  # fmt: skip
    assert (line.verdict, line.status) == ("genuine", "genuine")


@pytest.mark.parametrize(
    "wrong", [{"state": "nice"}, {"sort": "random"}, {"classes": "a-b"}, {"classes": "1-" + "9" * 30}]
)
def test_a_view_that_there_is_not(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError):
        View.of(wrong)


def test_class_pairs_are_counted(store: Store) -> None:
    pairs = view.class_pairs(store)
    assert sum(count for *_, count in pairs) == 24
    assert all(low <= high for low, high, _ in pairs)


# Many edges -------------------------------------------------------------------------------------------------------

MANY = 20_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return large_run(tmp_path_factory.mktemp("runs") / "LARGE", MANY)


def test_a_long_list_is_read_a_page_at_a_time(many: Run) -> None:
    with a_review(many) as review, a_client(review) as client:
        token = token_of(client)
        assert "1 of 20,000" in client.get("/?edge=1").text
        last = client.get("/?page=1667").text
        assert "1,667 of 1,667" in last
        assert 'href="/?edge=20000"' in last
        fields = {"token": token, "reviewer": "ann", "verdict": "planted", "edge": "19999"}
        assert client.post("/decide", data=fields).url.params["edge"] == "20000"
        assert "1</strong> of 20,000 edges judged" in client.get("/").text


@pytest.mark.parametrize("sort", list(ORDERS))
def test_orders_come_from_an_index(many: Run, sort: str) -> None:
    with a_store(many) as store:
        key = View(sort=sort).key
        plan = store.rows(f"EXPLAIN QUERY PLAN SELECT rank FROM edges ORDER BY {key}, edges.rank LIMIT 12 OFFSET 9000")
        assert not any("TEMP B-TREE" in str(step) for step in plan)


@pytest.mark.parametrize("condition", ["status = 'planted'", "u = 'a' OR v = 'a'", "low = 0 AND high = 1", "rank = 5"])
def test_filters_come_from_an_index(many: Run, condition: str) -> None:
    with a_store(many) as store:
        plan = store.rows(f"EXPLAIN QUERY PLAN SELECT COUNT(*) FROM edges WHERE {condition}")
        assert not any(str(step[-1]).startswith("SCAN edges") for step in plan)

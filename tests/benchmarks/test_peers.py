"""The page beside other libraries shows what is stored, and what it compares is measured by the same rule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import peers, peers_page
from benchmarks.common import PAGES, Results
from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.scoring import score


def test_page_and_readme_show_the_stored_results() -> None:
    for section, table in peers_page.tables():
        text = (PAGES / section.page).read_text(encoding="utf-8")
        assert f"<!-- {section.name} -->\n{table}<!-- {section.end} -->" in text


def test_every_cell_is_measured_once_and_has_a_row() -> None:
    cells = [" | ".join(cell) for cell in peers.cells()]
    assert len(cells) == len(set(cells))
    assert set(Results("peers").cells) <= {*cells, peers_page.UNIT}
    tasks = {task for library, task in peers.cells() if library in ("deeprobust", "greatx")}
    assert tasks <= set(peers_page.TASKS)


def test_what_is_measured_of_the_others_is_measured_of_ours() -> None:
    ours = {task for library, task in peers.cells() if library == peers.OURS}
    assert {task for library, task in peers.cells() if library in ("deeprobust", "greatx")} <= ours


def test_a_ranking_by_the_truth_finds_as_much_as_the_oracle() -> None:
    clean = synthetic(300, seed=1)
    poisoned = attack("random").poison(clean, 0.05).graph
    planted = ~clean.has_edges(poisoned.edges)
    found = peers.edge_esr(planted.astype(float), clean, poisoned)
    removed = int(peers.BUDGET * poisoned.num_edges)
    expected = score(poisoned.edges[np.argsort(~planted, kind="stable")[:removed]], poisoned=poisoned, clean=clean)
    assert found == pytest.approx(expected.oracle_esr)


@given(st.lists(st.floats(1e-3, 10), min_size=1, max_size=4), st.floats(1e-3, 10))
def test_their_row_says_how_many_times_ours_it_takes(theirs: list[float], ours: float) -> None:
    cell = {"seconds": [ours], "peak_gb": 0.4}
    rows = {"focusedcleaner | pgd": cell, "greatx | pgd": cell | {"seconds": theirs}}
    table = peers_page.speed({"unit": {"seconds": 0.1}, **rows})
    ratio = table.splitlines()[-1].split(" | ")[-1].removesuffix(" |")
    assert float(ratio.replace(",", "")) == pytest.approx(min(theirs) / ours, rel=0.06, abs=0.006)


def test_a_library_that_fails_says_so() -> None:
    table = peers_page.speed({"greatx | gcn": {"error": "AttributeError: gone"}})
    assert "fails: `AttributeError: gone`" in table

"""The table of hostile inputs: every case in a forked child, and one error line or a result for an answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import npz_cases, text_cases
from tests.hostile.case import WORKS, Case, assert_answer, files_below
from tests.hostile.child import command

READERS = [*npz_cases.CASES, *text_cases.CASES]


@pytest.mark.parametrize("case", READERS, ids=lambda case: case.id)
def test_files_that_are_read(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    before = files_below(tmp_path)
    outcome = command(*case.words, cwd=tmp_path, megabytes=case.megabytes)
    assert_answer(outcome, case.answer)
    assert files_below(tmp_path) == before


def test_no_two_cases_are_the_same() -> None:
    ids = [case.id for case in READERS]
    assert len(set(ids)) == len(ids)

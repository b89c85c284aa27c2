"""The table of hostile inputs: every case in a forked child, and one error line or a result for an answer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile import npz_cases, option_cases, run_cases, text_cases
from tests.hostile.case import Case, assert_answer, files_below
from tests.hostile.child import command

READERS = [*npz_cases.CASES, *text_cases.CASES]
OPTIONS = option_cases.CASES


@pytest.mark.parametrize("case", READERS, ids=lambda case: case.id)
def test_files_that_are_read(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    before = files_below(tmp_path)
    outcome = command(*case.words, cwd=tmp_path, megabytes=case.megabytes)
    assert_answer(outcome, case.answer)
    assert files_below(tmp_path) == before


@pytest.mark.parametrize("case", OPTIONS, ids=lambda case: repr(case.id))
def test_options(case: Case, sample: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(sample, tmp_path / "here")
    before = files_below(tmp_path)
    assert_answer(command(*case.words, cwd=folder, megabytes=case.megabytes), case.answer)
    assert files_below(tmp_path) == before


@pytest.mark.campaign
def test_the_table_is_counted(figures: Callable[..., None]) -> None:
    counts = {"files": len(READERS), "options": len(OPTIONS), "run_folders": len(run_cases.CASES)}
    figures("hostile-inputs", cases=sum(counts.values()), **counts)
    assert sum(counts.values()) >= 400


def test_no_two_cases_are_the_same() -> None:
    ids = [case.id for case in (*READERS, *OPTIONS)]
    assert len(set(ids)) == len(ids)

"""The progress bar of Python callers."""

from __future__ import annotations

import pytest

import focusedcleaner as fc
from focusedcleaner.progress import progress_reporter


def test_a_bar_shows_the_stage_and_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_reporter(True, "Looking") as report:
        assert report is not None
        report(1, 4, "round 2 of 4: random")
        report(4, 4)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "Looking: round 2 of 4: random:  25%" in shown.err
    assert "Looking: 100%" in shown.err
    assert "4/4" in shown.err


@pytest.mark.parametrize("silent", [None, False])
def test_silence(capsys: pytest.CaptureFixture[str], silent: bool | None) -> None:
    with progress_reporter(silent, "Looking") as report:
        assert report is None
    assert capsys.readouterr().err == ""


def test_a_function_is_called_as_it_is() -> None:
    def own(done: int, total: int, stage: str = "", /) -> None:
        raise AssertionError

    with progress_reporter(own, "Looking") as report:
        assert report is own


def test_sanitizers_take_true_and_functions(graph: fc.Graph, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[tuple[int, int]] = []
    bar = fc.sanitize(graph, "cld", 5, progress=True)
    own = fc.sanitizer("cld").sanitize(graph, 5, progress=lambda done, total, stage="": seen.append((done, total)))
    assert bar.removed.tolist() == own.removed.tolist()
    assert seen[-1] == (5, 5)
    assert "5/5" in capsys.readouterr().err

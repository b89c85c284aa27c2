"""Ticks, lines and labels of the charts."""

from __future__ import annotations

import numpy as np

from focusedcleaner.report import charts
from focusedcleaner.report.charts import axis_end, ticks


def test_ticks_are_round_and_inside() -> None:
    for low, high in ((0, 1), (0, 553), (-12.7, 4.9), (0.0004, 0.021), (38_600, 39_100), (0, 3e6)):
        marks = ticks(low, high)
        assert 2 <= len(marks) <= 9
        assert low - 1e-9 <= marks[0] < marks[-1] <= high + 1e-9
        assert np.allclose(np.diff(marks), marks[1] - marks[0])
    assert [axis_end(value) for value in (1, 7, 99, 100)] == [1, 8, 100, 100]


def test_constant_and_interrupted_traces_can_be_drawn() -> None:
    flat = charts.trace("flat", [1, 2, 3], [0.5, 0.5, 0.5])
    gappy = charts.trace("gappy", [1, 2, 3, 4], [1.0, None, 2.0, None])
    assert "nan" not in flat + gappy
    assert gappy.count("M") - gappy.count("MM") >= 2


def test_labels_of_lines_do_not_overlap() -> None:
    heights = charts._apart([100.0, 104.0, 30.0], 16)
    assert sorted(heights) == [30.0, 88.0, 104.0]

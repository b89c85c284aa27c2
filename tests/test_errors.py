"""Warnings that are collected and raised all the same."""

from __future__ import annotations

import warnings

import pytest

from focusedcleaner.errors import InputError, InputWarning, recorded_warnings


def collected(text: str, category: type[Warning], error: Exception | None = None) -> list[str]:
    """Warn inside a block, and then raise an error there; return what the block collected."""
    with recorded_warnings() as texts:
        warnings.warn(text, category, stacklevel=1)
        if error is not None:
            raise error
    return texts


def test_collected_warnings_are_raised_again_where_they_came_from() -> None:
    with pytest.warns(InputWarning, match="two edges merged") as raised:
        assert collected("two edges merged", InputWarning) == ["two edges merged"]
    assert raised[0].filename == __file__


def test_other_warnings_are_raised_but_not_collected() -> None:
    with pytest.warns(RuntimeWarning, match="slow"):
        assert collected("slow", RuntimeWarning) == []


def test_an_error_comes_first() -> None:
    with pytest.raises(InputError, match="unusable"):
        collected("two edges merged", InputWarning, InputError("unusable"))

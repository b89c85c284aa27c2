"""Settings: from text to values, and what a class lets a user set."""

from __future__ import annotations

from typing import Any

import pytest

from focusedcleaner.errors import InputError
from focusedcleaner.sanitizers import FocusedCleaner
from focusedcleaner.settings import Setting, parse_pairs, settings_of
from tests.sanitizers.helpers import Judge


@pytest.mark.parametrize(
    ("kind", "optional", "given", "meant"),
    [
        (float, False, "0.7", 0.7),
        (float, False, " 1e-4 ", 1e-4),
        (float, False, 1, 1.0),
        (int, False, "3", 3),
        (int, True, "None", None),
        (int, True, None, None),
        (bool, False, "true", True),
        (bool, False, "No", False),
        (bool, False, True, True),
        (str, False, "none", "none"),
    ],
)
def test_text_and_values_are_converted(kind: type, optional: bool, given: object, meant: object) -> None:
    value = Setting("x", kind, optional).read(given)
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (float, "high", "x must be a number, not 'high'"),
        (float, "nan", "x must be a number, not 'nan'"),
        (float, float("inf"), "x must be a number, not inf"),
        (float, True, "x must be a number, not True"),
        (float, "none", "x must be a number, not 'none'"),
        (int, "1.5", "x must be a whole number, not '1.5'"),
        (int, 2.0, "x must be a whole number, not 2.0"),
        (int, None, "x must be a whole number, not None"),
        (int, "10000001", "x must be at most 10,000,000, not 10000001"),
        (bool, "perhaps", "x must be true or false, not 'perhaps'"),
        (bool, 1, "x must be true or false, not 1"),
        (str, 3, "x must be text, not 3"),
    ],
)
def test_other_values_are_refused(kind: type, given: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        Setting("x", kind).read(given)
    assert str(caught.value) == message


def test_fields_that_hold_objects_are_no_settings() -> None:
    known = settings_of(FocusedCleaner)
    assert "detector" not in known
    assert "inner" not in known
    assert known["validation_weight"] == Setting("validation_weight", float, optional=True, interval="[0, 1]")


@pytest.mark.parametrize("pair", ["tau", "=3", " = "])
def test_a_pair_needs_a_key_and_a_sign(pair: str) -> None:
    with pytest.raises(InputError, match="key=value"):
        parse_pairs([pair])


def test_a_setting_is_given_once() -> None:
    with pytest.raises(InputError, match="the setting tau is given twice"):
        parse_pairs(["tau=1", "tau=2"])


def test_one_of_several_texts() -> None:
    setting = settings_of(Judge)["purpose"]
    assert (setting.read("evidence"), setting.read(" Model ")) == ("evidence", "model")
    for wrong in ("proof", "", 3, None):
        with pytest.raises(InputError, match=r"purpose must be (model or evidence|text), not "):
            setting.read(wrong)

"""Text in CSV files that a spreadsheet must not take for a formula."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Signs that begin a formula, also in their full-width forms, after any quotes and blanks.
_FORMULA = re.compile("[\\s'\"]*[=+\\-@\uff1d\uff0b\uff0d\uff20\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might compute the text; plain numbers are no formulas.

    >>> is_formula("=HYPERLINK(1)"), is_formula("'@x"), is_formula("-5"), is_formula("ann")
    (True, True, False, False)
    """
    return _FORMULA.match(text) is not None and _NUMBER.fullmatch(text) is None


def escape(text: str) -> str:
    """Put an apostrophe before a formula; `unescape` takes it away.

    >>> escape("=1+1"), escape("'=1+1"), escape("-5")
    ("'=1+1", "''=1+1", '-5')
    """
    return f"'{text}" if is_formula(text) else text


def unescape(texts: Sequence[str]) -> list[str]:
    """Texts without the apostrophes of `escape`; if a formula has none, the apostrophes are the user's own and stay.

    >>> unescape(["'=x", "''=x", "y"]), unescape(["=x", "'=x"])
    (['=x', "'=x", 'y'], ['=x', "'=x"])
    """
    formulas = {text for text in texts if is_formula(text)}
    if not all(text[0] == "'" and is_formula(text[1:]) for text in formulas):
        return list(texts)
    return [text[1:] if text in formulas else text for text in texts]

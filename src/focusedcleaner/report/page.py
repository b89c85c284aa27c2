"""From the summary to one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from focusedcleaner.formatting import count, percent
from focusedcleaner.report import charts


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("focusedcleaner.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = lambda share: (
        "–" if share is None else percent(share).replace(" ", "\N{NO-BREAK SPACE}")
    )
    environment.filters["number"] = lambda value: f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
    environment.filters["count"] = count
    return environment


def page(told: Mapping[str, Any]) -> str:
    """The report as HTML, of what `summary` gives."""
    return _environment().get_template("report.html").render(**told, charts=charts)

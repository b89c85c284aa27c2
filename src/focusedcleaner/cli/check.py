"""``focusedcleaner check``: what a graph contains and what a sanitation would assume."""

from __future__ import annotations

from focusedcleaner.api import check
from focusedcleaner.cli.console import print_json, screen
from focusedcleaner.cli.inputs import read_graph
from focusedcleaner.cli.options import GraphSource


def run(source: GraphSource, json: bool) -> None:
    """Check the graph and print the findings."""
    findings = check(read_graph(source))
    if json:
        print_json(findings.to_dict())
    else:
        screen().print(str(findings), soft_wrap=True)

"""``focusedcleaner methods``."""

from __future__ import annotations

import json

from tests.conftest import Command


def test_methods(cli: Command) -> None:
    shown = cli("methods")
    for word in ("cld", "lp", "focused-none", "dice", "gcn", "tau"):
        assert word in shown.stdout
    assert "`" not in shown.stdout
    words = " ".join(shown.stdout.split())
    assert "svd Edges with little weight in a low-rank approximation of the graph. rank=30, normalized=true" in words
    assert "threshold=none" in words
    assert "inner=implicit" in words
    listed = json.loads(cli("methods", "--json").stdout)
    assert [method["name"] for method in listed["sanitizers"]][:3] == ["cld", "lp", "focused-none"]

"""``focusedcleaner doctor``."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from focusedcleaner.cli import doctor
from tests.conftest import Command


def test_versions_extras_and_data(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOCUSEDCLEANER_DATA", str(tmp_path))
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("COLUMNS", "400")
    shown = cli("doctor").stdout
    words = " ".join(shown.split())
    for text in (
        f"FocusedCleaner {metadata.version('focusedcleaner')}",
        f"torch {metadata.version('torch')}",
        f"review starlette {metadata.version('starlette')}, uvicorn {metadata.version('uvicorn')}",
        f"FOCUSEDCLEANER_DATA {tmp_path}",
        "OMP_NUM_THREADS=3",
        "not here yet: focusedcleaner datasets get cora",
    ):
        assert text in words
    assert "hypothesis" not in words


def test_json_has_the_same(cli: Command) -> None:
    found = json.loads(cli("doctor", "--json").stdout)
    assert found["libraries"]["numpy"] == {"version": metadata.version("numpy"), "error": None}
    assert set(found["extras"]) == {"review", "plots", "ray"}
    assert found["machine"]["threads"] >= 1
    assert set(found["data"]["sets"]) == {"cora", "citeseer", "polblogs"}


def test_what_is_missing_or_broken_is_named(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package == "matplotlib":
            raise metadata.PackageNotFoundError(package)
        return "1.0"

    def load(module: str) -> Any:
        if module == "ray":
            raise ImportError("libfoo.so is missing\nmore")

    monkeypatch.setattr(metadata, "version", version)
    monkeypatch.setattr(doctor, "import_module", load)
    monkeypatch.setenv("COLUMNS", "400")
    words = " ".join(cli("doctor").stdout.split())
    assert "plots matplotlib is not installed: pip install 'focusedcleaner[plots]'" in words
    assert "ray ray 1.0 can't be imported: libfoo.so is missing: pip install 'focusedcleaner[ray]'" in words
    assert "more" not in words

"""``focusedcleaner datasets``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from focusedcleaner import datasets
from tests.conftest import Command


def test_datasets(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FOCUSEDCLEANER_DATA", raising=False)
    monkeypatch.setenv("FOCUSEDCLEANER_CACHE", str(tmp_path / "cache"))
    listed = cli("datasets")
    assert listed.exit_code == 0
    assert cli("datasets", "list").stdout == listed.stdout
    assert "2,485 nodes, 5,069 edges" in listed.stdout
    assert "not here yet: focusedcleaner datasets get citeseer" in listed.stdout
    entries = json.loads(cli("datasets", "list", "--json").stdout)["datasets"]
    assert [entry["name"] for entry in entries] == ["cora", "citeseer", "polblogs"]
    assert entries[0]["path"] is None
    unknown = cli("datasets", "get", "pubmed")
    assert unknown.exit_code == 2
    assert unknown.stderr == "error: there is no data set 'pubmed'; known are cora, citeseer, polblogs\n"


def test_datasets_get_says_where(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entry = replace(datasets.info("polblogs"), path=tmp_path / "polblogs.npz")
    monkeypatch.setattr(datasets, "get", lambda name, progress: entry.path)
    monkeypatch.setattr(datasets, "info", lambda name: entry)
    assert cli("datasets", "get", "polblogs").stdout == f"{entry.path}\n"
    assert json.loads(cli("datasets", "get", "polblogs", "--json").stdout)["path"] == str(entry.path)

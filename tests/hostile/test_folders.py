"""Tampered graph folders: every command that reads one works or refuses it in one line."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from focusedcleaner.graph import Graph
from focusedcleaner.io.folder_writer import write_folder
from tests.hostile.child import answers
from tests.hostile.folder_cases import CASES, Tamper, fitted

COMMANDS = ("check GRAPH --json", "sanitize GRAPH --method agreement --budget 3 --out RUN --json")


@pytest.fixture(scope="module")
def written(small: Graph, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("written")
    write_folder(folder / "GRAPH", {}, small)
    return folder


@pytest.mark.parametrize("tamper", CASES.values(), ids=CASES)
def test_tampered_folders(tamper: Tamper, written: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(written, tmp_path / "here")
    tamper(folder / "GRAPH")
    for answer in answers(folder, COMMANDS):
        _, *lines, code = answer.splitlines()
        assert code == "exit 2", answer
        assert len(lines) == 1, answer
        assert lines[0].startswith("error: GRAPH: "), answer
    assert os.listdir(folder) == ["GRAPH"]


def test_a_folder_whose_checksums_were_made_again_works(written: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(written, tmp_path / "here")
    fitted(folder / "GRAPH")
    assert all(answer.splitlines()[-1] == "exit 0" for answer in answers(folder, COMMANDS))
    assert sorted(os.listdir(folder)) == ["GRAPH", "RUN"]

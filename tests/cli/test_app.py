"""The command line as a whole: help, usage errors, start-up."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Command


def test_help_and_version(cli: Command) -> None:
    assert cli("--version").stdout.startswith("focusedcleaner 0.")
    for words in ((), ("--help",), ("sanitize", "--help"), ("datasets", "--help")):
        shown = cli(*words)
        assert shown.exit_code == 0
        assert "Usage" in shown.stdout


@pytest.mark.parametrize("words", [["sanitize"], ["score", "RUN"], ["polish"], ["demo", "--seed", "-3"]])
def test_usage(cli: Command, words: list[str]) -> None:
    done = cli(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_the_command_itself_is_quick_and_calm(folder: Path) -> None:
    command = Path(sys.executable).with_name("focusedcleaner")
    shown = subprocess.run([command, "--help"], capture_output=True, text=True, timeout=60, check=True)
    assert "sanitize" in shown.stdout
    loaded = "import sys; import focusedcleaner.cli.app; print({'torch', 'numpy', 'scipy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout == "set()\n"
    wrong = subprocess.run([command, "score", "nowhere", "--truth", "cora"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr == "error: nowhere: there is no such run folder\n"


def test_a_closed_pipe_is_silent(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = Path(sys.executable).with_name("focusedcleaner")
    done = subprocess.run([command, "datasets", "--json"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1

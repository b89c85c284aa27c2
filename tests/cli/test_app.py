"""The command line as a whole: help, usage errors, start-up."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from focusedcleaner.cli.app import app
from focusedcleaner.runs import read_run
from tests.conftest import Command

COMMANDS = [
    inspect.getclosurevars(command.callback).nonlocals
    for command in app.registered_commands
    if command.callback is not None and command.callback.__name__ == "invoke"
]


def test_help_and_version(cli: Command) -> None:
    assert cli("--version").stdout.startswith("focusedcleaner 0.")
    for words in ((), ("--help",), ("-h",), ("sanitize", "--help"), ("sanitize", "-h"), ("datasets", "get", "-h")):
        shown = cli(*words)
        assert shown.exit_code == 0
        assert "Usage" in shown.stdout


def test_the_package_runs_as_a_module(folder: Path) -> None:
    command = [sys.executable, "-m", "focusedcleaner", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("focusedcleaner 0.")


@pytest.mark.parametrize("words", [["sanitize"], ["score", "RUN"], ["polish"], ["demo", "--seed", "-3"]])
def test_usage(cli: Command, words: list[str]) -> None:
    done = cli(*words)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command["name"])
def test_each_function_takes_the_options_of_its_command(command: dict[str, Any]) -> None:
    function = getattr(import_module(f"focusedcleaner.cli.{command['module']}"), command["name"])
    assert get_type_hints(function) == {"options": command["declared"], "return": type(None)}


HELP = """
import sys
from focusedcleaner.cli import main
for words in (["--help"], ["sanitize", "-h"]):
    try:
        main(words)
    except SystemExit:
        pass
print({"torch", "numpy", "scipy"} & set(sys.modules))
"""


def test_help_loads_no_numerical_library(folder: Path) -> None:
    shown = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, timeout=60, check=True)
    assert "Usage: focusedcleaner sanitize" in shown.stdout
    assert shown.stdout.endswith("set()\n")


def test_the_installed_command_fails_in_one_line(folder: Path) -> None:
    command = Path(sys.executable).with_name("focusedcleaner")
    wrong = subprocess.run([command, "datasets", "get", "pubmed"], capture_output=True, text=True)
    assert wrong.returncode == 2
    assert wrong.stderr == "error: there is no data set 'pubmed'; known are cora, citeseer, polblogs\n"


def test_a_closed_pipe_is_silent(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = Path(sys.executable).with_name("focusedcleaner")
    done = subprocess.run([command, "datasets", "--json"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("buffered", ["", "1"])
@pytest.mark.parametrize(
    ("redirection", "reason"), [(">/dev/full", "No space left on device"), (">&-", "Bad file desc")]
)
def test_standard_output_that_can_not_be_written(
    folder: Path, graph_file: Path, redirection: str, reason: str, buffered: str
) -> None:
    command = Path(sys.executable).with_name("focusedcleaner")
    line = f"{command} sanitize {graph_file} --method random --budget 4 --out RUN {redirection}"
    environment = {**os.environ, "PYTHONUNBUFFERED": buffered}
    done = subprocess.run(line, shell=True, stderr=subprocess.PIPE, text=True, env=environment)
    assert done.returncode == 2
    *told, line = done.stderr.splitlines()
    assert line.startswith(f"error: standard output: {reason}")
    assert not any(before.startswith("error") for before in told)
    assert read_run("RUN").complete


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")]
)
def test_lack_of_memory_is_one_line(cli: Command, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("focusedcleaner.cli.info.list_datasets", fail)
    done = cli("datasets")
    assert (done.exit_code, done.stderr) == (2, "error: the command needs more memory than there is\n")


def test_other_errors_stay_errors(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("not standard output's")

    monkeypatch.setattr("focusedcleaner.cli.info.list_datasets", fail)
    assert str(cli("datasets").exception) == "not standard output's"

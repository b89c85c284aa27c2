"""Commands and functions in a forked child with limits on time and memory."""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.util
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from focusedcleaner.cli import main

POLARS = ("polars", "_polars_runtime_32", "_polars_runtime_64", "_polars_runtime_compat")
KILLED, TIMEOUT = -signal.SIGKILL, -signal.SIGALRM


INTRODUCTION = ("note: ", "graph: ", "labels: ", "attributes: ", "method: ", "forecast: ")
"""How lines on standard error begin that are no errors."""


@dataclass(frozen=True)
class Outcome:
    """How a child ended: its exit code, negative if a signal ended it, and what it printed."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def refused(self) -> bool:
        """Whether the child refused its input as a user should see it: exit code 2 and one line, no traceback.

        Notes may stand before it, and what `sanitize` says about the graph before it starts.
        """
        lines = [line for line in self.err.splitlines() if not line.startswith(INTRODUCTION)]
        return self.code == 2 and len(lines) == 1 and lines[0].startswith("error: ")


def in_child(function: Callable[[], Any], *, seconds: float = 60.0, megabytes: int = 1024) -> Outcome:
    """Call a function in a fork of this process, which may take so much time and so much more memory.

    The exit code is that of `SystemExit`, 0 after a return and 1 after any other exception, with its traceback.
    """
    polars = _copy_of_polars() if _has_polars_threads() else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = os.fork()
        if not child:
            if polars is not None:
                _forget_polars(polars)
            _run(function, out.fileno(), err.fileno(), megabytes)
        status = _wait(child, start + seconds)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Outcome(status, texts[0], texts[1], time.monotonic() - start)


def _has_polars_threads() -> bool:
    """Whether polars has started threads in this process; a fork of it would wait for them forever."""
    return any(re.match(r"polars-\d", name.read_text()) for name in Path("/proc/self/task").glob("*/comm"))


@functools.cache
def _copy_of_polars() -> str:
    """A folder with a copy of polars' compiled library, which has threads of its own wherever it is loaded."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    for name in POLARS[1:]:
        if (found := importlib.util.find_spec(name)) is not None and found.submodule_search_locations:
            shutil.copytree(found.submodule_search_locations[0], Path(folder.name) / name)
    return folder.name


def _forget_polars(copy: str) -> None:
    """Make the next import of polars load the copy."""
    for name in [name for name in sys.modules if name.partition(".")[0] in POLARS]:
        del sys.modules[name]
    sys.path.insert(0, copy)


def command(*words: object, cwd: Path | None = None, **limits: Any) -> Outcome:
    """Run a command of the command line in a child."""

    def run() -> None:
        if cwd is not None:
            os.chdir(cwd)
        main([os.fspath(word) if isinstance(word, Path) else str(word) for word in words])

    return in_child(run, **limits)


def answers(folder: Path, commands: Sequence[str]) -> list[str]:
    """What each of several commands in a folder writes to standard error, after the command itself and before its exit
    code; they run one after another in one child."""

    def every_command() -> None:
        os.chdir(folder)
        for line in commands:
            sys.stderr.write(f"$ {line}\n")
            try:
                main(line.split())
            except SystemExit as stop:
                sys.stderr.write(f"exit {stop.code or 0}\n")

    outcome = in_child(every_command, seconds=60, megabytes=512)
    assert outcome.code == 0, outcome.err
    assert "\x1b" not in outcome.out + outcome.err
    found = outcome.err.split("$ ")[1:]
    assert len(found) == len(commands)
    return found


def _run(function: Callable[[], Any], out: int, err: int, megabytes: int) -> None:
    """The child: never returns to the caller's frame, and skips the exit handlers of pytest."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(out, 1)
        os.dup2(err, 2)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        function()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:  # noqa: BLE001  # the parent reads it
        traceback.print_exc()
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _wait(child: int, deadline: float) -> int:
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TIMEOUT
        time.sleep(0.005)

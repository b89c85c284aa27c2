"""The layers hold, nothing is imported behind their back, and docs/architecture.md names every room."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "focusedcleaner"
LATE = {"torch", "torch_geometric", "networkx", "polars", "tqdm", "matplotlib", "ray"}
LATE |= {"uvicorn", "starlette", "importlib"}
"""Packages that a function may import: optional extras, and what would slow down the start of the command line."""


def functions_with_imports() -> Iterator[tuple[Path, str]]:
    """Every module that is imported inside a function, with the file."""
    for path in SOURCE.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    if isinstance(node, ast.ImportFrom):
                        yield path.relative_to(SOURCE), node.module or ""
                    elif isinstance(node, ast.Import):
                        yield from ((path.relative_to(SOURCE), alias.name) for alias in node.names)


def test_functions_import_only_extras_and_what_is_slow_to_start() -> None:
    wrong = []
    for path, module in functions_with_imports():
        package = module.partition(".")[0]
        ours_in_the_command_line = package == "focusedcleaner" and path.parts[0] in ("cli", "__init__.py")
        if package not in LATE and not ours_in_the_command_line:
            wrong.append(f"{path} imports {module}")
    assert wrong == []


@pytest.mark.slow
def test_a_new_import_upwards_breaks_the_contract(tmp_path: Path) -> None:
    shutil.copytree(
        SOURCE, tmp_path / "src" / "focusedcleaner", ignore=shutil.ignore_patterns("__pycache__", "results")
    )
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    errors = tmp_path / "src" / "focusedcleaner" / "errors.py"
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    codes = []
    for text in (errors.read_text(), f"{errors.read_text()}\nimport focusedcleaner.runs  # noqa\n"):
        errors.write_text(text)
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src")}
        codes.append(
            subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False).returncode
        )
    assert codes == [0, 1]


def test_the_architecture_page_names_every_room() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    rooms = [path for path in SOURCE.iterdir() if path.is_dir() and (path / "__init__.py").exists()]
    rooms += [path for path in SOURCE.glob("*.py") if path.stem != "__init__"]
    assert [room.name for room in rooms if f"`{room.stem}" not in text] == []

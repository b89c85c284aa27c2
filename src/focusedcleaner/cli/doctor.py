"""``doctor``: what this installation has: versions, extras, data sources, cores and memory."""

from __future__ import annotations

import os
import platform
import re
from importlib import import_module, metadata
from typing import Any

from focusedcleaner import __version__, datasets
from focusedcleaner.cli.console import grid, print_json, screen
from focusedcleaner.cli.options import DoctorOptions
from focusedcleaner.datasets import published
from focusedcleaner.datasets.published import DATA, cache_folder, data_folder
from focusedcleaner.engine.parallel import checked_threads

MODULES = {"scikit-learn": "sklearn"}
"""Packages whose module has another name."""
THREADS = "OMP_NUM_THREADS"


def doctor(options: DoctorOptions) -> None:
    """Show what is installed, what is missing, and how to get it."""
    found = examine()
    if options.json:
        print_json(found)
        return
    console = screen()
    console.print_heading(f"FocusedCleaner {found['version']}")
    table = grid(min_width=10)
    table.add_row("Python", f"{found['python']}, {found['system']}")
    machine = found["machine"]
    table.add_row("machine", f"{machine['threads']} cores for this process, {machine['memory_gb'] or '?'} GB of memory")
    table.add_row("", f"{THREADS}={machine[THREADS]}" if machine[THREADS] else f"{THREADS} is not set")
    console.print(table, "")
    console.print_heading("Libraries")
    console.print(_table({name: _package(fields) for name, fields in found["libraries"].items()}), "")
    console.print_heading("Extras")
    console.print(_table({name: _extra(name, packages) for name, packages in found["extras"].items()}), "")
    console.print_heading("Data")
    data = found["data"]
    rows = {DATA: data[DATA] or "not set", "cache": data["cache"]}
    for name, path in data["sets"].items():
        rows[name] = path or f"not here yet: focusedcleaner datasets get {name}"
    console.print(_table(rows))


def examine() -> dict[str, Any]:
    """What ``doctor --json`` prints."""
    libraries, extras = _requirements()
    folder = data_folder()
    return {
        "version": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "machine": {"threads": checked_threads(None), "memory_gb": _memory(), THREADS: os.environ.get(THREADS)},
        "libraries": {name: _state(name) for name in libraries},
        "extras": {extra: {name: _state(name) for name in names} for extra, names in extras.items()},
        "data": {
            DATA: None if folder is None else str(folder),
            "cache": str(cache_folder()),
            "sets": {name: _path(name) for name in published.names()},
        },
    }


def _requirements() -> tuple[list[str], dict[str, list[str]]]:
    """The packages that are needed, and those of each extra for users, by what the installed package declares."""
    libraries, extras = [], dict[str, list[str]]()
    for requirement in metadata.requires("focusedcleaner") or ():
        text, _, marker = requirement.partition(";")
        name = re.split(r"[^\w.-]", text.strip())[0]
        extra = re.search(r"extra == ['\"](\w+)", marker)
        if extra is None:
            libraries.append(name)
        elif extra[1] not in ("dev", "docs"):
            extras.setdefault(extra[1], []).append(name)
    return libraries, extras


def _state(package: str) -> dict[str, str | None]:
    """The version of a package, or None, and why it can't be imported, if so."""
    try:
        version = metadata.version(package)
        import_module(MODULES.get(package, package))
    except metadata.PackageNotFoundError:
        return {"version": None, "error": "is not installed"}
    except Exception as error:  # noqa: BLE001  # whatever a broken library raises is what the user wants to see
        return {"version": version, "error": f"can't be imported: {error}".splitlines()[0]}
    return {"version": version, "error": None}


def _package(fields: dict[str, str | None]) -> str:
    return " ".join(text for text in (fields["version"], fields["error"]) if text)


def _extra(name: str, packages: dict[str, dict[str, str | None]]) -> str:
    listed = ", ".join(f"{package} {_package(fields)}" for package, fields in packages.items())
    broken = any(fields["error"] for fields in packages.values())
    return f"{listed}: pip install 'focusedcleaner[{name}]'" if broken else listed


def _path(name: str) -> str | None:
    path = datasets.info(name).path
    return None if path is None else str(path)


def _memory() -> int | None:
    """GB of this machine, where the system tells."""
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30)
    except (AttributeError, ValueError, OSError):
        return None


def _table(rows: dict[str, str]) -> Any:
    table = grid(min_width=10)
    for name, text in rows.items():
        table.add_row(name, text)
    return table

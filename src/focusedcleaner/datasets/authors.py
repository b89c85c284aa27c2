"""What the FocusedCleaner authors published: poisoned graphs, splits and Nettack's targets, checked by git blob ids.

Their repository holds text: a matrix as N lines of N digits with blanks between them, a list of nodes as one number a
line. A matrix is kept as a sparse npz file, lists as JSON. Each determines its text and thereby its blob id, so files
in the data folder and in the cache are checked like a download.
"""

from __future__ import annotations

import json
import logging
import tomllib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from focusedcleaner.datasets.download import Progress, Unavailable, blob_id, fetch_blob, reason
from focusedcleaner.datasets.published import CACHE, CATALOGUE, DATA, cache_folder, data_folder
from focusedcleaner.errors import InputError, InputWarning, prefix_errors
from focusedcleaner.graph import IntArray, Split
from focusedcleaner.io import load_adjacency
from focusedcleaner.io.disk import npz_bytes, read_text
from focusedcleaner.io.transaction import write_files

REPOSITORY = "zhuyulin-tony/focusedcleaner"
COMMIT = "9e53cab23300582ab64da9e1d865c20b8f2bc507"
BASE_URL = f"https://raw.githubusercontent.com/{REPOSITORY}/{COMMIT}"
FOLDER = "authors"
"""The folder of these files inside the data folder and the cache."""
PARTS = ("idx_train", "idx_val", "idx_test")

_log = logging.getLogger(__name__)


class FileMissing(InputError):
    """A published file is not on this machine and could not be downloaded."""


def poisoned_adjacency(
    name: str, attack: str, amount: float, *, online: bool = True, progress: Progress | None = None
) -> sp.csr_array:
    """The adjacency (N × N) of a data set that the authors poisoned.

    Args:
        name: a data set's name.
        attack: "mettack" or "nettack".
        amount: the power of METTACK (0.05 … 0.25), the flips at each of Nettack's targets (1 … 5).
        online: download what is not on this machine.
        progress: reports the download.

    Raises:
        FileMissing: the file is not there.
        InputError: a file in the data folder is not the published one.
    """
    nodes = CATALOGUE[name].num_nodes
    stem = f"{name}_{attack}_adj_{amount:g}.npz"
    item = _Item(
        name,
        (f"adj_{attack}_{amount:g}.txt",),
        (stem,),
        lambda path: (matrix_text(_read_matrix(path, nodes)),),
        lambda texts: _matrix_file(matrix_from_text(texts[0], nodes)),
    )
    return matrix_from_text(_obtain(item, online, progress)[0], nodes)


def published_split(name: str, *, online: bool = True, progress: Progress | None = None) -> Split:
    """The authors' split of a data set; arguments and errors as of `poisoned_adjacency`."""
    item = _lists(name, PARTS, (f"{name}_splits.json",))
    return Split(*map(_numbers, _obtain(item, online, progress)))


def targets(name: str, *, online: bool = True, progress: Progress | None = None) -> IntArray:
    """The nodes that the authors attacked with Nettack; arguments and errors as of `poisoned_adjacency`.

    The repository has them of Citeseer and Polblogs.
    """
    item = _lists(name, ("target_nodes",), (f"{name}_target_nodes.json", "target_nodes.json"))
    return _numbers(_obtain(item, online, progress)[0])


@cache
def blob_ids() -> dict[str, dict[str, str]]:
    """Git blob ids by data set and file.

    >>> sorted(blob_ids()), len(blob_ids()["polblogs"])
    (['citeseer', 'cora', 'polblogs'], 14)
    """
    return tomllib.loads((files("focusedcleaner.datasets") / "authors.toml").read_text(encoding="utf-8"))


def matrix_text(matrix: sp.csr_array) -> bytes:
    """A 0/1 matrix as the repository stores it.

    >>> matrix_text(sp.csr_array(np.eye(2)))
    b'1 0\\n0 1\\n'
    """
    cells = np.full((matrix.shape[0], 2 * matrix.shape[1]), ord(" "), dtype=np.uint8)
    cells[:, ::2] = matrix.toarray().astype(np.uint8) + ord("0")
    cells[:, -1] = ord("\n")
    return cells.tobytes()


def matrix_from_text(text: bytes, num_nodes: int) -> sp.csr_array:
    """The adjacency in a file of the repository: symmetric, 0/1, N × N, without self-loops.

    >>> matrix_from_text(b"0 1\\n1 0\\n", 2).indices
    array([1, 0], dtype=int32)
    """
    rows = text.count(b"\n")
    if rows != num_nodes or len(text) != 2 * num_nodes**2:
        raise InputError(f"has {rows:,} lines and {len(text):,} bytes, not a matrix of {num_nodes:,} × {num_nodes:,}")
    cells = np.frombuffer(text, dtype=np.uint8).reshape(num_nodes, 2 * num_nodes)
    digits, blanks = cells[:, ::2] - ord("0"), cells[:, 1:-1:2]
    if (digits > 1).any() or (blanks != ord(" ")).any():
        raise InputError("holds something other than 0 and 1")
    if (digits != digits.T).any():
        raise InputError("is not symmetric")
    if digits.diagonal().any():
        raise InputError("has self-loops")
    return sp.csr_array(digits.astype(np.float64))


@dataclass(frozen=True)
class _Item:
    """Something published, as files of the repository and as one file on this machine.

    Args:
        data: the data set's name.
        remote: the files in the data set's folder of the repository.
        local: accepted names of the file on this machine; the first is written.
        texts: makes the repository's files of the one on this machine.
        content: makes the file on this machine of the repository's.
    """

    data: str
    remote: tuple[str, ...]
    local: tuple[str, ...]
    texts: Callable[[Path], tuple[bytes, ...]]
    content: Callable[[tuple[bytes, ...]], bytes]

    def ids(self) -> tuple[str, ...]:
        table = blob_ids().get(self.data, {})
        if missing := [name for name in self.remote if name not in table]:
            raise FileMissing(f"github.com/{REPOSITORY} has no {self.data}/{missing[0]}")
        return tuple(table[name] for name in self.remote)

    def urls(self) -> tuple[str, ...]:
        return tuple(f"{BASE_URL}/{self.data}/{name}" for name in self.remote)


def _obtain(item: _Item, online: bool, progress: Progress | None) -> tuple[bytes, ...]:
    """The repository's files of an item, verified: from the data folder, the cache or the network."""
    ids = item.ids()
    for folder in (data_folder(), cache_folder()):
        path = None if folder is None else _find(folder / FOLDER, item.local)
        if path is None:
            continue
        try:
            with prefix_errors(path):
                texts = item.texts(path)
                if tuple(map(blob_id, texts)) == ids:
                    return texts
                raise InputError(f"is not what github.com/{REPOSITORY} has: its git blob id differs")
        except InputError as error:
            if folder == data_folder():
                raise
            _log.warning("%s; it is not used", error)
    searched = f"{item.local[0]} is neither in the folder {DATA}/{FOLDER} nor in the cache {cache_folder() / FOLDER}"
    if not online:
        raise FileMissing(f"{searched}; its source is {item.urls()[0]}")
    try:
        texts = tuple(fetch_blob(url, one, progress) for url, one in zip(item.urls(), ids, strict=True))
    except Unavailable as failure:
        raise FileMissing(f"{searched}, and can't be downloaded from {item.urls()[0]}: {failure}") from None
    with prefix_errors(item.urls()[0]):
        content = item.content(texts)
    _save(cache_folder() / FOLDER / item.local[0], content)
    return texts


def _find(folder: Path, names: tuple[str, ...]) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def _save(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"{reason(error)}; {CACHE} can name another folder"
        raise InputError(f"the cache folder {path.parent} can't be made: {why}") from None
    write_files({path: content})


def _read_matrix(path: Path, num_nodes: int) -> sp.csr_array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # an altered matrix has another blob id
        matrix = load_adjacency(path)
    if matrix.shape[0] != num_nodes:
        raise InputError(f"has {matrix.shape[0]:,} nodes, not {num_nodes:,}")
    return matrix


def _matrix_file(matrix: sp.csr_array) -> bytes:
    """The bytes of a `scipy.sparse.save_npz` file."""
    parts = {"indices": matrix.indices, "indptr": matrix.indptr, "data": matrix.data}
    return npz_bytes({**parts, "format": np.array("csr"), "shape": np.array(matrix.shape)})


def _lists(data: str, names: tuple[str, ...], local: tuple[str, ...]) -> _Item:
    """Lists of nodes; a file of a single list has it under the data set's name."""
    keys = names if len(names) > 1 else (data,)

    def texts(path: Path) -> tuple[bytes, ...]:
        try:
            content = json.loads(read_text(path))
            return tuple("".join(f"{node:d}\n" for node in content[key]).encode() for key in keys)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise InputError(f"is not a JSON object of lists of nodes: {', '.join(keys)}") from None

    def content(texts: tuple[bytes, ...]) -> bytes:
        lists = (_numbers(text).tolist() for text in texts)
        return json.dumps(dict(zip(keys, lists, strict=True))).encode()

    return _Item(data, tuple(f"{name}.txt" for name in names), local, texts, content)


def _numbers(text: bytes) -> IntArray:
    try:
        return np.array(text.split(), dtype=np.int64)
    except ValueError:
        raise InputError("holds something other than node numbers") from None

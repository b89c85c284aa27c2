"""The authors' published files: their git blob ids, where they are looked for, and downloads that fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from focusedcleaner.datasets import DatasetInfo, authors, published
from focusedcleaner.datasets.authors import FileMissing, matrix_from_text, matrix_text, poisoned_adjacency
from focusedcleaner.datasets.download import blob_id
from focusedcleaner.errors import InputError
from tests.datasets.local_server import QuietHandler, serving

MATRIX = b"0 1 0\n1 0 1\n0 1 0\n"
FILES = {
    "adj_mettack_0.1.txt": MATRIX,
    "adj_nettack_2.txt": MATRIX,
    "idx_train.txt": b"2\n0\n",
    "idx_val.txt": b"1\n",
    "idx_test.txt": b"",
    "target_nodes.txt": b"1\n2\n",
}


@dataclass
class Server:
    """What the local server answers, and what it was asked for."""

    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    breaks_off: bool = False
    asked: list[str] = field(default_factory=list)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Cora of three nodes, whose files have the blob ids of `FILES`; an empty cache."""
    monkeypatch.delenv(published.DATA, raising=False)
    monkeypatch.setenv(published.CACHE, str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(authors, "BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setitem(published.CATALOGUE, "cora", DatasetInfo("cora", 3, 2, 2, 2, ""))
    use_files(monkeypatch, FILES)
    return tmp_path / "cache"


def use_files(monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> None:
    ids = {"cora": {name: blob_id(content) for name, content in files.items()}}
    monkeypatch.setattr(authors, "blob_ids", lambda: ids)


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802  # http.server's name
            state.asked.append(self.path)
            content = state.files.get(self.path.removeprefix("/cora/"))
            self.send_response(200 if content is not None else 404)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write((content or b"")[: 5 if state.breaks_off else None])

    with serving(Handler) as url:
        monkeypatch.setattr(authors, "BASE_URL", url)
        yield state


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file()) if folder.exists() else []


def test_a_matrix_is_downloaded_once_and_kept_sparse(server: Server, cache: Path) -> None:
    first = poisoned_adjacency("cora", "mettack", 0.1)
    assert first.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    assert files_in(cache) == ["cora_mettack_adj_0.1.npz"]
    assert (poisoned_adjacency("cora", "mettack", 0.1, online=False) != first).nnz == 0
    assert poisoned_adjacency("cora", "nettack", 2).nnz == 4
    assert server.asked == ["/cora/adj_mettack_0.1.txt", "/cora/adj_nettack_2.txt"]


def test_splits_and_targets_are_lists(server: Server, cache: Path) -> None:
    for _ in range(2):
        split = authors.published_split("cora")
        assert [part.tolist() for part in split.parts] == [[0, 2], [1], []]
        assert authors.targets("cora").tolist() == [1, 2]
    assert files_in(cache) == ["cora_splits.json", "cora_target_nodes.json"]
    assert len(server.asked) == 4


def test_the_users_folder_comes_first_and_must_be_right(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine" / "authors"
    mine.mkdir(parents=True)
    monkeypatch.setenv(published.DATA, str(mine.parent))
    adjacency = sp.csr_array(matrix_from_text(MATRIX, 3))
    sp.save_npz(mine / "cora_mettack_adj_0.1.npz", adjacency)
    (mine / "target_nodes.json").write_text(json.dumps({"citeseer": [7], "cora": [1, 2]}))
    assert poisoned_adjacency("cora", "mettack", 0.1).nnz == 4
    assert authors.targets("cora").tolist() == [1, 2]
    assert server.asked == []
    sp.save_npz(mine / "cora_mettack_adj_0.1.npz", sp.csr_array(1 - np.eye(3)))
    (mine / "target_nodes.json").write_text('{"cora": "12"}')
    with pytest.raises(InputError, match=r"0\.1\.npz: is not what github\.com/.* has: its git blob id differs"):
        poisoned_adjacency("cora", "mettack", 0.1)
    with pytest.raises(InputError, match=r"target_nodes\.json: is not a JSON object of lists of nodes: cora"):
        authors.targets("cora")
    sp.save_npz(mine / "cora_mettack_adj_0.1.npz", sp.csr_array(1 - np.eye(4)))
    with pytest.raises(InputError, match="has 4 nodes, not 3"):
        poisoned_adjacency("cora", "mettack", 0.1)


def test_a_damaged_cached_file_is_fetched_again(server: Server, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    poisoned_adjacency("cora", "mettack", 0.1)
    (cache / "authors" / "cora_mettack_adj_0.1.npz").write_bytes(b"damaged")
    assert poisoned_adjacency("cora", "mettack", 0.1).nnz == 4
    assert "it is not used" in caplog.text
    assert len(server.asked) == 2


def test_a_failed_download_leaves_nothing(server: Server, cache: Path) -> None:
    server.files["adj_mettack_0.1.txt"] = MATRIX.replace(b"1", b"0", 1)
    with pytest.raises(FileMissing, match="wrong checksum"):
        poisoned_adjacency("cora", "mettack", 0.1)
    server.files["adj_mettack_0.1.txt"], server.breaks_off = MATRIX, True
    with pytest.raises(FileMissing, match="broke off after 5 of 18 bytes"):
        poisoned_adjacency("cora", "mettack", 0.1)
    del server.files["idx_val.txt"]
    server.breaks_off = False
    with pytest.raises(FileMissing, match="Not Found"):
        authors.published_split("cora")
    assert files_in(cache) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"0 1\n1 0\n", "2 lines and 8 bytes, not a matrix of 3 × 3"),
        (b"0 1 0\n1 0 0\n0 1 0\n", "is not symmetric"),
        (b"0 2 0\n2 0 1\n0 1 0\n", "something other than 0 and 1"),
        (b"0,1,0\n1,0,1\n0,1,0\n", "something other than 0 and 1"),
        (b"1 1 0\n1 0 1\n0 1 0\n", "has self-loops"),
    ],
)
def test_a_file_that_is_no_adjacency_is_refused_in_one_line(
    text: bytes, why: str, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["adj_mettack_0.1.txt"] = text
    use_files(monkeypatch, server.files)
    with pytest.raises(InputError, match=why) as caught:
        poisoned_adjacency("cora", "mettack", 0.1)
    assert "\n" not in str(caught.value)
    assert files_in(cache) == []


def test_a_missing_file_is_named_with_its_source(cache: Path) -> None:
    with pytest.raises(FileMissing, match=r"neither in the folder FOCUSEDCLEANER_DATA/authors nor in the cache"):
        poisoned_adjacency("cora", "mettack", 0.1, online=False)
    with pytest.raises(FileMissing, match=r"can't be downloaded from http.*/cora/adj_mettack_0\.1\.txt: "):
        poisoned_adjacency("cora", "mettack", 0.1)
    with pytest.raises(FileMissing, match=r"has no cora/adj_mettack_0\.3\.txt"):
        poisoned_adjacency("cora", "mettack", 0.3)


@given(st.integers(2, 8).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_text_and_matrix_determine_each_other(bits: list[bool]) -> None:
    nodes = int(len(bits) ** 0.5)
    upper = np.triu(np.array(bits).reshape(nodes, nodes), 1)
    adjacency = sp.csr_array((upper | upper.T).astype(float))
    text = matrix_text(adjacency)
    assert text == b"".join(" ".join(str(int(cell)) for cell in row).encode() + b"\n" for row in adjacency.toarray())
    assert (matrix_from_text(text, nodes) != adjacency).nnz == 0


@pytest.mark.data
def test_the_published_files() -> None:
    sizes = [poisoned_adjacency("polblogs", "mettack", power).nnz // 2 for power in (0.05, 0.1, 0.15, 0.2, 0.25)]
    assert sizes == [17549, 18375, 19113, 19816, 20584]
    assert [poisoned_adjacency("polblogs", "nettack", flips).nnz // 2 for flips in (1, 5)] == [16810, 17182]
    assert len(authors.targets("polblogs")) == 96
    assert len(authors.published_split("cora").train) == 247

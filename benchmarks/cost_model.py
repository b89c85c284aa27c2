"""The cost of a round on more machines than there are: bytes and messages by counting, seconds by measured speeds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from focusedcleaner.adjacency_rows import BLOCK_ENTRIES
from focusedcleaner.engine.structure import COLUMNS

WORD = 4
"""Bytes of a number: large graphs are computed in single precision."""
HIDDEN = 32
"""Width of the link predictor's outputs."""


@dataclass(frozen=True)
class Size:
    """What the cost of a graph depends on."""

    nodes: int
    edges: int
    attributes: int
    classes: int
    train: int
    """Number of training nodes."""


PRODUCTS = Size(2_449_029, 61_859_140, 100, 47, 196_615)
PAPERS = Size(111_059_956, 1_615_685_872, 128, 172, 1_207_179)


@dataclass(frozen=True)
class Call:
    """One kernel on all blocks: numbers sent to every worker, numbers that come back, and columns of its products."""

    sent: float = 0
    returned: float = 0
    columns: float = 0
    """Sums over both directions of an edge; half for a value at each edge."""


@dataclass(frozen=True)
class Round:
    """What a round after the first computes and moves."""

    calls: int
    sent: float
    """Bytes that every worker needs."""
    returned: float
    """Bytes that come back from all workers together, at most."""
    work: float
    """Edges times columns."""


def round_of(method: str, size: Size, word: int = WORD) -> Round:
    """Count a round of ``cld`` or ``lp`` with attributes, in a graph of several blocks."""
    calls = [*_calls(method, size, word)]
    marks = 2 * size.edges + size.nodes  # bytes: which edges remain, twice, and which nodes are victims
    return Round(
        len(calls),
        word * (size.edges + sum(call.sent for call in calls)) + marks,
        word * sum(call.returned for call in calls) + 8 * size.edges,  # the candidates' numbers
        size.edges * sum(call.columns for call in calls),
    )


def _calls(method: str, size: Size, word: int) -> Iterator[Call]:
    nodes, edges, classes = size.nodes, size.edges, size.classes

    def propagate(columns: int) -> Call:
        return Call(nodes * (columns + 1), nodes * columns, columns)

    def attributes_times(columns: int) -> Call:
        return Call(size.attributes * columns, nodes * columns)

    for first in range(0, size.attributes, COLUMNS):  # the training nodes' rows of Â²X
        columns = min(COLUMNS, size.attributes - first)
        yield attributes_times(columns)
        yield propagate(columns)
        yield Call(nodes * (columns + 1), size.train * columns, columns * size.train / nodes)
    yield attributes_times(classes)
    yield from (propagate(classes), propagate(classes))  # the logits
    yield from _detector(method, size, word)
    yield from (propagate(classes), propagate(classes))  # the gradient of W
    yield Call(nodes * classes)
    yield attributes_times(classes)
    yield from (propagate(2 * classes), propagate(2 * classes))  # the gradient of the edges
    yield Call(2 * nodes * 4 * classes, edges, 4 * classes)
    at_ends, at_nodes = Call(edges + nodes, edges, 0.5), Call(edges, nodes, 1)
    yield from (at_ends, at_nodes, at_ends)
    yield from (at_ends, at_nodes, at_ends)  # the smoother's
    yield from (at_ends, Call(edges))  # its value
    yield Call()  # the candidates


def _detector(method: str, size: Size, word: int) -> Iterator[Call]:
    if method == "lp":
        single = WORD / word  # the predictor is always in single precision
        yield Call(single * size.nodes * HIDDEN, single * size.edges, HIDDEN / 2)
        yield Call(single * size.edges, single * size.nodes, 1)
        return
    columns = 2 * size.classes + 1
    yield from [Call(size.nodes * (columns + 1), 3 * size.nodes, columns)] * 2


@dataclass(frozen=True)
class Speeds:
    """Measured speeds, in seconds and bytes a second."""

    edge: float
    """Seconds of one edge and column, in one thread."""
    node: float
    """Seconds of one node and class, of what only the driver computes."""
    store: float = math.inf
    """Bytes a second into and out of the object store."""
    message: float = 0.0
    """Seconds of one message and its answer."""
    network: float = 1.25e9
    """Bytes a second between two machines: 10 Gbit/s, not measured."""

    @classmethod
    def fitted(cls, one: float, two: float, round_: Round, size: Size) -> Speeds:
        """The speeds at which a round takes ``one`` second in one thread and ``two`` in two threads."""
        shared = min(max(2 * (one - two), 0.0), one)
        return cls(shared / round_.work, (one - shared) / (size.nodes * size.classes))


def thread_seconds(method: str, size: Size, speeds: Speeds, threads: int) -> float:
    """Predict a round in threads; a graph of one block has one."""
    threads = 1 if is_one_block(size) else threads
    return speeds.edge * round_of(method, size).work / threads + speeds.node * size.nodes * size.classes


def is_one_block(size: Size) -> bool:
    """Whether a graph is too small to be cut into blocks."""
    return 2 * size.edges + size.nodes <= BLOCK_ENTRIES


def worker_seconds(method: str, size: Size, speeds: Speeds, workers: int, *, machines: int = 1) -> float:
    """Predict a round of a Ray cluster.

    All that is sent goes into the object store once, and from there to each machine: those that have it pass it on, so
    that the number of copies doubles at each step. What comes back passes through the driver's network. A graph of one
    block is computed by the driver.
    """
    if is_one_block(size):
        return thread_seconds(method, size, speeds, 1)
    counted = round_of(method, size)
    moved = (counted.sent + counted.returned) / speeds.store + counted.calls * workers * speeds.message
    if machines > 1:
        away = (machines - 1) / machines
        moved += (counted.sent * math.ceil(math.log2(machines)) + counted.returned * away) / speeds.network
    return thread_seconds(method, size, speeds, workers) + moved


def driver_bytes(size: Size, word: int = WORD) -> float:
    """The largest matrices that a round of ``cld`` holds at once on the driver: both factors of the gradient, what they
    are made of, and a few values of each edge."""
    return word * (size.nodes * 20 * size.classes + 6 * size.edges)

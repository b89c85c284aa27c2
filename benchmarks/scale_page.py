"""The tables of docs/scale.md, from the stored results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from benchmarks.common import Section, markdown_table
from benchmarks.cost_model import (
    PAPERS,
    PRODUCTS,
    Size,
    Speeds,
    driver_bytes,
    round_of,
    thread_seconds,
    worker_seconds,
)

RUNS, STEPS, MODEL, BEYOND = (Section("scale.md", name) for name in ("runs", "steps", "model", "beyond"))
WORKERS = (1, 8, 64)
CALIBRATED = 1_000_000
"""Edges of the runs that the model's speeds are taken from."""
GRAPHS = {"ogbn-products": PRODUCTS, "papers100M": PAPERS}

Cells = Mapping[str, Mapping[str, Any]]


def write(cells: Cells) -> None:
    """Write all tables."""
    for section, table in tables(cells):
        section.write(table)


def tables(cells: Cells) -> Iterator[tuple[Section, str]]:
    """The sections of the page, and what belongs there."""
    yield RUNS, _runs(cells)
    yield STEPS, _steps(cells)
    yield MODEL, _model(cells)
    yield BEYOND, _beyond(cells)


def _named(cells: Cells) -> Iterator[tuple[str, int, str, int, Mapping[str, Any]]]:
    """Runs by method, number of edges, and threads or workers."""
    for name, cell in cells.items():
        parts = name.split(" | ")
        if len(parts) == 3 and parts[2].partition(" ")[0] in ("threads", "workers"):
            kind, _, count = parts[2].partition(" ")
            yield parts[0], int(parts[1]), kind, int(count), cell


def _runs(cells: Cells) -> str:
    named = {run[:4]: run[4] for run in _named(cells)}
    rows = []
    for method, edges, kind, count in sorted(named, key=lambda key: (key[1], key[0], key[2], key[3])):
        cell = named[method, edges, kind, count]
        one = named.get((method, edges, "threads", 1))
        smallest = named.get((method, min(key[1] for key in named), kind, count))
        rows.append(
            (
                _power(edges),
                f"`{method}`",
                f"{count} {kind if count > 1 else kind.removesuffix('s')}",
                _seconds(cell.get("first_round_seconds")),
                _seconds(cell.get("round_seconds")),
                _seconds(cell.get("seconds")),
                "–" if kind == "workers" else _seconds(cell.get("cpu_seconds")),
                f"{cell['peak_gb']:.2f}" + (f" + {cell['worker_gb']:.2f}" if "worker_gb" in cell else ""),
                _exponent(smallest, cell),
                _speed_up(one, cell) if (kind, count) != ("threads", 1) else "–",
                f"{cell['unit']:.3f}",
            )
        )
    head = (
        "edges",
        "method",
        "computed by",
        "first round, s",
        "later round, s",
        "whole run, s",
        "its CPU, s",
        "peak GB",
    )
    return markdown_table((*head, "exponent", "speed-up", "unit, s"), rows)


def _cost(cell: Mapping[str, Any]) -> float | None:
    """What exponents compare: the time of a round, or of the whole run of a method that has none."""
    cost: float | None = cell.get("round_seconds", cell.get("seconds"))
    return cost


def _exponent(smallest: Mapping[str, Any] | None, cell: Mapping[str, Any]) -> str:
    if smallest is None or smallest is cell:
        return "–"
    before, after = _cost(smallest), _cost(cell)
    if not before or not after:
        return "–"
    return f"{math.log(after / before) / math.log(cell['edges'] / smallest['edges']):.2f}"


def _speed_up(one: Mapping[str, Any] | None, cell: Mapping[str, Any]) -> str:
    """How much faster than one thread: by the whole run where it was measured."""
    if one is None:
        return "–"
    kind = "seconds" if "seconds" in cell and "seconds" in one else "round_seconds"
    return f"{one[kind] / cell[kind]:.2f}" if kind in one and kind in cell else "–"


def _steps(cells: Cells) -> str:
    rows = []
    for name, cell in cells.items():
        kind, *rest = name.split(" | ")
        if kind == "ingest":
            speed = f"{cell['edges_per_second'] / 1e6:.2f} million edges a second"
            rows.append((f"`ingest`, {_power(int(rest[0]))} edges, {rest[1]}", speed, f"{cell['peak_gb']:.2f}"))
        elif kind == "draw":
            speed = f"{cell['draw_seconds']:.1f} s, and {cell['write_seconds']:.1f} s to write the folder"
            rows.append((f"the generator, {_power(int(rest[0]))} edges", speed, f"{cell['peak_gb']:.2f}"))
    if (store := cells.get("object store")) is not None:
        speed = f"{store['put_gb_per_second']:.2f} GB/s in, {store['get_gb_per_second']:.2f} GB/s out"
        rows.append(("Ray's object store", f"{speed}; {1e3 * store['message_seconds']:.2f} ms a message", "–"))
    return markdown_table(("step", "speed", "peak GB"), rows)


def speeds(cells: Cells, method: str) -> Speeds | None:
    """The model's speeds, from the runs at `CALIBRATED` edges in one and two threads; None if they are missing."""
    one, two = (cells.get(f"{method} | {CALIBRATED} | threads {count}") for count in (1, 2))
    if one is None or two is None:
        return None
    size = drawn_size(CALIBRATED)
    found = Speeds.fitted(one["round_seconds"], two["round_seconds"], round_of(method, size), size)
    if (store := cells.get("object store")) is None:
        return found
    slower = min(store["put_gb_per_second"], store["get_gb_per_second"])
    return replace(found, store=1e9 * slower, message=store["message_seconds"])


def drawn_size(edges: int) -> Size:
    """The size of a graph that the benchmark draws."""
    nodes = edges // 5
    return Size(nodes, edges, 64, 16, nodes // 10)


def _model(cells: Cells) -> str:
    rows = []
    for method, edges, kind, count, cell in sorted(_named(cells), key=lambda run: run[:4]):
        found = speeds(cells, method) if method in ("cld", "lp") else None
        if found is None or "round_seconds" not in cell:
            continue
        predict = thread_seconds if kind == "threads" else worker_seconds
        predicted, measured = predict(method, drawn_size(edges), found, count), cell["round_seconds"]
        used = (
            "the speeds are from here" if kind == "threads" and edges == CALIBRATED else f"{predicted / measured:.2f}"
        )
        name = f"{count} {kind if count > 1 else kind.removesuffix('s')}"
        rows.append((f"`{method}`", _power(edges), name, _seconds(predicted), _seconds(measured), used))
    return markdown_table(("method", "edges", "computed by", "predicted, s", "measured, s", "ratio"), rows)


def _beyond(cells: Cells) -> str:
    rows = []
    for graph, size in GRAPHS.items():
        for method in ("cld", "lp"):
            found, counted = speeds(cells, method), round_of(method, size)
            for workers in WORKERS:
                seconds = math.nan
                if found is not None:
                    seconds = worker_seconds(method, size, found, workers, machines=workers)
                rows.append(
                    (
                        graph,
                        f"`{method}`",
                        str(workers),
                        f"{counted.sent / 1e9:,.1f}",
                        f"{counted.returned / 1e9:,.1f}",
                        f"{counted.calls * workers:,}",
                        f"{driver_bytes(size) / 1e9:,.0f}",
                        _seconds(seconds),
                    )
                )
    head = ("graph", "method", "workers", "GB to each", "GB back", "messages", "GB on the driver", "seconds a round")
    return markdown_table(head, rows)


def _power(edges: int) -> str:
    exponent = round(math.log10(edges))
    return f"10{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(digit)] for digit in str(exponent))}"


def _seconds(value: float | None) -> str:
    if value is None or math.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"

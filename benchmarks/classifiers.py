"""Variants of robust models on Cora under our METTACK, beside the paper's figures; fills docs/classifiers.md.

python -m benchmarks.classifiers [--only median]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

import numpy as np
import torch
from torch import Tensor

from benchmarks.common import Results, Section, cells_main, markdown_table
from focusedcleaner.attacks import attack
from focusedcleaner.classifiers import RGCN, Classifier, Elastic, Median, SimPGCN
from focusedcleaner.classifiers.base import TwoLayers
from focusedcleaner.classifiers.median import Neighbourhoods
from focusedcleaner.experiments.cells import Source
from focusedcleaner.experiments.compute import clean_graph
from focusedcleaner.graph import Graph, Split

PAGE = Section("classifiers.md")
POWERS, SEEDS = (0.05, 0.25), 2
PAPER = {"median": (77.0, 57.1), "rgcn": (71.6, 48.3), "simpgcn": (70.6, 46.0), "elastic": (75.4, 47.3)}
"""The paper's accuracies on Cora under METTACK, by model: 5 and 25 %."""


def median_with(aggregate: Callable[[Graph], Callable[[Tensor], Tensor]], *, glorot: bool = False) -> type[Median]:
    """MedianGCN with another aggregation, or with Glorot's initialization."""

    class Network(TwoLayers):
        def __init__(self, model: Median, graph: Graph) -> None:
            super().__init__(model, graph)
            for layer in (self.first, self.second) if glorot else ():
                torch.nn.init.xavier_uniform_(layer.weight)
                torch.nn.init.zeros_(layer.bias)

        def operators(self, graph: Graph) -> Callable[[Tensor], Tensor]:
            return aggregate(graph)

    return type("Variant", (Median,), {"network": Network})


def plain(graph: Graph) -> Callable[[Tensor], Tensor]:
    return Neighbourhoods(graph).median


def weighted(graph: Graph) -> Callable[[Tensor], Tensor]:
    """The median of messages that are weighted as in Â."""
    scale = torch.tensor((graph.degrees + 1.0) ** -0.5, dtype=torch.float32).unsqueeze(1)
    return lambda values: scale * Neighbourhoods(graph).median(scale * values)


def half_own(graph: Graph) -> Callable[[Tensor], Tensor]:
    """The mean of the median and the node's own value."""
    median = Neighbourhoods(graph).median
    return lambda values: (median(values) + values) / 2


VARIANTS: dict[str, dict[str, Callable[[], Classifier]]] = {
    "median": {
        "as published": Median,
        "Glorot's initialization, 100 epochs (GreatX)": partial(median_with(plain, glorot=True), epochs=100),
        "messages weighted as in Â": median_with(weighted),
        "64 units": partial(Median, hidden=64),
        "no weight decay": partial(Median, weight_decay=0.0),
        "mean of median and own value (not published)": median_with(half_own),
        "best epoch on the test nodes": partial(Median, patience=200),
    },
    "rgcn": {
        "64 units": RGCN,
        "32 units (GreatX)": partial(RGCN, hidden=32),
        "no attention": partial(RGCN, attention=0.0),
        "ten times the divergence": partial(RGCN, divergence=5e-3),
        "best epoch on the test nodes": partial(RGCN, patience=200),
    },
    "simpgcn": {"as published": SimPGCN, "16 units": partial(SimPGCN, hidden=16)},
    "elastic": {
        "λ₁ = λ₂ = 1": Elastic,
        "λ₁ = λ₂ = 3": partial(Elastic, sparse_weight=3.0, smooth_weight=3.0),
        "λ₁ = λ₂ = 3, K = 3 (GreatX)": partial(Elastic, sparse_weight=3.0, smooth_weight=3.0, steps=3),
    },
}
"""Models by name and variant."""


@cache
def poisoned(power: float) -> Graph:
    """Cora under our METTACK, with the authors' split."""
    clean = clean_graph(Source("cora", "authors"))
    return attack("mettack").poison(clean, max(POWERS)).prefix(power).graph


def cells() -> Iterator[tuple[str, str]]:
    for model, variants in VARIANTS.items():
        yield from ((model, variant) for variant in variants)
    yield from (("planted", f"{power:.0%}") for power in POWERS)


def measure(name: str, variant: str) -> Mapping[str, float | list[float]]:
    """Accuracies of all seeds at both powers, and seconds of a training; or shares of mostly planted nodes."""
    if name == "planted":
        return mostly_planted(poisoned(float(variant.rstrip("%")) / 100))
    found: dict[str, float | list[float]] = {}
    start = time.process_time()
    for power in POWERS:
        graph, make = poisoned(power), VARIANTS[name][variant]
        assert graph.split is not None
        seen = Split(graph.split.train, graph.split.test, []) if variant.endswith("test nodes") else graph.split
        fitted = [make().fit(graph.with_split(seen), seed=seed) for seed in range(SEEDS)]
        found[f"{power:g}"] = [100 * model.accuracy(graph) for model in fitted]
    return {**found, "seconds": (time.process_time() - start) / (SEEDS * len(POWERS))}


def mostly_planted(graph: Graph) -> dict[str, float]:
    """Shares of training and test nodes with more planted neighbours than others, the node itself included."""
    planted = ~np.isin(graph.edge_keys, clean_graph(Source("cora", "authors")).edge_keys)
    count = np.bincount(graph.edges[planted].ravel(), minlength=graph.num_nodes)
    mostly = 2 * count > graph.degrees + 1
    assert graph.split is not None
    return {"train": float(mostly[graph.split.train].mean()), "test": float(mostly[graph.split.test].mean())}


def write_page(results: Results) -> None:
    """Write the table, and the sentence on planted neighbours, into the page."""

    def row(key: str) -> list[str]:
        model, variant = key.split(" | ")
        value = results.cells[key]
        ours = [
            f"{np.mean(value[f'{power:g}']):.1f} ({paper})" for power, paper in zip(POWERS, PAPER[model], strict=True)
        ]
        return [f"`{model}`", variant, *ours, f"{value['seconds']:.0f}"]

    wanted = [" | ".join(cell) for cell in cells() if " | ".join(cell) in results]
    head = ["model", "variant", *(f"{power:.0%}" for power in POWERS), "CPU s"]
    table = markdown_table(head, [row(key) for key in wanted if not key.startswith("planted")])
    shares = [
        f"at {key.split(' | ')[1]} {results.cells[key]['train']:.1%} of the training nodes and "
        f"{results.cells[key]['test']:.1%} of the test nodes"
        for key in wanted
        if key.startswith("planted")
    ]
    PAGE.write(table + (f"\nNodes with a mostly planted neighbourhood: {', '.join(shares)}.\n" if shares else ""))


if __name__ == "__main__":
    sys.exit(cells_main(__doc__, "classifiers", cells(), measure, write_page))

"""The tables of docs/choose.md, from the stored results of the other benchmarks; nothing is measured.

python -m benchmarks.choose
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.common import Results, Section, exit_code, markdown_table, parser
from focusedcleaner.registry import SANITIZERS

SITUATIONS, METHODS = (Section("choose.md", name) for name in ("situations", "methods"))
CITATIONS = ("cora", "citeseer")
PRO_GNN = (*CITATIONS, "polblogs")
POWER = "0.1"

Cell = Mapping[str, Any]
Cells = Mapping[str, Cell]


class Situation(NamedTuple):
    """A row of the decision table."""

    what: str
    command: str
    """What to type, without ``focusedcleaner``; "auto" chooses the method that `method` names."""
    method: str
    measured: str
    verdict: str
    cost: str
    fails: str

    @property
    def row(self) -> tuple[str, ...]:
        link = ", ".join(f"[{name}](#{name})" for name in self.method.split(", "))
        return self.what, link, f"`{self.command}`", self.measured, self.verdict, self.cost, self.fails


def poison(name: str, *rivals: str) -> dict[str, Cell]:
    """The cells of a trust or label-free benchmark, with the number of planted edges and the oracle's ESR."""
    found: dict[str, Cell] = dict(Results(name).cells)
    for rival in rivals:
        for key, cell in Results(rival).cells.items():
            if key in found:
                found[key] = {**cell, **found[key]}
    return found


def chosen(cells: Cells, keep: Callable[[list[str]], bool]) -> list[Cell]:
    """The cells whose name, split at the bars, is to be kept."""
    return [cell for key, cell in cells.items() if keep(key.split(" | "))]


def shares(cells: Iterable[Cell]) -> list[float]:
    """The ESR of each poisoned graph as a share of the oracle's."""
    return [cell["esr"] / cell["oracle"] for cell in cells if cell["planted"]]


def spread(values: list[float]) -> str:
    """Median, smallest and largest share, in percent."""
    low, middle, high = (100 * np.quantile(values, at) for at in (0, 0.5, 1))
    return f"{middle:.0f} %" if len(values) == 1 else f"{middle:.0f} % ({low:.0f}–{high:.0f})"


def verdicts(cells: Iterable[Cell]) -> str:
    """How many poisoned graphs were called poisoned, and how many clean ones."""
    found = list(cells)
    parts = []
    for name, some in (
        ("poisoned", [cell for cell in found if cell["planted"]]),
        ("clean", [cell for cell in found if not cell["planted"]]),
    ):
        if some:
            called = sum(cell["status"] == "poisoned" for cell in some)
            parts.append(f"{called} of {len(some)} {name}")
    return ", ".join(parts)


def cost(cell: Cell, what: str, *, seconds: str = "cpu_seconds", memory: str = "peak_gb") -> str:
    """Time and memory of one run."""
    return f"{cell[seconds]:.{cell[seconds] < 10:d}f} s, {cell[memory]:.1f} GB ({what})"


def situations() -> Iterator[Situation]:
    """The rows of the decision table."""
    trust, forecast, scale = poison("trust", "trust_rivals"), Results("forecast").cells, Results("scale").cells
    free = poison("label_free", "label_free_rivals")
    own = chosen(trust, lambda key: key[0] in CITATIONS and key[3] == "attacker")
    other = chosen(trust, lambda key: key[0] in CITATIONS and key[3] != "attacker")
    yield Situation(
        "Labels of some nodes, and attributes",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"Cora and Citeseer: {spread(shares(own))} with the attacker's training nodes, {spread(shares(other))} with "
        "others",
        verdicts([*own, *other]),
        cost(forecast["self-attack | cora"], "Cora"),
        "the edges of Nettack and DICE end as *uncertain*; with few labels less is found",
    )
    bare = chosen(trust, lambda key: key[0] == "polblogs")
    yield Situation(
        "Labels, no attributes",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"Polblogs: {spread(shares(bare))}",
        verdicts(bare),
        cost(forecast["self-attack | polblogs"], "Polblogs"),
        "from 15 % poison on it counts too few; [`block-model`](#block-model) is the second opinion",
    )
    plain = {key: cell for key, cell in free.items() if not key.endswith("all labels")}
    citations = chosen(plain, lambda key: key[0] in CITATIONS)
    wild = chosen(plain, lambda key: key[0].startswith("wild/") and key[1] == "clean")
    yield Situation(
        "No labels, but attributes",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"Cora and Citeseer: {spread(shares(citations))}",
        verdicts([*citations, *wild]),
        f"{np.median([cell['seconds'] for cell in citations]):.0f} s (Cora, Citeseer)",
        "poison that spreads over all nodes is ranked, but *uncertain*",
    )
    blank = chosen(plain, lambda key: key[0] == "polblogs")
    yield Situation(
        "No labels, no attributes",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"Polblogs: {spread(shares(blank))}",
        verdicts(blank),
        f"{np.median([cell['seconds'] for cell in blank]):.0f} s (Polblogs)",
        "nearly always: edges alone say too little. Get attributes, or labels of some nodes",
    )
    full = chosen(free, lambda key: key[-1] == "all labels")
    yield Situation(
        "All labels, no split",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"Cora and Citeseer: {spread(shares(full))}",
        verdicts(full),
        f"{np.median([cell['seconds'] for cell in full]):.0f} s (Cora, Citeseer)",
        "as without labels",
    )
    yield Situation(
        "One class is marked, such as confirmed frauds",
        "sanitize GRAPH --nodes NODES --out RUN",
        "self-attack",
        "only two graphs were tried: [label-free.md](label-free.md#with-all-labels-and-no-split)",
        "–",
        "as without labels",
        "as without labels; fewer than 20 marked nodes are left out",
    )
    fraud = Results("fraud").cells
    blocks, untouched = chosen(fraud, lambda key: key[1] != "untouched"), chosen(fraud, lambda key: "untouched" in key)
    stand_out = [cell for cell in blocks if cell["times"] >= 1.5]
    hidden = [cell for cell in blocks if cell["times"] < 1.5]
    yield Situation(
        "Users and items, accounts and reviews",
        "sanitize TABLE --out RUN",
        "dense-blocks",
        f"of a planted group that stands out, {spread([cell['recovered'] for cell in stand_out])} of the edges are "
        f"ranked first; of one that does not, {spread([cell['recovered'] for cell in hidden])}",
        f"{verdicts(stand_out)} that stand out, {verdicts(hidden)} that do not, {verdicts(untouched)}",
        cost(fraud["power law 1,000,000 | untouched | 0"], "10⁶ edges", seconds="seconds", memory="memory"),
        "single fake reviews, groups no denser than natural ones, more than four equal groups",
    )
    unlike = chosen(trust, lambda key: key[0] == "wild/actor")
    unlike_free = chosen(plain, lambda key: key[0] == "wild/actor")
    yield Situation(
        "Heterophilous: edges join unlike nodes",
        "sanitize GRAPH --out RUN",
        "self-attack",
        f"actor: {spread(shares(unlike))}; without labels {spread(shares(unlike_free))}",
        verdicts(unlike),
        cost(forecast["self-attack | wild/actor"], "actor, 26,659 edges"),
        "the ranking is weak: look at the evidence before you remove anything",
    )
    regions = Results("regions").cells["wild/tolokers | regions"]
    yield Situation(
        "More than 200,000 edges",
        "sanitize GRAPH --threads 2 --out RUN",
        "self-attack",
        f"tolokers, {regions['edges']:,} edges: {spread([regions['esr'] / regions['oracle']])}",
        verdicts([{"planted": regions["planted"], "status": regions["verdict"]}]),
        cost(scale["self-attack | 1000000 | threads 2"], "10⁶ edges, two threads", seconds="seconds"),
        f"only one graph of this size was ranked; its verdict was *{regions['verdict']}*",
    )
    ten = {name: scale[f"{name} | 10000000 | threads 2"] for name in ("agreement", "cld")}
    yield Situation(
        "More than 10⁶ edges",
        "sanitize FOLDER --method agreement --budget 5% --out RUN",
        "agreement, cld",
        "not measured: only time and memory, on synthetic graphs",
        "gives none",
        f"{cost(ten['agreement'], '10⁷ edges, two threads', seconds='seconds')}; "
        f"{cost(ten['cld'], '`cld`', seconds='seconds')}",
        "a budget is not a finding; write the table as a graph folder first ([data.md](data.md#large-graphs))",
    )
    focused = {method: shares(graph_means(method)) for method in ("cld", "lp")}
    quality = Results("quality").cells
    yield Situation(
        "The paper's method",
        "sanitize GRAPH --preset paper --out RUN",
        "cld, lp",
        f"with our default settings, Pro-GNN's graphs: `cld` {spread(focused['cld'])}, `lp` {spread(focused['lp'])}; "
        "the preset is in [method.md](method.md#the-preset-paper)",
        "gives none",
        f"{quality['cld | cora | 0.1 | seed 0']['seconds']:.1f} s (`cld`, Cora)",
        "as many edges go from a clean graph",
    )
    ranked = [graph_mean("agreement", name, POWER) for name in CITATIONS]
    yield Situation(
        "A ranking with a fixed budget, in a second",
        "sanitize GRAPH --method agreement --budget 10% --out RUN",
        "agreement",
        f"Cora and Citeseer: {spread(shares(ranked))}; Polblogs, without attributes: "
        f"{spread(shares([graph_mean('agreement', 'polblogs', POWER)]))}",
        "gives none",
        cost(forecast["agreement | cora"], "Cora"),
        "needs labels; weak without attributes",
    )
    filters = {name: shares([graph_mean(name, data, POWER) for data in CITATIONS]) for name in ("jaccard", "svd")}
    yield Situation(
        "Only a filter, without labels",
        "sanitize GRAPH --method jaccard --budget 10% --out RUN",
        "jaccard, cosine, svd",
        f"Cora and Citeseer: `jaccard` {spread(filters['jaccard'])}, `svd` {spread(filters['svd'])}",
        "gives none",
        "less than a second (Cora)",
        "finds far less than the default, which needs no labels either",
    )


def graph_mean(method: str, data: str, power: str) -> Cell:
    """The mean over seeds of a method's ESR on a graph of Pro-GNN's, with the oracle's; empty if it was not run."""
    start = f"{method} | {data} | {power} | "
    cells = [
        cell
        for name in ("quality", "sanitizers")
        for key, cell in Results(name).cells.items()
        if key[: len(start)] == start
    ]
    if not cells:
        return {}
    oracle = Results("quality").cells[f"cld | {data} | {power} | seed 0"]["oracle_esr"]
    means = {part: float(np.mean([cell[part] for cell in cells])) for part in ("esr", "seconds")}
    return {**means, "oracle": oracle, "planted": True}


def graph_means(method: str) -> list[Cell]:
    """`graph_mean` of all graphs and powers."""
    return [graph_mean(method, data, power) for data in PRO_GNN for power in ("0.05", "0.1", "0.15", "0.2", "0.25")]


def methods() -> Iterator[tuple[str, ...]]:
    """The rows of the table of all sanitizers."""
    trust, forecast = poison("trust", "trust_rivals"), Results("forecast").cells
    for method in SANITIZERS:
        stored = "no detector" if method.name == "focused-none" else method.name
        found = {data: graph_mean(stored, data, POWER) for data in PRO_GNN}
        seconds = found["cora"].get("seconds")
        if method.name == "self-attack":
            found = {data: trust[f"{data} | prognn | {POWER} | attacker"] for data in PRO_GNN}
            seconds = forecast["self-attack | cora"]["cpu_seconds"]
        kind: Any = method.kind
        needs = [what for what in ("labels", "attributes") if getattr(kind, f"needs_{what}")]
        yield (
            f"[{method.name}](#{method.name})",
            " and ".join(needs) or ("two kinds of nodes" if method.name == "dense-blocks" else "edges only"),
            "yes" if method.name in ("self-attack", "dense-blocks") else "no",
            *(spread(shares([cell])) if cell else "–" for cell in found.values()),
            "–" if seconds is None else f"{seconds:.1f}",
        )


def tables() -> Iterator[tuple[Section, str]]:
    """The sections of the page, and what belongs there."""
    head = ("You have, or want", "method", "command", "share of the oracle's ESR", "called *poisoned*", "cost", "fails")
    yield SITUATIONS, markdown_table(head, (one.row for one in situations()))
    head = ("method", "needs", "verdict", "Cora", "Citeseer", "Polblogs", "seconds on Cora")
    yield METHODS, markdown_table(head, methods())


def main() -> int:
    parser(__doc__).parse_args()

    def work() -> None:
        for section, table in tables():
            section.write(table)

    return exit_code(work)


if __name__ == "__main__":
    sys.exit(main())

"""python -m benchmarks.picture: run the demo and draw its graph before and after, for the README."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.common import PAGES, exit_code
from focusedcleaner import datasets
from focusedcleaner.attacks import attack
from focusedcleaner.cli.demo import ATTACK, POWER, accuracies
from focusedcleaner.formatting import percent
from focusedcleaner.graph import FloatArray, Graph, IntArray, Split
from focusedcleaner.io.transaction import write_files
from focusedcleaner.sanitizers import AUTO, sanitizer_for

FILE = PAGES / "images" / "demo.svg"
WIDTH, HEIGHT = 1000, 460
MIDDLES = {"poisoned": 187, "cleaned": 544}
"""The middles of the two graphs, from the left."""
MIDDLE = 269
"""Their middle, from above."""
SPACING = 2.48
"""The radius of a class's disc is this times the square root of its number of nodes."""
GAP = 18
"""Between two discs, along the ring."""
COLOURS = ("#3b6fb6", "#2a9d78", "#d99a00", "#8a63b8", "#2aa5bb", "#a0694b", "#6b7a8f")
PLANTED = "#dc2434"
BARS = {"clean": "#94a3b8", "poisoned": PLANTED, "cleaned": "#2a9d78"}
LEFT, FLOOR, BAR, STEP, TALL = 749, 406, 58, 84, 270
"""Of the bars: where the first begins, where all stand, their width and distance, and the height of 100 %."""
STYLE = f"""<style>
text {{ font-family: -apple-system, "Segoe UI", "DejaVu Sans", Helvetica, Arial, sans-serif; fill: #1e293b }}
.title {{ font-size: 23px; font-weight: 600 }} .small {{ font-size: 16.5px; fill: #475569 }}
.value {{ font-size: 20px; font-weight: 600 }} .middle {{ text-anchor: middle }}
path {{ fill: none; stroke-linecap: round }}
.inside {{ stroke: #94a3b8; stroke-width: .5; opacity: .45 }}
.between {{ stroke: #64748b; stroke-width: .6; opacity: .5 }}
.planted {{ stroke: {PLANTED}; stroke-width: .9; opacity: .8 }} tspan {{ fill: {PLANTED}; font-weight: 600 }}
</style>"""


@dataclass(frozen=True)
class Demo:
    """A graph, what an attacker and then the sanitizer made of it, and the accuracy of a GCN on the three."""

    clean: Graph
    poisoned: Graph
    cleaned: Graph
    accuracy: Mapping[str, float]


def run_demo(seed: int = 0) -> Demo:
    """What ``focusedcleaner demo`` computes."""
    whole = datasets.load("cora")
    clean = whole.with_split(Split.random(whole.labels, seed=seed))  # type: ignore[arg-type]
    poisoned = attack(ATTACK).poison(clean, POWER, seed=seed).graph
    cleaned = sanitizer_for(poisoned, AUTO, {}).sanitize(poisoned, seed=seed).graph
    return Demo(clean, poisoned, cleaned, accuracies({"clean": clean, "poisoned": poisoned, "cleaned": cleaned}, seed))


def draw(demo: Demo) -> str:
    """The poisoned graph, the cleaned one and the accuracies, as SVG."""
    clean, poisoned, cleaned = demo.clean, demo.poisoned, demo.cleaned
    labels, places = clean.labels, positions(clean)
    assert labels is not None

    def paths(edges: IntArray) -> str:
        within = labels[edges[:, 0]] == labels[edges[:, 1]]
        kinds = {"inside": edges[within], "between": edges[~within]}
        return "".join(path(name, places, some) for name, some in kinds.items() if len(some))

    planted, removed = poisoned.added_edges(clean), poisoned.added_edges(cleaned)
    missed, found = (planted[cleaned.has_edges(planted) == stays] for stays in (True, False))
    genuine, lost = (edges[clean.has_edges(edges)] for edges in (cleaned.edges, removed))
    told = {
        "poisoned": f"<tspan>{len(planted):,} edges</tspan> planted by an attacker",
        "cleaned": f"{len(found):,} of them removed, and {len(lost):,} others",
    }
    shown = {
        "poisoned": paths(lost) + path("planted", places, planted),
        "cleaned": path("planted", places, missed) if len(missed) else "",
    }
    graphs = [
        f'<text class="title middle" x="{x}" y="46">{name.capitalize()}</text>'
        f'<text class="small middle" x="{x}" y="76">{told[name]}</text>'
        f'<g transform="translate({x} {MIDDLE})"><use href="#kept"/>{shown[name]}<use href="#nodes"/></g>'
        for name, x in MIDDLES.items()
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label='
            f'"A poisoned graph with {len(planted)} planted edges, the same graph without {len(found)} of them, '
            f'and the accuracy of a GCN: {", ".join(f"{name} {percent(demo.accuracy[name])}" for name in BARS)}">',
            STYLE,
            f'<rect x=".5" y=".5" width="{WIDTH - 1}" height="{HEIGHT - 1}" rx="14" fill="#fff" stroke="#dbe2ea"/>',
            f'<defs><g id="kept">{paths(genuine)}</g><g id="nodes">{discs(places, labels)}</g></defs>',
            *graphs,
            bars(demo.accuracy),
            "</svg>\n",
        ]
    )


def positions(graph: Graph) -> IntArray:
    """n × 2 tenths of a pixel from the middle: each class is a disc in a ring."""
    assert graph.labels is not None
    sizes = np.bincount(graph.labels, minlength=graph.num_classes)
    radii = SPACING * np.sqrt(sizes)
    ends = np.cumsum(2 * radii + GAP)
    angles = 2 * np.pi * (ends - radii) / ends[-1]
    middles = ends[-1] / (2 * np.pi) * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    places = np.zeros((graph.num_nodes, 2))
    for number in range(graph.num_classes):
        nodes = np.flatnonzero(graph.labels == number)
        places[nodes] = middles[number] + sunflower(len(nodes))
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    return np.rint(10 * (places - middle)).astype(np.int64)


def sunflower(count: int) -> FloatArray:
    """Points spread evenly over a disc, as the seeds of a sunflower."""
    number = np.arange(count)
    turn = np.pi * (3 - np.sqrt(5)) * number
    return SPACING * np.sqrt(number + 0.5)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)


def path(name: str, places: IntArray, edges: IntArray) -> str:
    """Straight lines, in whole pixels, each from the end of the one before."""
    ends = np.rint(places[edges] / 10).astype(int).reshape(-1, 4)
    steps = "".join(f"M{x} {y}L{u} {v}" for x, y, u, v in ends.tolist())
    return f'<path class="{name}" d="{steps}"/>'


def discs(places: IntArray, labels: IntArray) -> str:
    """A dot for each node in the colour of its class."""
    drawn = []
    for number in np.unique(labels).tolist():
        dots = "".join(f"M{x / 10:g} {y / 10:g}h0" for x, y in places[labels == number].tolist())
        drawn.append(f'<path stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="2.9" d="{dots}"/>')
    return "".join(drawn)


def bars(accuracy: Mapping[str, float]) -> str:
    middle = LEFT + STEP + BAR / 2
    drawn = [
        f'<text class="title middle" x="{middle:g}" y="46">Accuracy of a GCN</text>'
        f'<text class="small middle" x="{middle:g}" y="76">trained on each graph</text>'
    ]
    for number, (name, colour) in enumerate(BARS.items()):
        x, height = LEFT + number * STEP, round(TALL * accuracy[name])
        drawn.append(
            f'<rect x="{x}" y="{FLOOR - height}" width="{BAR}" height="{height}" rx="4" fill="{colour}"/>'
            f'<text class="value middle" x="{x + BAR / 2:g}" y="{FLOOR - height - 10}">{percent(accuracy[name])}</text>'
            f'<text class="small middle" x="{x + BAR / 2:g}" y="{FLOOR + 26}">{name}</text>'
        )
    return "\n".join(drawn)


def main() -> None:
    write_files({FILE: draw(run_demo()).encode()})


if __name__ == "__main__":
    sys.exit(exit_code(main))

"""Self-attack as a victim detector."""

from __future__ import annotations

import pytest
import torch

from focusedcleaner.attacks import attack
from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors.base import View
from focusedcleaner.engine import Structure
from focusedcleaner.graph import Graph
from focusedcleaner.sanitizers import sanitizer
from focusedcleaner.sanitizers.self_attack.detector import PlantedEdges
from focusedcleaner.scoring import score

QUICK = {"rounds": 2, "trees": 20, "attackers": "mettack"}


def test_the_focus_improves_focused_cleaner() -> None:
    clean = synthetic(400, mean_degree=5.0, num_classes=3, homophily=0.9, attribute_signal=0.3, seed=2)
    poisoned = attack("mettack").poison(clean, "10%").graph
    focused = sanitizer("focused-self-attack", edges_per_round=10, **QUICK).sanitize(poisoned, 40)
    unfocused = sanitizer("focused-none", edges_per_round=10).sanitize(poisoned, 40)
    assert focused.method == "focused-self-attack"
    hits = [score(done.removed, poisoned=poisoned, clean=clean).hits for done in (focused, unfocused)]
    assert hits[0] > 1.2 * hits[1]


def test_without_an_edge_above_the_threshold_the_top_tenth_is_the_focus(graph: Graph) -> None:
    structure = Structure(graph)
    view = View(structure, torch.zeros(graph.num_nodes, graph.num_classes), torch.zeros(graph.num_nodes, 1), 0)
    unlikely = torch.linspace(0.0, 0.4, graph.num_edges, dtype=structure.dtype)
    found = PlantedEdges().victims(view, {"planted": unlikely})
    tenth = graph.edges[-(graph.num_edges // 10) :]
    assert set(tenth.ravel().tolist()) <= set(torch.nonzero(found.mask).ravel().tolist())
    assert found.threshold == pytest.approx(0.36)
    likely = unlikely.clone()
    likely[3] = 0.9
    found = PlantedEdges().victims(view, {"planted": likely})
    assert torch.nonzero(found.mask).ravel().tolist() == sorted(graph.edges[3].tolist())

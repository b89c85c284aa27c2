"""FocusedCleaner: its steps, its invariants and its outer loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from focusedcleaner.datasets import synthetic
from focusedcleaner.detectors import ClassDiv, LinkPred, NoDetector
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers import PRESETS, FocusedCleaner, preset_settings, sanitizer
from focusedcleaner.sanitizers.checks import removable
from focusedcleaner.sanitizers.focused import OuterLoss
from focusedcleaner.scoring import score
from focusedcleaner.surrogate import Implicit, TwoLayer, Unrolled
from tests.strategies import labelled_graphs

pytestmark = pytest.mark.slow

FAST = {"classdiv": ClassDiv(first_epochs=5, epochs=1), "linkpred": LinkPred(first_epochs=5, epochs=1)}


@pytest.mark.filterwarnings("ignore::focusedcleaner.errors.InputWarning")
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    graph=labelled_graphs(min_nodes=8),
    detector=st.sampled_from(["classdiv", "linkpred", "none"]),
    share=st.floats(0.05, 0.6),
    per_round=st.one_of(st.none(), st.integers(1, 4)),
    seed=st.integers(0, 5),
)
def test_invariants(graph: Graph, detector: str, share: float, per_round: int | None, seed: int) -> None:
    allowed = int(share * graph.num_edges + 1e-9)
    cleaner = FocusedCleaner(FAST.get(detector, detector), edges_per_round=per_round)
    if not 1 <= allowed <= removable(graph):
        with pytest.raises(InputError):
            cleaner.sanitize(graph, share, seed=seed)
        return
    before = graph.fingerprint()
    found, again = (cleaner.sanitize(graph, share, seed=seed) for _ in range(2))
    assert graph.fingerprint() == before
    assert np.array_equal(found.removed, again.removed)
    assert np.array_equal(found.scores, again.scores)
    assert len(found.removed) <= found.budget == allowed
    gone = Graph.from_pairs(graph.num_nodes, found.removed)
    assert gone.num_edges == len(found.removed)
    assert np.isin(gone.edge_keys, graph.edge_keys).all()
    assert found.graph.num_edges == graph.num_edges - len(found.removed)
    assert ((found.graph.degrees > 0) == (graph.degrees > 0)).all()
    assert all(len(column) == len(found.removed) for column in found.evidence.values())


def test_the_result_does_not_depend_on_the_number_of_threads(poisoned: Graph) -> None:
    before = torch.get_num_threads()
    results = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        results.append(FocusedCleaner(FAST["classdiv"]).sanitize(poisoned, 20).scores)
        assert torch.get_num_threads() == threads
    torch.set_num_threads(before)
    assert np.array_equal(results[0], results[1])


def test_single_precision_finds_the_same(poisoned: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the middle one of three seeds: a tie that falls the other way changes all later rounds."""
    double = [FocusedCleaner("classdiv").sanitize(poisoned, 40, seed=seed).removed for seed in range(3)]
    monkeypatch.setattr("focusedcleaner.sanitizers.focused.SINGLE_PRECISION_FROM", 0)
    single = [FocusedCleaner("classdiv").sanitize(poisoned, 40, seed=seed) for seed in range(3)]
    pairs = zip(double, single, strict=True)
    both = [set(map(tuple, one.tolist())) & set(map(tuple, other.removed.tolist())) for one, other in pairs]
    assert sorted(map(len, both))[1] >= 36
    assert all(np.isfinite(other.scores).all() for other in single)


def test_test_labels_and_node_names_change_nothing(poisoned: Graph) -> None:
    assert poisoned.labels is not None
    assert poisoned.split is not None
    wrong = poisoned.labels.copy()
    wrong[poisoned.split.test] = (wrong[poisoned.split.test] + 1) % 3
    cleaner = FocusedCleaner(FAST["classdiv"])
    honest = cleaner.sanitize(poisoned, 20).removed
    blind = cleaner.sanitize(replace(poisoned, labels=wrong, names=None), 20).removed
    assert np.array_equal(honest, blind)


@pytest.mark.parametrize("detector", ["classdiv", "linkpred"])
def test_precision_is_far_above_chance(clean: Graph, poisoned: Graph, detector: str) -> None:
    share = 1 - clean.num_edges / poisoned.num_edges
    found = score(FocusedCleaner(detector).sanitize(poisoned, 0.1).removed, poisoned=poisoned, clean=clean)
    assert found.hits / found.removed > 2 * share


def test_focus_restricts_the_candidates(poisoned: Graph) -> None:
    free = FocusedCleaner("none").sanitize(poisoned, 10)
    strict = FocusedCleaner(ClassDiv(tau=0.9, first_epochs=20), victim_ends=2, edges_per_round=1).sanitize(poisoned, 10)
    threshold = strict.trace["victim_threshold"]
    for end in ("u", "v"):
        assert (strict.evidence[f"victim_score_{end}"] > threshold).all()
    assert not np.array_equal(free.removed, strict.removed)
    assert not np.array_equal(
        FocusedCleaner(ClassDiv(tau=0.9), normal_only=False).sanitize(poisoned, 10).scores,
        FocusedCleaner(ClassDiv(tau=0.9)).sanitize(poisoned, 10).scores,
    )


def test_the_first_edge_has_the_largest_slope_of_the_outer_loss() -> None:
    """Central differences of the validation loss, W retrained on graphs whose edge weighs slightly more or less."""
    graph = synthetic(num_nodes=40, num_classes=3, num_attributes=8, mean_degree=2.5, seed=2)
    inner = Implicit(weight_decay=1e-3, tolerance=1e-10)
    first = FocusedCleaner("none", eta=0.0, edges_per_round=1, inner=inner).sanitize(graph, 1)
    assert graph.split is not None
    assert graph.features is not None
    attributes = torch.tensor(graph.features.toarray())
    labels = torch.nn.functional.one_hot(torch.tensor(graph.labels)).double()
    train, val = torch.tensor(graph.split.train), torch.tensor(graph.split.val)
    decay = inner.weight_decay * float(attributes.square().sum(1).mean())

    def cross_entropy(flat: torch.Tensor, rows: torch.Tensor, nodes: torch.Tensor) -> torch.Tensor:
        logits = rows[nodes] @ flat.view(attributes.shape[1], 3)
        return -(torch.log_softmax(logits, 1) * labels[nodes]).sum(1).mean()

    def retrained(u: int, v: int, change: float, flat: torch.Tensor, steps: int) -> tuple[torch.Tensor, float]:
        """Newton's method from ``flat``: the trained weights and the validation loss."""
        adjacency = torch.tensor(graph.adjacency().toarray()) + torch.eye(40).double()
        adjacency[u, v] += change
        adjacency[v, u] += change
        scale = adjacency.sum(1).rsqrt()
        normalized = scale[:, None] * adjacency * scale
        rows = normalized @ normalized @ attributes

        def objective(weights: torch.Tensor) -> torch.Tensor:
            return cross_entropy(weights, rows, train) + decay / 2 * weights.square().sum()

        for _ in range(steps):
            hessian = torch.func.hessian(objective)(flat)
            flat = flat - torch.linalg.solve(hessian, torch.func.grad(objective)(flat))
        return flat, float(cross_entropy(flat, rows, val))

    start, _ = retrained(0, 1, 0.0, torch.zeros(attributes.shape[1] * 3).double(), 8)
    losses = [[retrained(u, v, change, start, 2)[1] for change in (1e-4, -1e-4)] for u, v in graph.edges.tolist()]
    slopes = [(more - less) / 2e-4 for more, less in losses]
    removed = graph.edges.tolist().index(first.removed[0].tolist())
    assert slopes[removed] == pytest.approx(first.scores[0], rel=1e-5)
    degrees = graph.degrees[graph.edges].min(1)
    assert slopes[removed] == pytest.approx(max(s for s, d in zip(slopes, degrees, strict=True) if d > 1), rel=1e-5)


def test_the_validation_weight_falls_with_the_budget(poisoned: Graph) -> None:
    trace = FocusedCleaner(FAST["classdiv"], edges_per_round=5).sanitize(poisoned, 20).trace
    assert trace["validation_weight"].tolist() == [1.0, 0.75, 0.5, 0.25]
    fixed = FocusedCleaner(FAST["classdiv"], validation_weight=0.3, edges_per_round=10).sanitize(poisoned, 20).trace
    assert fixed["validation_weight"].tolist() == [0.3, 0.3]


def test_without_validation_nodes_the_test_nodes_lead(poisoned: Graph) -> None:
    assert poisoned.split is not None
    split = Split(
        poisoned.split.train, np.empty(0, dtype=int), np.concatenate([poisoned.split.val, poisoned.split.test])
    )
    found = FocusedCleaner(FAST["classdiv"]).sanitize(poisoned.with_split(split), 10)
    assert len(found.removed) == 10
    assert set(found.trace["validation_weight"]) == {0.0}


def test_unrolled_training_and_no_attributes_work(poisoned: Graph) -> None:
    bare = replace(poisoned, attributes=None)
    found = FocusedCleaner(FAST["classdiv"], inner=Unrolled(steps=10)).sanitize(bare, 10)
    assert len(found.removed) == 10
    assert "attribute_similarity" not in found.evidence
    assert np.isnan(found.trace["smoothness"]).all()


def test_outer_loss_counts_victims_as_nothing(poisoned: Graph) -> None:
    seen = poisoned.without_test_labels()
    assert seen.split is not None
    loss = OuterLoss(seen)
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(seen.num_nodes, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    normal = torch.rand(seen.num_nodes, generator=generator) < 0.6
    gradient, values = loss.at(logits.detach(), normal, 0.3)
    chosen = [nodes[normal[nodes]] for nodes in (torch.tensor(seen.split.val), torch.tensor(seen.split.test))]
    truth = [torch.tensor(seen.labels)[chosen[0]], logits.argmax(1)[chosen[1]]]
    parts = [torch.nn.functional.cross_entropy(logits[c], t) for c, t in zip(chosen, truth, strict=True)]
    shares = [len(c) / len(whole) for c, whole in zip(chosen, (seen.split.val, seen.split.test), strict=True)]
    (0.3 * shares[0] * parts[0] + 0.7 * shares[1] * parts[1]).backward()
    assert values["validation_loss"] == pytest.approx(parts[0].item())
    assert values["test_loss"] == pytest.approx(parts[1].item())
    torch.testing.assert_close(gradient, logits.grad)


@pytest.mark.parametrize(
    "settings",
    [{"eta": -1.0}, {"validation_weight": 1.5}, {"victim_ends": 3}, {"edges_per_round": 0}, {"detector": "no such"}],
)
def test_settings_are_checked(settings: dict[str, float | str]) -> None:
    with pytest.raises(InputError):
        FocusedCleaner(**settings)  # type: ignore[arg-type]


def test_names() -> None:
    assert [FocusedCleaner(d).name for d in ("classdiv", "linkpred", NoDetector())] == ["cld", "lp", "focused-none"]


@pytest.mark.parametrize(("name", "detector"), [("cld", "classdiv"), ("lp", "linkpred"), ("focused-none", "none")])
def test_the_preset_is_its_explicit_settings(name: str, detector: str) -> None:
    chosen, preset = preset_settings("paper", name)
    assert chosen == name
    assert sanitizer(name, **preset) == FocusedCleaner.paper(detector)
    assert preset_settings("paper") == ("cld", PRESETS["paper"])


def test_a_preset_is_refused_by_other_methods_and_under_other_names() -> None:
    with pytest.raises(InputError, match="the preset paper is for cld, lp"):
        preset_settings("paper", "jaccard")
    with pytest.raises(InputError, match="there is no preset 'text'"):
        preset_settings("text", "cld")


def test_rounds_record_the_victims_and_draw_the_surrogate_anew(poisoned: Graph) -> None:
    cleaner = FocusedCleaner(FAST["classdiv"], edges_per_round=5, inner=TwoLayer(steps=10))
    trace = cleaner.sanitize(poisoned, 20).trace
    assert trace["removed"].tolist() == [5, 10, 15, 20]
    assert len(trace["victims"]) == len(trace["victim_threshold"]) == 4
    assert (trace["victims"] > 0).all()
    assert not np.array_equal(cleaner.sanitize(poisoned, 20, seed=1).trace["test_loss"], trace["test_loss"])

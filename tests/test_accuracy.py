"""Accuracy of one graph, or before and after a sanitation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import focusedcleaner as fc
from focusedcleaner.accuracy import SEEN, Comparison
from focusedcleaner.io.convert import to_pyg


def direct(graph: fc.Graph, *seeds: int) -> tuple[float, ...]:
    return tuple(fc.classifier("sgc").fit(graph, seed=seed).accuracy(graph) for seed in seeds)


def test_before_and_after_on_the_users_own_split(graph: fc.Graph) -> None:
    result = fc.sanitize(to_pyg(graph), "agreement", 60)
    found = fc.classify(result, "sgc", seeds=2, seed=5)
    assert found.accuracies_before == direct(graph, 5, 6)
    assert found.accuracies == direct(result.graph, 5, 6)
    assert found.before is not None
    assert found.difference is not None
    assert found.before == pytest.approx(np.mean(direct(graph, 5, 6)))
    assert found.after == found.mean == pytest.approx(np.mean(found.accuracies))
    assert found.difference == pytest.approx(found.after - found.before)
    assert found.note == ""
    assert repr(found) == (
        f"Accuracy(sgc: {100 * found.before:.1f} % before, {100 * found.after:.1f} % after, "
        f"{100 * found.difference:+.1f} points; 2 trainings)"
    )
    fields = found.to_dict()
    assert fields["before"]["accuracies"] == list(found.accuracies_before)
    assert fields["after"]["accuracies"] == fields["accuracies"] == list(found.accuracies)


def test_one_graph_has_one_accuracy(graph: fc.Graph) -> None:
    found = fc.classify(to_pyg(graph), "sgc", seeds=1)
    assert (found.before, found.difference, found.accuracies) == (None, None, direct(graph, 0))
    assert repr(found) == f"Accuracy(sgc: {100 * found.mean:.1f} %; 1 training)"
    assert "before" not in found.to_dict()


def test_one_of_several_columns_of_masks(graph: fc.Graph) -> None:
    data = to_pyg(graph)
    for part in ("train", "val", "test"):
        data[f"{part}_mask"] = data[f"{part}_mask"][:, None].repeat(1, 2)
    assert fc.classify(data, "sgc", seeds=1, split=1).accuracies == direct(graph, 0)
    with pytest.raises(fc.InputError, match="has a split: leave out split"):
        fc.classify(fc.sanitize(graph, "svd", 5), split=1)


def test_after_a_sanitation_that_used_all_labels_both_graphs_get_one_benchmark_split(graph: fc.Graph) -> None:
    result = fc.sanitize(graph.with_split(None), "agreement", 60)
    assert result.poisoned.split is not None
    assert not len(result.poisoned.split.test)
    compared = Comparison.of(result.graph, result.poisoned)
    expected = graph.with_split(None).with_drawn_split(0).split
    assert compared.before is not None
    assert compared.before.split == compared.after.split == expected
    found = fc.classify(result, "sgc", seeds=1)
    assert (found.note, found.test_nodes) == (SEEN, 120)
    assert found.accuracies_before == direct(graph.with_split(expected), 0)
    assert repr(found).endswith("; 1 training; see note)")
    assert found.to_dict()["note"] == SEEN


def test_of_partly_known_labels_the_known_ones_are_divided(graph: fc.Graph) -> None:
    assert graph.labels is not None
    labels = graph.labels.copy()
    labels[:50] = -1
    result = fc.sanitize(replace(graph, labels=labels, split=None), "svd", 5)
    compared = Comparison.of(result.graph, result.poisoned)
    split = compared.after.split
    assert split is not None
    assert [len(part) for part in split.parts] == [10, 10, 80]
    assert (labels[np.concatenate(split.parts)] >= 0).all()
    assert compared.note == SEEN


def test_what_can_not_be_measured(graph: fc.Graph) -> None:
    assert graph.split is not None
    bare = fc.Graph(graph.num_nodes, graph.edges)
    with pytest.raises(fc.InputError, match="the graph has no labels: there is nothing to learn"):
        fc.classify(bare)
    with pytest.raises(fc.InputError, match="the graph has no labels: there is nothing to learn"):
        fc.classify(fc.sanitize(bare, "svd", 5))
    with pytest.raises(fc.InputError, match="no training node"):
        fc.classify(graph.with_split(fc.Split([], [], range(150))))
    with pytest.raises(fc.InputError, match="no test node has a label"):
        fc.classify(graph.with_split(fc.Split(range(150), [], [])))
    for seeds in (0, True, 1.5):
        with pytest.raises(fc.InputError, match="seeds must be a number of trainings"):
            fc.classify(graph, seeds=seeds)  # type: ignore[arg-type]
    with pytest.raises(fc.InputError, match="no classifier 'gin'"):
        fc.classify(graph, "gin")


@pytest.mark.usefixtures("judge")
def test_soft_weights_are_for_other_networks(graph: fc.Graph) -> None:
    with pytest.raises(fc.InputError, match="take no edge weights"):
        fc.classify(fc.sanitize(graph, "judge", soft=True))

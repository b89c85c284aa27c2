"""The accuracy of node classifiers on a graph, or before and after its sanitation."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from focusedcleaner.classifiers import Classifier, classifier
from focusedcleaner.errors import InputError
from focusedcleaner.formatting import count, percent
from focusedcleaner.graph import UNKNOWN, Graph, Split
from focusedcleaner.io.convert import as_graph
from focusedcleaner.progress import progress_reporter
from focusedcleaner.registry import Progress
from focusedcleaner.sanitizers.sanitation import Sanitation

SEEN = "the sanitizer has seen the labels of these test nodes: the accuracy after it may be too high"
"""What to say of test nodes that were drawn after a sanitation which used all labels."""


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of one classifier on the test nodes, with one training per seed.

    >>> from focusedcleaner import attack, classify, datasets, sanitize
    >>> poisoned = attack("random").poison(datasets.synthetic(200), "10%").graph
    >>> accuracy = classify(sanitize(poisoned, "jaccard", budget="10%"), "sgc", seeds=2)
    >>> len(accuracy.accuracies), accuracy.difference == accuracy.after - accuracy.before
    (2, True)
    """

    model: str
    """The name of the classifier."""
    accuracies: tuple[float, ...]
    """One per training; of a sanitation, on the cleaned graph."""
    accuracies_before: tuple[float, ...] | None
    """One per training on the graph before the sanitation; None where there is one graph only."""
    test_nodes: int
    """The number of test nodes."""
    seconds: float
    """The time of all trainings."""
    note: str = ""
    """What the figures rest on where the test nodes were drawn after the sanitation."""

    @property
    def mean(self) -> float:
        """The mean accuracy; of a sanitation, `after`."""
        return float(np.mean(self.accuracies))

    @property
    def std(self) -> float:
        """The standard deviation of `accuracies`."""
        return float(np.std(self.accuracies))

    @property
    def after(self) -> float:
        """The mean accuracy on the cleaned graph, or on the only one."""
        return self.mean

    @property
    def before(self) -> float | None:
        """The mean accuracy before the sanitation."""
        return None if self.accuracies_before is None else float(np.mean(self.accuracies_before))

    @property
    def difference(self) -> float | None:
        """`after` − `before`."""
        return None if self.before is None else self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """All figures as JSON values; of one graph, those before and after a sanitation are left out."""
        one = {"accuracy_mean": self.mean, "accuracy_std": self.std, "accuracies": list(self.accuracies)}
        fields: dict[str, Any] = {"model": self.model, **one}
        if self.accuracies_before is not None:
            before = self.accuracies_before
            figures = {"accuracy_mean": self.before, "accuracy_std": float(np.std(before)), "accuracies": list(before)}
            fields |= {"before": figures, "after": one, "difference": self.difference}
        fields |= {"test_nodes": self.test_nodes, "seconds": round(self.seconds, 3)}
        return {**fields, "note": self.note} if self.note else fields

    def __repr__(self) -> str:
        figures = percent(self.mean)
        if self.before is not None and self.difference is not None:
            change = f"{100 * self.difference:+.1f} points"
            figures = f"{percent(self.before)} before, {percent(self.after)} after, {change}"
        see = "; see note" if self.note else ""
        return f"Accuracy({self.model}: {figures}; {count(len(self.accuracies), 'training')}{see})"


@dataclass(frozen=True)
class Comparison:
    """The graphs to train on: one, or two with the same nodes and the same split."""

    after: Graph
    before: Graph | None = None
    note: str = ""

    @classmethod
    def of(cls, after: Graph, before: Graph | None = None, *, seed: int = 0) -> Comparison:
        """Check that accuracy can be measured, and draw a split where none has a labelled test node.

        Where a graph has no split, or the sanitation had to use all labels, 10 % of the labelled nodes train, 10 %
        validate and 80 % test, on both graphs.
        """
        if not len(after.known_labels):
            raise InputError("the graph has no labels: there is nothing to learn and nothing to compare with")
        note = ""
        if after.split is None or (before is not None and not _labelled_test_nodes(after)):
            note = SEEN if before is not None else ""
            split = _benchmark_split(after if before is None else before, seed)
            after, before = after.with_split(split), None if before is None else before.with_split(split)
        assert after.split is not None
        if not len(after.split.train):
            raise InputError("the split has no training node")
        if not _labelled_test_nodes(after):
            raise InputError("no test node has a label: accuracy can't be measured")
        return cls(after, before, note)

    @property
    def test_nodes(self) -> int:
        """The number of test nodes with a label."""
        return _labelled_test_nodes(self.after)

    def measure(self, model: Classifier, *, seeds: int, seed: int = 0, progress: Progress | None = None) -> Accuracy:
        """Train ``seeds`` times on each graph."""
        start = time.perf_counter()
        graphs = [self.after] if self.before is None else [self.before, self.after]
        found: list[list[float]] = [[] for _ in graphs]
        for number in range(seed, seed + seeds):
            for graph, accuracies in zip(graphs, found, strict=True):
                accuracies.append(model.fit(graph, seed=number).accuracy(graph))
                if progress is not None:
                    progress(sum(map(len, found)), len(graphs) * seeds)
        before = None if self.before is None else tuple(found[0])
        seconds = time.perf_counter() - start
        return Accuracy(model.name, tuple(found[-1]), before, self.test_nodes, seconds, self.note)


def classify(
    data: Any,
    model: str = "gcn",
    *,
    seeds: int = 3,
    seed: int = 0,
    progress: Progress | bool | None = None,
    split: int | None = None,
    **settings: Any,
) -> Accuracy:
    """Measure how well a node classifier does on a graph or, given a result of `sanitize`, before and after it.

    Args:
        data: a `Sanitation`, or any graph that `sanitize` takes. Its test nodes are used; if it has none with a label,
            10 % of the labelled nodes train, 10 % validate and 80 % test. Where the sanitizer has seen the labels of
            these test nodes, `Accuracy.note` says so.
        model: a classifier's name: gcn, …
        seeds: the number of trainings on each graph.
        seed: the first of the seeds, and that of a split that is drawn.
        progress: True for a bar, or called with (done, total).
        split: of PyG masks with several columns, the one to use; a `Sanitation` has its own.
        **settings: the classifier's settings by name.

    >>> import focusedcleaner as fc
    >>> result = fc.sanitize(fc.datasets.synthetic(200), "jaccard", budget="5%")
    >>> fc.classify(result, "sgc", seeds=1)
    Accuracy(sgc: ... % before, ... % after, ... points; 1 training)
    """
    if isinstance(seeds, bool) or not isinstance(seeds, int) or seeds < 1:
        raise InputError(f"seeds must be a number of trainings from 1, not {seeds!r}")
    chosen = classifier(model, **settings)
    if isinstance(data, Sanitation):
        if split is not None:
            raise InputError("the result of a sanitation has a split: leave out split")
        if data.soft:
            raise InputError("the classifiers here take no edge weights: train a GNN that does on result.data")
        compared = Comparison.of(data.graph, data.poisoned, seed=seed)
    else:
        compared = Comparison.of(as_graph(data, split=split, seed=seed), seed=seed)
    with progress_reporter(progress, "Training") as report:
        return compared.measure(chosen, seeds=seeds, seed=seed, progress=report)


def _labelled_test_nodes(graph: Graph) -> int:
    if graph.labels is None or graph.split is None:
        return 0
    return int((graph.labels[graph.split.test] != UNKNOWN).sum())


def _benchmark_split(graph: Graph, seed: int) -> Split:
    """10 % of the labelled nodes for training, 10 % for validation, the others for testing, stratified."""
    bare = replace(graph, split=None)
    assert bare.labels is not None
    nodes = bare.canonical_order.nodes
    labelled = nodes[bare.labels[nodes] != UNKNOWN]
    drawn = Split.random(bare.labels[labelled], seed=seed)
    return Split(*(labelled[part] for part in drawn.parts))

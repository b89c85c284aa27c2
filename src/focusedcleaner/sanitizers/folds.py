"""The validation loss by folds of the labelled nodes, and its meta-gradient over all pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from focusedcleaner.engine.mutable_edges import MutableEdges
from focusedcleaner.errors import InputError
from focusedcleaner.graph import Graph, Split
from focusedcleaner.sanitizers.outer_loss import OuterLoss
from focusedcleaner.surrogate import InnerTraining, PairGradient, Surrogate


@dataclass(frozen=True)
class FoldsGradient:
    """∂L/∂Â of the sum of all folds' validation losses, on the graph as it stands."""

    gradient: PairGradient
    classes: Tensor
    """The mean of the folds' softmax, N × C."""
    parts: dict[str, float]
    """The means of the validation loss and accuracy."""
    memory: dict[str, Tensor]
    """What the next trainings start from."""


class Folds:
    """A surrogate per fold, trained on the labelled nodes of all other folds and validated by its own.

    Args:
        graph: with labels of training and validation nodes.
        number: of folds; 1 for the split as it is.
        inner: how each surrogate is trained.
        seed: draws the folds.
    """

    def __init__(self, graph: Graph, number: int, inner: InnerTraining, seed: int) -> None:
        graphs = [graph.with_split(split) for split in fold_splits(graph, number, seed)]
        self.surrogates = [Surrogate(part, inner=inner) for part in graphs]
        self.losses = [OuterLoss(part, dtype=torch.float64, device="cpu") for part in graphs]
        self.everyone = torch.ones(graph.num_nodes, dtype=torch.bool)

    def gradient(self, memory: Mapping[str, Tensor]) -> FoldsGradient:
        """Train all surrogates, from what an earlier call left, and differentiate."""
        gradients, classes, parts, left = [], [], [], {}
        for number, (surrogate, loss) in enumerate(zip(self.surrogates, self.losses, strict=True)):
            fitted = surrogate.fit(memory.get(f"inner{number}"))
            left[f"inner{number}"] = fitted.solution.coordinates
            value = loss.at(fitted.logits, self.everyone, 1.0)
            gradients.append(surrogate.meta_gradient(fitted, value.signal))
            classes.append(fitted.probabilities)
            parts.append(value.parts)
        # Gradients in factors over one structure add up by putting their columns side by side.
        together = PairGradient(
            gradients[0].structure,
            torch.cat([part.left for part in gradients], 1),
            torch.cat([part.right for part in gradients], 1),
        )
        means = {
            key: float(np.mean([part[key] for part in parts])) for key in ("validation_loss", "validation_accuracy")
        }
        return FoldsGradient(together, torch.stack(classes).mean(0), means, left)

    def move_to(self, evolving: MutableEdges, touched: Sequence[int]) -> None:
        """Go on with the graph as it stands now, which differs in edges between the touched nodes only."""
        for surrogate in self.surrogates:
            surrogate.move_to(evolving.structure(), touched)

    def repeat(self) -> None:
        """Bring the surrogates' features to the digits that they have after a round."""
        for surrogate in self.surrogates:
            surrogate.features.now()


def fold_splits(graph: Graph, number: int, seed: int) -> list[Split]:
    """Splits whose validation nodes are the folds of the labelled nodes and whose training nodes are all others'.

    Each class is spread over the folds as evenly as can be.
    """
    assert graph.split is not None
    assert graph.labels is not None
    if number == 1:
        if not len(graph.split.val):
            raise InputError("the split has no validation node: with folds=1 there is nothing to validate by")
        return [graph.split]
    known = np.concatenate([graph.split.train, graph.split.val])
    if len(known) < number:
        raise InputError(f"there are {len(known)} labelled nodes, too few for {number} folds")
    shuffled = np.random.default_rng(seed).permutation(known)
    by_class = shuffled[np.argsort(graph.labels[shuffled], kind="stable")]
    fold = np.empty(graph.num_nodes, dtype=np.int64)
    fold[by_class] = np.arange(len(known)) % number
    return [Split(known[fold[known] != part], known[fold[known] == part], graph.split.test) for part in range(number)]

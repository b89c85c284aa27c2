"""The MLP against its formula."""

from __future__ import annotations

from focusedcleaner.classifiers import MLP
from tests.classifiers.dense import check_formula, perceptron


def test_mlp_formula() -> None:
    check_formula(MLP(epochs=3), perceptron)

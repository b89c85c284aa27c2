"""The linear two-hop surrogate S = softmax(Â²XW), its inner training and its exact sparse meta-gradient."""

from focusedcleaner.surrogate.inner import Implicit, InnerTraining, Unrolled
from focusedcleaner.surrogate.metagradient import PairGradient
from focusedcleaner.surrogate.model import Fitted, Surrogate
from focusedcleaner.surrogate.smoother import Smoother
from focusedcleaner.surrogate.structure import Attributes, Pairs, Structure, one_thread

__all__ = [
    "Attributes",
    "Fitted",
    "Implicit",
    "InnerTraining",
    "PairGradient",
    "Pairs",
    "Smoother",
    "Structure",
    "Surrogate",
    "Unrolled",
    "one_thread",
]

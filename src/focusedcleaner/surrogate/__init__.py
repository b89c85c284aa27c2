"""The linear two-hop surrogate S = softmax(Â²XW), its inner training and its exact sparse meta-gradient."""

from focusedcleaner.surrogate.inner import Implicit, InnerTraining, TwoLayer, Unrolled
from focusedcleaner.surrogate.metagradient import PairGradient, Smoother
from focusedcleaner.surrogate.model import Fitted, Surrogate

__all__ = ["Fitted", "Implicit", "InnerTraining", "PairGradient", "Smoother", "Surrogate", "TwoLayer", "Unrolled"]

"""What the mathematics needs of a graph: sparse × thin products, values at edges, sums at nodes, top-k, removal."""

from focusedcleaner.engine.structure import Attributes, Pairs, Structure, one_thread

__all__ = ["Attributes", "Pairs", "Structure", "one_thread"]

"""Linear algebra on graphs: sparse products, values at edges, sums at nodes, top-k pairs, removal."""

from focusedcleaner.engine.structure import Attributes, Pairs, Structure, one_thread

__all__ = ["Attributes", "Pairs", "Structure", "one_thread"]

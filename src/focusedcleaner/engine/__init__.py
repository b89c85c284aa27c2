"""Linear algebra on graphs: sparse products, values at edges, sums at nodes, top-k pairs, removal."""

from focusedcleaner.engine.parallel import computing, map_blocks, one_thread
from focusedcleaner.engine.structure import Attributes, Pairs, Structure

__all__ = ["Attributes", "Pairs", "Structure", "computing", "map_blocks", "one_thread"]

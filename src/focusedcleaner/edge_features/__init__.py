"""Everything measured about an edge or a pair of nodes."""

"""Everything measured about an edge or a pair of nodes, and the selection of edges by score."""

"""What a graph is, what `sanitize` would do with it, how long that takes, and what it can't promise."""

from focusedcleaner.checking.check import Check, check, check_graph

__all__ = ["Check", "check", "check_graph"]

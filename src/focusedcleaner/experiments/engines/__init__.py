"""Where cells are computed: here, in processes of this machine, or on a cluster."""

from __future__ import annotations

from focusedcleaner.experiments.engines.base import Engine, Finished
from focusedcleaner.experiments.engines.local import Inline, Processes

__all__ = ["Engine", "Finished", "Inline", "Processes"]

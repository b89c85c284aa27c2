"""The contract of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from focusedcleaner.experiments.compute import Failure, Outcome, Task

RETRIES = 2
"""How often a task is given to another worker after its own died."""
DIED = "the worker process died"

Finished = tuple[str, Outcome | Failure]
"""A cell's key and what came of it."""


class Engine(ABC):
    """Computes tasks, a few at a time. Workers never touch the store: results come back to the runner."""

    @property
    @abstractmethod
    def slots(self) -> int:
        """How many tasks it works on at a time."""

    @abstractmethod
    def start(self, task: Task) -> None:
        """Begin a task; there must be a free slot."""

    @abstractmethod
    def finished(self, timeout: float) -> list[Finished]:
        """What has ended since the last call; waits for something to end, but not longer than ``timeout`` seconds."""

    @abstractmethod
    def close(self) -> None:
        """Stop at once; tasks under way are given up."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Who cleans: FocusedCleaner and, in time, its rivals; each under its name."""

from __future__ import annotations

from focusedcleaner.sanitizers.base import Interrupted, Progress, Sanitation, Sanitizer
from focusedcleaner.sanitizers.focused import FocusedCleaner

__all__ = ["FocusedCleaner", "Interrupted", "Progress", "Sanitation", "Sanitizer"]

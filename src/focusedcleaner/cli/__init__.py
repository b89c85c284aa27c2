"""The command line: reads options, calls the library, prints the result. It contains no algorithm.

`options` declares the options of the commands and `app` the commands themselves.
"""

from __future__ import annotations

from focusedcleaner.cli.app import main

__all__ = ["main"]

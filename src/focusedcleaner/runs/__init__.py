"""The run folder: the result of a sanitation on disk, complete or absent.

    run.json        settings, versions, input, timings
    removed.csv     the removed edges in order of removal, each with its score and its evidence
    added.csv       the inserted edges with their scores, if there are any
    sanitized.npz   the cleaned graph
    trace.csv       one row per round
    report.html     the report, which the command line writes
    missing.csv     edges that the attacker may have removed, if `restore` was run
    checkpoint.npz  the state to resume from, while the run is interrupted

A run is written into a hidden folder beside its final place (``.RUN.part``), which is renamed at the end. A resumed run
is written into its own folder. Every file is replaced atomically, `run.json` last.
"""

from __future__ import annotations

from focusedcleaner.runs.folder import REMOVED, RunFolder, run_record, write_run
from focusedcleaner.runs.reading import Run, read_run, read_trace

__all__ = ["REMOVED", "Run", "RunFolder", "read_run", "read_trace", "run_record", "write_run"]

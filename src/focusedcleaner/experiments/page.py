"""The page of results: every experiment with what the paper says, our figures beside it, and where they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from focusedcleaner.experiments.catalogue import Experiment
from focusedcleaner.experiments.claims import Verdict, verdicts
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.summary import Entry, entries
from focusedcleaner.experiments.tables import markdown

INTRODUCTION = """# Results

Every table and figure of the paper, computed with this package, and three experiments of our own. Written by
`focusedcleaner reproduce --all`; change nothing here by hand. How to run it: [reproduce.md](reproduce.md).

A place shows ours as mean ± standard deviation (of a sample) over seeds and in parentheses the paper's figure and the
difference, ours minus theirs; *n* where seeds are missing so far. Poison is our own, made on the split that the authors
published, except where an experiment says otherwise: the paper's poisoned graphs are not published, so that the same
method can't be expected to reach the same digit. The budget is 10 % of the poisoned graph's edges, and one setting of a
method serves all powers, attacks and data sets. FocusedCleaner and GASOLINE train inside as published, a hundred steps
of gradient descent (`--set inner=unrolled`); on Pro-GNN's graphs and on the clean ones they keep the package's default,
which is faster.
"""


def page(experiments: Sequence[Experiment], known: Mapping[str, CellResult], folder: str, drawn: set[str]) -> str:
    """The whole page.

    Args:
        experiments: in their order.
        known: results by key.
        folder: where figures and tables lie, as a link from the page.
        drawn: the names of experiments that have a figure.
    """
    parts = [INTRODUCTION, _overview(experiments, known), _differences(experiments, known)]
    parts += [section(experiment, known, folder, experiment.name in drawn) for experiment in experiments]
    return "\n".join(parts)


def section(experiment: Experiment, known: Mapping[str, CellResult], folder: str, drawn: bool) -> str:
    """One experiment."""
    lines = [f"## {experiment.number}. {experiment.title}", ""]
    lines += [f"`focusedcleaner reproduce {experiment.name}` · {experiment.where}. {experiment.says}", ""]
    if experiment.note:
        lines += [experiment.note, ""]
    if drawn:
        lines += [f"![{experiment.title}]({folder}/{experiment.name}.svg)", ""]
    lines += [markdown(experiment, known)]
    found = verdicts(experiment, known)
    lines += [f"- {verdict.text} *{verdict.summary}*" for verdict in found] + ([""] if found else [])
    return "\n".join(lines)


def _overview(experiments: Iterable[Experiment], known: Mapping[str, CellResult]) -> str:
    """How much is there, and what became of the claims."""
    lines = ["| | experiment | where | values | claims |", "| ---: | --- | --- | ---: | --- |"]
    for experiment in experiments:
        places = [entry for entry in entries(experiment, known) if entry.wanted]
        there, wanted = (sum(_count(entry, what) for entry in places) for what in ("there", "wanted"))
        told = _told(verdicts(experiment, known))
        share = f"{there:,} of {wanted:,}" if there < wanted else f"{there:,}"
        lines.append(f"| {experiment.number} | {experiment.title} | {experiment.where} | {share} | {told} |")
    return "\n".join(lines) + "\n"


def _told(found: Sequence[Verdict]) -> str:
    """How many claims hold everywhere, of those that are known."""
    checked = [verdict for verdict in found if verdict.checks]
    if not checked:
        return "not known yet" if found else ""
    held = sum(not verdict.broken for verdict in checked)
    later = len(found) - len(checked)
    return f"{held} of {len(checked)} hold everywhere" + (f", {later} not known yet" if later else "")


def _count(entry: Entry, what: str) -> int:
    if what == "wanted":
        return 0 if entry.reason else entry.wanted
    return len(entry.values)


def _differences(experiments: Iterable[Experiment], known: Mapping[str, CellResult]) -> str:
    """The claims that do not hold everywhere, with the figures of each place and, where it is known, the reason."""
    found = [(experiment, verdict) for experiment in experiments for verdict in verdicts(experiment, known)]
    checked = sum(bool(verdict.checks) for _, verdict in found)
    lines = ["## Where ours differs", ""]
    lines += [f"Of {len(found)} claims {checked} could be checked so far. These do not hold everywhere:", ""]
    lines += [f"- *{experiment.title}.* {_broken(verdict)}" for experiment, verdict in found if verdict.broken]
    if len(lines) == 4:
        lines[2:] = [f"Nowhere so far: of {len(found)} claims {checked} could be checked, and hold everywhere."]
    return "\n".join([*lines, ""])


def _broken(verdict: Verdict) -> str:
    told = "; ".join(f"{check.panel}, {check.where}: {check.figures}" for check in verdict.broken)
    why = f" {verdict.why}" if verdict.why else ""
    return f"{verdict.text} *{verdict.summary.capitalize()}*, not at {told}.{why}"

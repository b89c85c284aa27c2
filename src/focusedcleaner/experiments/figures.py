"""Figures: small multiples of an experiment's panels as SVG and PNG, the same bytes in every run."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any

from focusedcleaner.errors import MissingExtra
from focusedcleaner.experiments.catalogue import Experiment, Panel, common
from focusedcleaner.experiments.tables import Entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""The colour-blind safe palette of Okabe and Ito."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
REFERENCES = ("oracle", "clean")
"""Rows that are a bound or a baseline, drawn as a thin dashed line."""
PAPER = "the paper's, hollow"
_NO_DATES = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}


def check_plots() -> None:
    """Raise `MissingExtra` if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("drawing figures", "plots") from None


def draw(experiment: Experiment, entries: Entries) -> dict[str, bytes]:
    """The figure by suffix, svg and png; empty if the experiment has no figure or no values."""
    if not experiment.figure or not any(entry.values for entry in entries.values()):
        return {}
    check_plots()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    images = {}
    with matplotlib.rc_context(common()["figure_style"]):
        figure = _figure(experiment, entries)
        FigureCanvasAgg(figure)
        for suffix, metadata in _NO_DATES.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=suffix, metadata=metadata, dpi=110)
            images[suffix] = buffer.getvalue()
    return images


def _figure(experiment: Experiment, entries: Entries) -> Figure:
    from matplotlib.figure import Figure

    filled = {panel for (panel, _, _), entry in entries.items() if entry.values}
    panels = [panel for panel in experiment.panels if len(panel.columns) > 1 and panel.id in filled]
    across = min(2 if len(panels) == 4 else 3, len(panels))
    down = math.ceil(len(panels) / across)
    figure = Figure(figsize=(2.6 * across + 0.6, 2.1 * down + 0.7), layout="constrained")
    heatmap = experiment.figure == "heatmap"
    grid = figure.subplots(down, across, squeeze=False, sharey=not heatmap).flat
    for number, (plot, panel) in enumerate(zip(grid, panels, strict=False)):
        (_draw_heatmap if heatmap else _draw_lines)(plot, experiment, panel, entries)
        plot.set_xlabel(experiment.x or panel.label)
        if experiment.x:
            plot.set_title(panel.label)
        if number % across == 0:
            plot.set_ylabel(experiment.y)
    for unused in grid[len(panels) :]:
        unused.set_visible(False)
    legends = [plot.get_legend_handles_labels() for plot in grid[: len(panels)]]
    lines = {label: handle for handles, labels in legends for handle, label in zip(handles, labels, strict=True)}
    if len(lines) > 1:  # one legend for all panels: the rows in their order, the paper's last
        labels = sorted(lines, key=lambda label: label == PAPER)
        handles, columns = [lines[label] for label in labels], min(len(lines), across + 1)
        figure.legend(handles, labels, loc="outside lower center", ncols=columns)
    return figure


def _draw_lines(plot: Axes, experiment: Experiment, panel: Panel, entries: Entries) -> None:
    """A line per row with standard deviations; the paper's figures hollow and dotted."""
    drawn = [row for row in panel.rows if not experiment.draw or row.id in experiment.draw]
    for number, row in enumerate(drawn):
        line = [entries[panel.id, row.id, column.id] for column in panel.columns]
        marker = MARKERS[number % len(MARKERS)] if len(panel.columns) <= 20 else ""
        style: dict[str, Any] = {"color": COLOURS[number % len(COLOURS)], "marker": marker, "linestyle": "-"}
        if row.id in REFERENCES:
            style = {"color": "#555555", "linestyle": "--", "linewidth": 0.9, "marker": ""}
        xs = [x for x, entry in enumerate(line) if entry.values]
        means, deviations = [line[x].mean for x in xs], [line[x].deviation for x in xs]
        plot.plot(xs, means, label=row.label, **style)
        if row.id not in REFERENCES:
            plot.errorbar(xs, means, deviations, fmt="none", ecolor=style["color"], elinewidth=0.7)
        paper = [(x, entry.paper) for x, entry in enumerate(line) if not math.isnan(entry.paper)]
        if paper:
            hollow = {**style, "linestyle": ":", "linewidth": 0.9, "markerfacecolor": "white"}
            plot.plot(*zip(*paper, strict=True), label=PAPER, **hollow)
    step = next(step for step in (1, 2, 5, 10, 20, 50) if len(panel.columns) / step <= 7)
    plot.set_xticks(range(0, len(panel.columns), step), [column.label for column in panel.columns][::step])


def _draw_heatmap(plot: Axes, experiment: Experiment, panel: Panel, entries: Entries) -> None:
    """Rows by columns, each with its number."""
    means = [[entries[panel.id, row.id, column.id].mean for column in panel.columns] for row in panel.rows]
    plot.imshow(means, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    plot.grid(visible=False)
    plot.set_xticks(range(len(panel.columns)), [column.label for column in panel.columns])
    plot.set_yticks(range(len(panel.rows)), [row.label for row in panel.rows])
    for y, line in enumerate(means):
        for x, value in enumerate(line):
            if not math.isnan(value):
                colour = "white" if value < 55 else "black"
                plot.text(x, y, f"{value:.0f}", ha="center", va="center", color=colour)

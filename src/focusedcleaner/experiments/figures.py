"""Figures of an experiment: small multiples, the same in every run."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from focusedcleaner.errors import MissingExtra
from focusedcleaner.experiments.catalogue import Experiment, Line, Panel
from focusedcleaner.experiments.store import CellResult
from focusedcleaner.experiments.summary import Entry, by_panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
"""Okabe and Ito's, which all eyes tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
REFERENCES = ("oracle", "clean")
"""Rows that are a bound or a baseline: a thin dashed line."""
THEIRS = "the paper's, hollow"
ACROSS = 3
"""Panels side by side."""
_STYLE = {
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "svg.hashsalt": "focusedcleaner",
}
_NO_DATES = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}

Places = Mapping[tuple[str, str], Entry]


def check_plots() -> None:
    """Say at once where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtra("drawing figures", "plots") from None


def draw(experiment: Experiment, known: Mapping[str, CellResult]) -> dict[str, bytes]:
    """The figure as SVG and PNG, by suffix; nothing where the experiment has none or no value is there."""
    found = by_panel(experiment, known)
    if not experiment.figure or not any(entry.values for places in found.values() for entry in places.values()):
        return {}
    check_plots()
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    with matplotlib.rc_context(_STYLE):
        figure = _figure(experiment, found)
        FigureCanvasAgg(figure)
        pictures = {}
        for form, metadata in _NO_DATES.items():
            buffer = io.BytesIO()
            figure.savefig(buffer, format=form, metadata=metadata, dpi=110)
            pictures[form] = buffer.getvalue()
    return pictures


def _figure(experiment: Experiment, found: Mapping[str, Places]) -> Figure:
    from matplotlib.figure import Figure

    panels = [panel for panel in experiment.panels if len(panel.columns) > 1]
    across = min(ACROSS if len(panels) != 4 else 2, len(panels))
    down = math.ceil(len(panels) / across)
    figure = Figure(figsize=(2.6 * across + 0.6, 2.1 * down + 0.7), layout="constrained")
    heat = experiment.figure == "heatmap"
    plots = figure.subplots(down, across, squeeze=False, sharey=not heat)
    paint = _heatmap if heat else _lines
    for place, panel in enumerate(panels):
        plot = plots[place // across][place % across]
        paint(plot, experiment, panel, found[panel.id])
        plot.set_xlabel(experiment.x or panel.label)
        if experiment.x:
            plot.set_title(panel.label)
        if place % across == 0:
            plot.set_ylabel(experiment.y)
    for place in range(len(panels), down * across):
        plots[place // across][place % across].set_visible(False)
    _legend(figure, plots[0][0], across)
    return figure


def _legend(figure: Figure, plot: Axes, across: int) -> None:
    """One legend for all panels: the rows in their order, the paper's last."""
    handles, labels = plot.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    lines = {label: by_label[label] for label in sorted(by_label, key=lambda label: label == THEIRS)}
    if len(lines) > 1:
        figure.legend(list(lines.values()), list(lines), loc="outside lower center", ncols=min(len(lines), across + 1))


def _lines(plot: Axes, experiment: Experiment, panel: Panel, found: Places) -> None:
    """A line for every row, with the standard deviation; the paper's figures hollow and dotted."""
    drawn = [row for row in panel.rows if not experiment.draw or row.id in experiment.draw]
    for number, row in enumerate(drawn):
        places = [found[row.id, column.id] for column in panel.columns]
        style = _row_style(row, number, many=len(panel.columns) > 20)
        shown = [(x, entry) for x, entry in enumerate(places) if entry.values]
        xs, means = [x for x, _ in shown], [entry.mean for _, entry in shown]
        plot.plot(xs, means, label=row.label, **style)
        if row.id not in REFERENCES:
            plot.errorbar(
                xs, means, [entry.deviation for _, entry in shown], fmt="none", ecolor=style["color"], elinewidth=0.7
            )
        theirs = [(x, entry.paper) for x, entry in enumerate(places) if not math.isnan(entry.paper)]
        if theirs:
            hollow = {**style, "linestyle": ":", "linewidth": 0.9, "markerfacecolor": "white"}
            plot.plot(*zip(*theirs, strict=True), label=THEIRS, **hollow)
    step = next(step for step in (1, 2, 5, 10, 20, 50) if len(panel.columns) / step <= 7)
    plot.set_xticks(range(0, len(panel.columns), step), [column.label for column in panel.columns][::step])


def _row_style(row: Line, number: int, *, many: bool) -> dict[str, Any]:
    if row.id in REFERENCES:
        return {"color": "#555555", "linestyle": "--", "linewidth": 0.9, "marker": ""}
    marker = "" if many else MARKERS[number % len(MARKERS)]
    return {"color": COLOURS[number % len(COLOURS)], "marker": marker, "linestyle": "-"}


def _heatmap(plot: Axes, experiment: Experiment, panel: Panel, found: Places) -> None:
    """Rows by columns, each with its number."""
    means = [[found[row.id, column.id].mean for column in panel.columns] for row in panel.rows]
    plot.imshow(means, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    plot.grid(visible=False)
    plot.set_xticks(range(len(panel.columns)), [column.label for column in panel.columns])
    plot.set_yticks(range(len(panel.rows)), [row.label for row in panel.rows])
    for y, line in enumerate(means):
        for x, value in enumerate(line):
            if not math.isnan(value):
                colour = "white" if value < 55 else "black"
                plot.text(x, y, f"{value:.0f}", ha="center", va="center", color=colour)

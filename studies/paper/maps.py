"""The paper's maps: fields in the plane, and single windows on their way through a group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onesnap.plots.style import (
    FAINT,
    INK,
    MEDIUM,
    MISSING,
    SIGNED,
    SMALL,
    colour_bar,
    colour_scale,
    own_scale,
    percent,
    tidy,
)


def forecasts(
    truth, columns: Mapping[str, Any], errors: Mapping[str, Any], times, pair, length: float,
    *, name: str = "u",
) -> Figure:  # fmt: skip
    """Truth, forecasts and differences `(time, x, y)` as maps; on the right the training pair."""
    names, count = list(columns), len(times)
    rows = 1 + 2 * len(names)
    figure = Figure(figsize=(2.05 * (count + 1) + 1.6, 2.12 * rows + 0.3), layout="constrained")
    grid = figure.subplots(rows, count + 1, squeeze=False, width_ratios=(*(1,) * count, 1.0))
    colours = colour_scale(truth)
    gaps = [states - truth[: len(states)] for states in columns.values()]
    contrast = own_scale(np.concatenate([gap[1:].ravel() for gap in gaps]))
    for moment, time in enumerate(times):
        image = _map(grid[0, moment], truth[moment], length, colours)
        _head(grid[0, moment], f"t = {time:g}")
        for place, label in enumerate(names):
            above, below = grid[1 + 2 * place, moment], grid[2 + 2 * place, moment]
            states = columns[label]
            if moment < len(states):
                _map(above, states[moment], length, colours)
                different = _map(below, gaps[place][moment], length, contrast)
                _head(above, f"RSE {percent(float(errors[label][moment]))}")
            else:
                for axes in (above, below):
                    _missing(axes, "diverged", length)
    _row_names(grid[:, 0], ["simulation", *(w for n in names for w in (f"ELM,\n{n}", "difference"))])
    _pair(grid[:3, -1], pair, length)
    for axes in grid[3:, -1]:
        axes.set_visible(False)
    colour_bar(figure, image, grid[: rows // 2], name, shrink=0.8)
    colour_bar(figure, different, grid[rows // 2 :], "difference", shrink=0.8)
    return figure


def schemes(stages: Mapping[str, np.ndarray]) -> Figure:
    """A window under the eight elements, and the averaging of predictions over them."""
    windows, count = stages["windows"], len(stages["windows"])
    figure = Figure(figsize=(10.6, 9.4))
    values = stages["blocks"], stages["predicted"], stages["reverted"], stages["average"]
    most = max(float(np.abs(each).max()) for each in values)
    inside = {"cmap": SIGNED, "vmin": float(windows.min()), "vmax": float(windows.max())}
    outside = {"cmap": SIGNED, "vmin": -most, "vmax": most}
    sides = {"left": 0.06, "right": 0.99, "wspace": 0.35}
    upper: Any = figure.add_gridspec(2, count, top=0.93, bottom=0.68, hspace=0.35, **sides).subplots()
    lower: Any = figure.add_gridspec(5, count, top=0.6, bottom=0.03, hspace=0.55, **sides).subplots()
    for height, words in (
        (0.965, "a window, and the block that it becomes, under the eight elements"),
        (0.625, "averaging: move, predict, move back, average"),
    ):
        figure.text(0.01, height, words, fontsize=MEDIUM, color=INK)
    for g in range(count):
        _patch(upper[0, g], windows[g], inside, f"$R_{g + 1}$")
        _patch(upper[1, g], stages["blocks"][g], outside)
        _arrow(upper[0, g], upper[1, g])
    _row_names(upper[:, 0], ["t", "t + Δt"])
    for axes in (*lower[0], *lower[4]):
        axes.set_axis_off()
    middle = count // 2
    rows = (("windows", inside), ("predicted", outside), ("reverted", outside))
    for g in range(count):
        for place, (key, colours) in enumerate(rows, start=1):
            _patch(lower[place, g], stages[key][g], colours)
        _arrow(lower[0, middle], lower[1, g], faint=True)
        _arrow(lower[1, g], lower[2, g])
        _arrow(lower[2, g], lower[3, g])
        _arrow(lower[3, g], lower[4, middle], faint=True)
    _row_names(lower[1:4, 0], ["$R_i$", "$E$", "$R_i^{-1}$"])
    _patch(lower[0, middle], windows[0], inside)
    _patch(lower[4, middle], stages["average"], outside)
    aside = min(middle + 2, count - 1)
    _patch(lower[4, aside], stages["truth"], outside)
    for axes, words in ((lower[4, middle], "average"), (lower[4, aside], "simulation")):
        axes.set_xlabel(words, fontsize=SMALL, color=INK)
    return figure


# The parts of figures.


def _pair(panels, pair, length: float) -> None:
    """The states before and after a step, and the change, below each other."""
    before, after = pair
    own, colours = own_scale(after - before), colour_scale(before)
    for axes, words, field, scale in zip(
        panels,
        ("training pair: before", "after", f"change, ± {own['vmax']:.2g}"),
        (before, after, after - before),
        (colours, colours, own),
        strict=True,
    ):
        _map(axes, field, length, scale)
        _head(axes, words)


def _map(axes: Axes, field, length: float, colours: dict):
    box = (0, length, 0, length)
    image = axes.imshow(field.T, extent=box, origin="lower", interpolation="nearest", **colours)
    _bare(axes)
    return image


def _missing(axes: Axes, words: str, length: float) -> None:
    _bare(axes)
    axes.set(facecolor=MISSING, aspect="equal", xlim=(0, length), ylim=(0, length))
    axes.text(0.5, 0.5, words, transform=axes.transAxes, ha="center", va="center", color=FAINT)


def _bare(axes: Axes) -> None:
    tidy(axes)
    axes.set_xticks([])
    axes.set_yticks([])


def _head(axes: Axes, words: str) -> None:
    axes.set_title(words, fontsize=SMALL, color=INK, pad=3)


def _row_names(axes, names: Sequence[str]) -> None:
    for each, name in zip(axes, names, strict=True):
        each.set_ylabel(name, fontsize=SMALL, color=INK)


def _patch(axes: Axes, cells, colours: dict, words: str = "") -> None:
    axes.set_axis_on()
    axes.imshow(cells.T, origin="lower", interpolation="nearest", **colours)
    _bare(axes)
    if words:
        _head(axes, words)


def _arrow(start: Axes, end: Axes, faint: bool = False) -> None:
    """An arrow from the foot of one panel to the head of another."""
    look = {"linewidth": 0.7, "alpha": 0.6} if faint else {"linewidth": 1.1}
    end.annotate(
        "", xy=(0.5, 1.04), xycoords="axes fraction", xytext=(0.5, -0.04), textcoords=start.transAxes,
        arrowprops={"arrowstyle": "->", "color": FAINT, "shrinkA": 0, "shrinkB": 0, **look},
        annotation_clip=False,
    )  # fmt: skip

"""Figures of a forecast beside the truth: over space and time, as maps, and its error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ..evaluate.metrics import valid_time
from ..model.rollout import VALID_RSE
from .style import (
    DASHED,
    FAINT,
    INK,
    MEDIUM,
    MISSING,
    SIGNED,
    SMALL,
    colour_bar,
    colour_scale,
    draw_curves,
    mark_valid,
    own_scale,
    percent,
    plane,
    set_title,
    spread,
    strip,
    tidy,
)


def space_time(
    truth, forecast, dt: float, length: float, rse, *, threshold: float = VALID_RSE, name: str = "u"
) -> Figure:
    """Truth, forecast and difference over time and space, and the RSE below them.

    `truth` and `forecast` are `(time, channel, x)`; of several channels the first is drawn. A field
    of both signs shares its colours with the difference, in which white then means agreement. A
    forecast that ended early leaves the rest of its panels grey.
    """
    truth, forecast = np.asarray(truth), np.asarray(forecast)
    valid, end = valid_time(forecast, truth, dt, threshold), dt * (len(truth) - 1)
    difference = forecast[:, 0] - truth[: len(forecast), 0]
    colours = colour_scale(truth[:, 0])
    shared = colours["cmap"] == SIGNED
    apart = colours if shared else own_scale(difference)
    figure = Figure(figsize=(9.2, 7.6), layout="constrained")
    grid = figure.subplots(4, 1, sharex=True, height_ratios=(1, 1, 1, 0.8))
    images = [
        strip(grid[0], "truth", truth[:, 0], dt, length, colours),
        strip(grid[1], "forecast", forecast[:, 0], dt, length, colours),
        strip(grid[2], "difference", difference, dt, length, apart),
    ]
    for axes in grid[:3]:
        axes.axvline(valid, color=INK, linewidth=1, linestyle=DASHED)
    if len(forecast) < len(truth):
        middle = (dt * len(forecast) + end) / 2
        grid[1].text(middle, length / 2, "diverged", ha="center", va="center", color=FAINT)
    colour_bar(figure, images[0], grid[:3] if shared else grid[:2], name)
    if not shared:
        colour_bar(figure, images[2], grid[2:3], "difference")
    draw_curves(grid[3], dt * np.arange(len(forecast)), {"forecast": rse}, threshold)
    finite = np.asarray(rse)[np.isfinite(rse)]
    top = min(300.0, max(2 * threshold, 1.1 * float(finite.max(initial=0.0))))
    grid[3].set(xlabel="time", ylabel="RSE in %", xlim=(0, end), ylim=(0, top))
    set_title(grid[3], "relative squared error")
    mark_valid(grid[3], valid, end, complete=len(forecast) == len(truth))
    return figure


def frames(truth, forecast, times, *, length: float, rse, moments=None, name: str = "u") -> Figure:
    """Truth, forecast and difference as rows of maps, at five times or at those of `moments`.

    `truth` and `forecast` are `(time, channel, *space)` in two dimensions, or three, of which the
    middle slice is drawn; of several channels the first.
    """
    truth, forecast = plane(truth), plane(forecast)
    ended, difference = len(forecast), forecast - truth[: len(forecast)]
    index = spread(len(truth), 5) if moments is None else list(moments)
    figure = Figure(figsize=(2.15 * len(index) + 1.2, 6.9), layout="constrained")
    grid = figure.subplots(3, len(index), sharex=True, sharey=True, squeeze=False)
    rows = (
        ("truth", truth, colour_scale(truth)),
        ("forecast", forecast, colour_scale(truth)),
        ("difference", difference, own_scale(difference[[i for i in index if i < ended]])),
    )
    for axis in (grid[0, 0].xaxis, grid[0, 0].yaxis):
        axis.set_major_locator(MaxNLocator(3))  # shared by all maps, whose labels must not touch
    images = []
    for (label, fields, colours), axes_row in zip(rows, grid, strict=True):
        for moment, axes in zip(index, axes_row, strict=True):
            tidy(axes)
            axes.set(facecolor=MISSING, aspect="equal", xlim=(0, length), ylim=(0, length))
            if moment < len(fields):
                box = (0, length, 0, length)
                image = axes.imshow(fields[moment].T, extent=box, origin="lower", **colours)
            else:
                axes.text(0.5, 0.5, "diverged", transform=axes.transAxes, ha="center", color=FAINT)
        images.append(image)
        axes_row[0].set_ylabel(f"{label}\ny", fontsize=MEDIUM, color=INK)
    for moment, top, bottom in zip(index, grid[0], grid[2], strict=True):
        error = f"RSE {percent(rse[moment])}" if moment < ended else "no forecast"
        top.set_title(f"t = {times[moment]:.4g}\n{error}", fontsize=MEDIUM, color=INK)
        bottom.set_xlabel("x", fontsize=SMALL, color=INK)
    colour_bar(figure, images[0], grid[:2], name, shrink=0.7)
    colour_bar(figure, images[2], grid[2:], "difference")
    return figure


def error_curve(
    times,
    curves: Mapping[str, Any],
    *,
    threshold: float = VALID_RSE,
    valid: float | None = None,
) -> Figure:
    """RSE over time of one forecast or several, on a logarithmic scale.

    The first of `curves`, label -> RSE, is the one that `valid` is marked for. A shorter one ends
    with a cross: that forecast diverged.
    """
    times = np.asarray(times)
    figure = Figure(figsize=(9.2, 3.8), layout="constrained")
    axes = figure.subplots()
    axes.set_yscale("log")
    draw_curves(axes, times, curves, threshold)
    positive = [np.asarray(c)[np.isfinite(c) & (np.asarray(c) > 0)] for c in curves.values()]
    values = np.concatenate([*positive, [threshold]])
    # Nothing is to be seen below a hundred-thousandth of a percent or far above a thousand.
    low, high = np.clip(values.min() / 2, 1e-5, 1.0), np.clip(values.max() * 2, 200.0, 1e3)
    axes.set(xlabel="time", ylabel="RSE in %", xlim=(0, times[-1]), ylim=(low, high))
    if valid is not None:
        first = len(next(iter(curves.values())))
        # Curves start low on the left and end high on the right: at the foot there is room.
        mark_valid(axes, valid, times[-1], complete=first == len(times), height=0.1)
    if len(curves) > 1:
        # Above the axes, where no curve can be.
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": len(curves)}
        axes.legend(fontsize=SMALL, frameon=False, labelcolor=INK, borderaxespad=0.2, **place)
    return figure

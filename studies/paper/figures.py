"""The paper's curves and strips over time, drawn from arrays only, arranged as in the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from onesnap.plots.style import (
    DASHED,
    FAINT,
    INK,
    LINES,
    MEDIUM,
    MISSING,
    SMALL,
    colour_bar,
    colour_scale,
    set_title,
    strip,
    tidy,
)

TOP = 300.0  # percent of RSE at which curves leave the picture
OTHERS: dict[str, str] = {"with encoding": LINES[0], "without encoding": LINES[1]}
LEGEND: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "labelcolor": INK}


def lines(truth, forecasts: Mapping[str, Any], errors: Mapping[str, Any], times, length: float):
    """Truth, forecasts and differences `(time, x)` over time and space; below, the errors."""
    names = list(forecasts)
    figure = Figure(figsize=(8.6, 2.0 + 1.45 * (1 + 2 * len(names))), layout="constrained")
    heights = (*(1,) * (1 + 2 * len(names)), 1.1)
    grid = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    dt, colours = times[1] - times[0], colour_scale(truth)
    image = strip(grid[0], "simulation", truth, dt, length, colours)
    for place, name in enumerate(names):
        states = forecasts[name]
        strip(grid[1 + 2 * place], f"ELM, {name}", states, dt, length, colours)
        gap = states - truth[: len(states)]
        strip(grid[2 + 2 * place], f"difference, {name}", gap, dt, length, colours)
    colour_bar(figure, image, grid[:-1], "u", shrink=0.5)
    _error_axes(grid[-1], times)
    for name, colour in zip(names, LINES, strict=False):
        grid[-1].plot(times, errors[name], color=colour, linewidth=1.8, label=name)
    grid[-1].legend(loc="upper left", **LEGEND)
    return figure


def statistics(times, curves: Mapping[str, np.ndarray]) -> Figure:
    """Errors of many models `(model, time)`: every curve, mean and 1.5 standard deviations."""
    figure = Figure(figsize=(4.6 * len(curves), 3.9), layout="constrained")
    grid = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, (name, errors), colour in zip(grid, curves.items(), LINES, strict=False):
        _error_axes(axes, times)
        some = np.ma.masked_invalid(errors)  # a forecast that diverged has no error any more
        mean, spread = (each.filled(np.nan) for each in (some.mean(axis=0), some.std(axis=0)))
        band = np.maximum(mean - 1.5 * spread, 0), mean + 1.5 * spread
        axes.plot(times, errors.T, color=FAINT, linewidth=0.5, alpha=0.35)
        axes.fill_between(times, *band, color=colour, alpha=0.22, linewidth=0, label="± 1.5 std")
        axes.plot(times, mean, color=colour, linewidth=2.2, label=f"mean of {len(errors)}")
        axes.legend(loc="upper left", **LEGEND)
        set_title(axes, name)
    for axes in grid[1:]:
        axes.set_ylabel("")
    return figure


def encodings(truth, columns: Mapping[str, Mapping[str, Any]], times, length: float) -> Figure:
    """Forecasts with and without encoding and their errors; a column a way of training.

    `columns[column][label]` holds `states` `(time, channel, x)` and `rse` `(time,)`.
    """
    labels = list(next(iter(columns.values())))
    count = 2 + 2 * len(labels)
    figure = Figure(figsize=(5.4 * len(columns), 1.45 * count + 0.6), layout="constrained")
    grid = figure.subplots(count, len(columns), sharex=True, squeeze=False)
    dt, colours = times[1] - times[0], colour_scale(truth)
    for column, (name, forecasts) in enumerate(columns.items()):
        strips = grid[:, column]
        image = strip(strips[0], f"{name}: simulation", truth, dt, length, colours)
        _error_axes(strips[-1], times)
        for place, label in enumerate(labels):
            states = forecasts[label]["states"][:, 0]
            strip(strips[1 + 2 * place], f"ELM {label}", states, dt, length, colours)
            gap = states - truth[: len(states)]
            strip(strips[2 + 2 * place], "difference", gap, dt, length, colours)
            if len(states) < len(times):
                middle = (dt * len(states) + times[-1]) / 2
                words = {"ha": "center", "va": "center", "color": FAINT, "fontsize": SMALL}
                strips[1 + 2 * place].text(middle, length / 2, "diverged", **words)
            curve = forecasts[label]["rse"]
            strips[-1].plot(times, curve, color=OTHERS[label], linewidth=1.8, label=label)
        strips[-1].set_ylim(top=390)  # room for the legend
        strips[-1].legend(loc="upper right", ncols=2, **LEGEND)
    for axes in grid[:, 1:].ravel():
        axes.set_ylabel("")
    colour_bar(figure, image, grid[:-1], "u", shrink=0.5)
    return figure


def raw_moments(truth, columns: Mapping[str, Mapping[str, Any]], length: float) -> Figure:
    """Raw moments `(order, x)` of simulation and forecasts, an order a column."""
    figure = Figure(figsize=(3.9 * len(truth), 2.9 * len(columns)), layout="constrained")
    grid = figure.subplots(len(columns), len(truth), sharex=True, sharey="col", squeeze=False)
    x = length * np.arange(truth.shape[1]) / truth.shape[1]
    for axes_row, (name, forecasts) in zip(grid, columns.items(), strict=True):
        for order, axes in enumerate(axes_row):
            _plain(axes)
            axes.plot(x, truth[order], color=INK, linewidth=2.4, alpha=0.45, label="simulation")
            for label, moments in forecasts.items():
                axes.plot(x, moments[order], color=OTHERS[label], linewidth=1.5, label=label)
            # A forecast on its way out must not flatten all others.
            low, high = float(truth[order].min()), float(truth[order].max())
            room = 0.5 * (high - low)
            axes.set(xlim=(0, length), ylim=(low - room, high + room))
            power = "" if order == 0 else "²³"[order - 1]
            set_title(axes, f"E[u{power}],  {name}")
    for axes in grid[-1]:
        axes.set_xlabel("x", fontsize=MEDIUM, color=INK)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, **LEGEND)
    return figure


def symmetries(counts, curves, settled, errors: Mapping[str, np.ndarray]) -> Figure:
    """Error against training windows for 1 … 8 symmetries, and against those used to predict.

    `curves` `(symmetries, count)`; `errors[column]` `(model, symmetries)`.
    """
    figure = Figure(figsize=(10.4, 4.1), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.35, 1))
    for axes in (left, right):
        _plain(axes)
    left.set(yscale="log", ylabel="RSE of one step in %")
    shades = matplotlib.colormaps["viridis"](np.linspace(0.92, 0.05, len(curves)))
    for size, (curve, shade) in enumerate(zip(curves, shades, strict=True), start=1):
        left.plot(counts, curve, color=shade, linewidth=1.6, label=f"{size}")
        level = float(np.exp(np.interp(np.log(settled[size - 1]), np.log(counts), np.log(curve))))
        left.plot(settled[size - 1], level, "o", color=shade, markersize=5, markeredgecolor="white")
    left.set(xscale="log", xlim=(counts[0], counts[-1]))
    low = float(np.nanmin(curves))
    left.set_ylim(low / 1.6, min(float(np.nanmax(curves)), 1e5 * low) * 1.5)
    left.set_xlabel("training windows")
    left.legend(title="symmetries", ncols=2, title_fontsize=SMALL, loc="upper right", **LEGEND)
    set_title(left, "training with 1 to 8 symmetries")
    sizes = np.arange(1, 1 + curves.shape[0])
    for (name, error), colour in zip(errors.items(), LINES, strict=False):
        ratio = error / error[:, :1]
        right.plot(sizes, ratio.T, color=colour, linewidth=0.6, alpha=0.4)
        right.plot(sizes, ratio.mean(axis=0), "o-", color=colour, markersize=5, label=name)
    right.set(ylim=(0, 1.05), ylabel="error relative to that with 1")
    right.set_xlabel("symmetries used to predict")
    right.legend(loc="upper right", **LEGEND)
    set_title(right, "predicting with 1 to 8, trained with 1")
    return figure


def defects(systems: Mapping[str, np.ndarray], limit: float) -> Figure:
    """How far a solver is from commuting with each element, a row a system."""
    figure = Figure(figsize=(8.6, 0.55 * len(systems) + 1.3), layout="constrained")
    axes = figure.subplots()
    _plain(axes)
    axes.axvline(limit, color=FAINT, linewidth=1, linestyle=DASHED)
    for place, gaps in enumerate(systems.values()):
        shown = np.maximum(gaps, 1e-17)
        colours = [LINES[0] if gap < limit else LINES[1] for gap in gaps]
        axes.scatter(shown, np.full(len(gaps), place), s=42, c=colours, alpha=0.75, linewidths=0)
    axes.set(xscale="log", xlim=(5e-18, 10), ylim=(len(systems) - 0.5, -0.5))
    axes.set_yticks(range(len(systems)), list(systems))
    axes.set_xlabel("largest |solver(g u) − g solver(u)| / |u|; exact zeros are drawn at 1e-17")
    return figure


def overview(table: Sequence[tuple[str, Mapping[str, Any]]], columns: Sequence[str]) -> Figure:
    """Every published number beside ours: rows of (study, line of its table)."""
    figure = Figure(figsize=(9.2, 0.34 * len(table) + 1.5), layout="constrained")
    axes = figure.subplots()
    _plain(axes)
    axes.set_xscale("log")
    labels, before = [], None
    for place, (study, line) in enumerate(table):
        if study != before and before is not None:
            axes.axhline(place - 0.5, color=MISSING, linewidth=0.8)
        before = study
        labels.append(f"{_short(study)}  {line['quantity']}{', %' if line['unit'] else ''}")
        value = float(line["published"].lstrip("≈"))
        axes.plot(value, place, "D", color=INK, markersize=7, markerfacecolor="white", zorder=3,
                  label="published" if place == 0 else None)  # fmt: skip
        for column, colour, shift in zip(columns, LINES, (-0.13, 0.13), strict=False):
            ours = line.get(column)
            if ours is None or ours["mean"] is None:
                continue
            ends = max(ours["least"], 1e-3), max(ours["most"], 1e-3)
            axes.plot(ends, (place + shift,) * 2, color=colour, linewidth=3, alpha=0.3)
            axes.plot(ours["mean"], place + shift, "o", color=colour, markersize=6,
                      label=f"ours, {column}" if place == 0 else None)  # fmt: skip
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.5, -0.5)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.grid(axis="x", color=MISSING, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("value; bars are ranges over models")
    figure.legend(loc="outside upper center", ncols=3, **LEGEND)
    return figure


# The parts of figures.


def _short(title: str) -> str:
    """A title in few letters."""
    kind = "CH" if "Cahn" in title else "KS" if "Kuramoto" in title else "Symmetries"
    where = " 2-D" if "2-D" in title else " 1-D" if "1-D" in title else ""
    return f"{kind}{where}{' forced' if 'forcing' in title else ''}:"


def _plain(axes: Axes) -> None:
    tidy(axes)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _error_axes(axes: Axes, times) -> None:
    _plain(axes)
    axes.axhline(200, color=FAINT, linewidth=1, linestyle=(0, (1, 2)))
    axes.set(xlabel="time", ylabel="RSE in %", xlim=(0, times[-1]), ylim=(0, TOP))

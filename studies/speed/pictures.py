"""Pictures of the benchmarks, from their results only."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from onesnap.model.rollout import VALID_RSE
from onesnap.plots.style import DASHED, FAINT, INK, LINES, SMALL, set_title, tidy

from .goals import memory_limit
from .pareto import front

LEGEND: dict[str, Any] = {"fontsize": SMALL, "frameon": False, "labelcolor": INK}
COLOURS = {"surrogate": LINES[0], "solver": LINES[1]}


def growth(results: dict[str, Any]) -> Figure:
    """Time a cell and memory over the grid, time over hidden units and over the batch."""
    figure = Figure(figsize=(9.2, 6.4), layout="constrained")
    (per_cell, memory), (hidden, batch) = figure.subplots(2, 2)
    for dtype, colour in zip(("float32", "float64"), LINES, strict=False):
        lines = [line for line in results["growth"]["cells"] if line["dtype"] == dtype]
        points = [line["points"] for line in lines]
        each = [1e9 * line["seconds"] / line["cells"] for line in lines]
        per_cell.plot(points, each, "o-", color=colour, label=dtype)
        memory.plot(points, [line["memory"] / 1e6 for line in lines], "o-", color=colour)
        limit = [memory_limit(line["field"]) for line in lines]
        memory.plot(points, limit, color=colour, linestyle=DASHED, linewidth=1)
    for axes, key in ((hidden, "hidden"), (batch, "batch")):
        lines = results["growth"][key]
        axes.plot([x[key] for x in lines], [1e3 * x["seconds"] for x in lines], "o-", color=LINES[0])
        axes.set(xlabel="hidden units" if key == "hidden" else "states at once", ylabel="ms a step")
    per_cell.set(xlabel="points an axis", ylabel="ns a cell and step")
    memory.set(xlabel="points an axis", ylabel="peak memory in MB")
    per_cell.legend(**LEGEND)
    titles = ("time a cell", "memory; dashed: 12 fields + 200 MB", "2-D, float32", "1-D, float32")
    for axes, title in zip((per_cell, memory, hidden, batch), titles, strict=True):
        tidy(axes)
        axes.set_xscale("log", base=2)
        axes.set_ylim(bottom=0)
        set_title(axes, title)
    return figure


def steps(results: dict[str, Any]) -> Figure:
    """Where the time of a step goes, in units of its two products at peak."""
    cases = list(results["steps"])
    figure = Figure(figsize=(9.2, 3.6), layout="constrained")
    for axes, name in zip(figure.subplots(1, len(cases), squeeze=False)[0], cases, strict=True):
        tidy(axes)
        labels, values = [], []
        for dtype, one in results["steps"][name].items():
            limit = one["operations"] / results["peak"][dtype]["best"]
            for key in ("plain", "basis", "solver", "obvious jax", "obvious torch"):
                if key in one:
                    labels.append(f"{key}, {dtype[-2:]} bit")
                    values.append(one[key] / limit)
        axes.barh(np.arange(len(labels)), values, color=LINES[0])
        axes.set_yticks(np.arange(len(labels)), labels, fontsize=SMALL)
        axes.set_xscale("log")
        axes.axvline(1, color=INK, linewidth=1, linestyle=DASHED)
        axes.invert_yaxis()
        axes.set_xlabel("time / products at peak", fontsize=SMALL, color=INK)
        set_title(axes, name)
    return figure


def contest(name: str, one: dict[str, Any]) -> Figure:
    """Error and valid time over cost; lines join what nothing cheaper beats."""
    figure = Figure(figsize=(9.2, 4.0), layout="constrained")
    for axes, key in zip(figure.subplots(1, 2), ("error", "valid"), strict=True):
        tidy(axes)
        for kind, colour in COLOURS.items():
            points = [p for p in one["points"] if p["kind"] == kind and p[key] is not None]
            for dtype, marker in (("float32", "o"), ("float64", "s")):
                some = [p for p in points if p["dtype"] == dtype]
                values = [max(p[key], 1e-12) if key == "error" else p[key] for p in some]
                label = f"{kind}, {dtype}"
                cost = [1e3 * p["cost"] for p in some]
                axes.plot(cost, values, marker, color=colour, ms=4, alpha=0.5, label=label)
            best = front(points, key)
            values = [max(p[key], 1e-12) if key == "error" else p[key] for p in best]
            axes.plot([1e3 * p["cost"] for p in best], values, color=colour, linewidth=1.6)
        axes.set_xscale("log")
        axes.set_xlabel("cost in ms a time unit", color=INK)
    left, right = figure.axes
    left.set_yscale("log")
    left.set_ylim(top=1e3)
    left.axhline(VALID_RSE, color=FAINT, linewidth=1, linestyle=DASHED)
    left.set_ylabel(f"RSE in % at t = {one['horizon']:g}", color=INK)
    right.set_ylabel(f"valid time (at most {one['end']:g})", color=INK)
    left.legend(**LEGEND)
    set_title(left, name)
    return figure

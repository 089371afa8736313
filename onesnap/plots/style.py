"""What all figures share: colours, scales, axes, and the parts they are made of."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

SIGNED, UNSIGNED, DIFFERENCE = "RdBu_r", "viridis", "PuOr_r"
INK, FAINT, MISSING = "#1f2933", "#6b7785", "#d9dde2"
LINES = ("#0b6e99", "#d1495b", "#8d96a0", "#6a4c93")
SMALL, MEDIUM = 9, 11  # font sizes in points
DASHED = (0, (4, 3))


def png(figure: Figure, dpi: int = 150) -> bytes:
    """The figure as the content of a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, facecolor="white")
    return buffer.getvalue()


def spread(count: int, most: int) -> list[int]:
    """At most `most` of `count` indices, the first and the last among them."""
    return np.linspace(0, count - 1, min(most, count)).round().astype(int).tolist()


def plane(states) -> np.ndarray:
    """The first channel `(time, x, y)`; of a volume its middle slice."""
    field = np.asarray(states)[:, 0]
    return field if field.ndim == 3 else field[..., field.shape[-1] // 2]


def colour_scale(field: np.ndarray) -> dict[str, Any]:
    """A colormap and its limits: symmetric about white for a field of both signs."""
    low, high = float(field.min()), float(field.max())
    if low < 0 < high and min(-low, high) > 0.2 * max(-low, high):
        return _symmetric(field, SIGNED)
    return {"cmap": UNSIGNED, "vmin": low, "vmax": high if high > low else low + 1}


def own_scale(difference: np.ndarray) -> dict[str, Any]:
    return _symmetric(difference, DIFFERENCE)


def _symmetric(field: np.ndarray, cmap: str) -> dict[str, Any]:
    # A few cells beyond the scale are worth the contrast of all others.
    most = float(np.percentile(np.abs(field), 99.8)) if field.size else 0.0
    most = most if most > 0 else 1.0
    return {"cmap": cmap, "vmin": -most, "vmax": most}


def strip(axes: Axes, title: str, field: np.ndarray, dt: float, length: float, colours: dict):
    """One field over time and space; every column of the image is a moment."""
    box = (-dt / 2, dt * (len(field) - 0.5), 0, length)
    image = axes.imshow(field.T, extent=box, origin="lower", aspect="auto", **colours)
    tidy(axes)
    axes.set(ylabel="x", facecolor=MISSING)
    set_title(axes, title)
    return image


def draw_curves(axes: Axes, times, curves: Mapping[str, Any], threshold: float) -> None:
    tidy(axes)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.axhline(threshold, color=FAINT, linewidth=1, linestyle=(0, (1, 2)))
    axes.annotate(
        f"{threshold:g} %", (1, threshold), xycoords=("axes fraction", "data"), xytext=(0, 3),
        textcoords="offset points", ha="right", color=FAINT, fontsize=SMALL,
    )  # fmt: skip
    for (label, curve), colour in zip(curves.items(), LINES, strict=False):
        ends = len(curve)
        label = f"{label}, diverged" if ends < len(times) else label
        axes.plot(times[:ends], curve, color=colour, linewidth=1.8, label=label)
        if ends < len(times):
            axes.plot(times[ends - 1], curve[-1], "x", color=colour, markersize=8, markeredgewidth=2)


def mark_valid(axes: Axes, valid: float, end: float, complete: bool, height: float = 1.0) -> None:
    """A dashed line where the forecast ceases to be valid, with its time in words."""
    whole = valid >= end and complete
    words = f"valid to the end, {end:.4g}" if whole else f"valid for {valid:.4g}"
    axes.axvline(valid, color=INK, linewidth=1, linestyle=DASHED)
    right = valid > end / 2
    axes.annotate(
        words, (valid, height), xycoords=("data", "axes fraction"), xytext=(-6 if right else 6, -4),
        textcoords="offset points", ha="right" if right else "left", va="top",
        fontsize=MEDIUM, color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1},
    )  # fmt: skip


def colour_bar(figure: Figure, image, axes, label: str, shrink: float = 0.9) -> None:
    bar = figure.colorbar(image, ax=axes, shrink=shrink, aspect=22 * len(axes) / 2, pad=0.015)
    bar.outline.set_visible(False)
    bar.set_label(label, fontsize=SMALL, color=INK, parse_math=False)  # $ is a letter of a name
    bar.ax.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)


def set_title(axes: Axes, words: str) -> None:
    axes.set_title(words, loc="left", fontsize=MEDIUM, color=INK, pad=4, parse_math=False)


def tidy(axes: Axes) -> None:
    axes.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)
    for label in (axes.xaxis.label, axes.yaxis.label):
        label.set(fontsize=MEDIUM, color=INK)
    for spine in axes.spines.values():
        spine.set(color=FAINT, linewidth=0.8)


def percent(value: float) -> str:
    if 0 < value < 0.001:
        return "< 0.001 %"
    return f"{value:.2g} %" if value < 9.95 else f"{value:.0f} %"

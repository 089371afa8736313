"""Pictures of forecasts, made from arrays only.

The figures are `matplotlib.figure.Figure` objects that no global state knows of, so they work in
threads, servers and notebooks alike; `png` turns one into bytes. `animation` writes a GIF.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont
from matplotlib.ticker import MaxNLocator
from PIL import Image, ImageDraw, ImageFont

from .files import write_atomically
from .metrics import valid_time

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


def space_time(
    truth, forecast, dt: float, length: float, rse, *, threshold: float = 25.0, name: str = "u"
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
    figure = Figure(figsize=(9.2, 7.6), layout="constrained")
    grid = figure.subplots(4, 1, sharex=True, height_ratios=(1, 1, 1, 0.8))
    images = [
        strip(grid[0], "truth", truth[:, 0], dt, length, colours),
        strip(grid[1], "forecast", forecast[:, 0], dt, length, colours),
        strip(
            grid[2],
            "difference",
            difference,
            dt,
            length,
            colours if shared else own_scale(difference),
        ),
    ]
    for axes in grid[:3]:
        axes.axvline(valid, color=INK, linewidth=1, linestyle=DASHED)
    if len(forecast) < len(truth):
        middle = (dt * len(forecast) + end) / 2
        grid[1].text(middle, length / 2, "diverged", ha="center", va="center", color=FAINT)
    colour_bar(figure, images[0], grid[:3] if shared else grid[:2], name)
    if not shared:
        colour_bar(figure, images[2], grid[2:3], "difference")
    _curves(grid[3], dt * np.arange(len(forecast)), {"forecast": rse}, threshold)
    finite = np.asarray(rse)[np.isfinite(rse)]
    top = min(300.0, max(2 * threshold, 1.1 * float(finite.max(initial=0.0))))
    grid[3].set(xlabel="time", ylabel="RSE in %", xlim=(0, end), ylim=(0, top))
    set_title(grid[3], "relative squared error")
    _mark_valid(grid[3], valid, end, complete=len(forecast) == len(truth))
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
    threshold: float = 25.0,
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
    _curves(axes, times, curves, threshold)
    positive = [np.asarray(c)[np.isfinite(c) & (np.asarray(c) > 0)] for c in curves.values()]
    values = np.concatenate([*positive, [threshold]])
    # Nothing is to be seen below a hundred-thousandth of a percent or far above a thousand.
    low, high = np.clip(values.min() / 2, 1e-5, 1.0), np.clip(values.max() * 2, 200.0, 1e3)
    axes.set(xlabel="time", ylabel="RSE in %", xlim=(0, times[-1]), ylim=(low, high))
    if valid is not None:
        first = len(next(iter(curves.values())))
        # Curves start low on the left and end high on the right: at the foot there is room.
        _mark_valid(axes, valid, times[-1], complete=first == len(times), height=0.1)
    if len(curves) > 1:
        # Above the axes, where no curve can be.
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": len(curves)}
        axes.legend(fontsize=SMALL, frameon=False, labelcolor=INK, borderaxespad=0.2, **place)
    return figure


# The parts of figures.


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


def _curves(axes: Axes, times, curves: Mapping[str, Any], threshold: float) -> None:
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


def _mark_valid(axes: Axes, valid: float, end: float, complete: bool, height: float = 1.0) -> None:
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
    bar.set_label(label, fontsize=SMALL, color=INK)
    bar.ax.tick_params(labelsize=SMALL, color=FAINT, labelcolor=INK)


def set_title(axes: Axes, words: str) -> None:
    axes.set_title(words, loc="left", fontsize=MEDIUM, color=INK, pad=4)


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


# The animation. Its pixels are indices into one palette for the whole film: some greys for text, the
# colours of the field, the colours of the difference. So no frame has to be searched for colours.

GREYS = 16
ATTEMPTS = ((240, 119), (240, 47), (200, 39), (160, 31), (128, 23), (96, 15), (64, 7))


def animation(
    path: str | os.PathLike,
    truth,
    forecast,
    times,
    *,
    rse,
    name: str = "u",
    most_frames: int = 101,
    most_bytes: int = 3_000_000,
    force: bool = False,
) -> int:
    """Write a GIF of truth, forecast and difference side by side; returns its number of frames.

    Panels shrink and colours get fewer until the file is no larger than `most_bytes`.
    """
    truth, forecast = plane(truth), plane(forecast)
    difference = forecast - truth[: len(forecast)]
    index = spread(len(truth), most_frames)
    fields = (
        (truth, colour_scale(truth)),
        (forecast, colour_scale(truth)),
        (difference, own_scale(difference)),
    )
    captions = [
        f"t = {times[i]:.1f}     "
        + (f"RSE {percent(rse[i])}" if i < len(forecast) else "the forecast diverged")
        for i in index
    ]
    titles = (f"{name}, truth", "forecast", f"difference, ±{fields[2][1]['vmax']:.2g}")
    for side, levels in ATTEMPTS:
        film = [
            _film_frame(fields, moment, side, levels, titles, caption)
            for moment, caption in zip(index, captions, strict=True)
        ]
        content = _encode(film, _palette(fields, levels))
        if len(content) <= most_bytes:
            break
    write_atomically(path, content, force=force)
    return len(film)


def _film_frame(fields, moment: int, side: int, levels: int, titles, caption: str) -> Image.Image:
    """One frame as an image of palette indices."""
    gap = max(4, side // 20)
    font = ImageFont.truetype(findfont("DejaVu Sans"), max(8, side // 16))
    band = 2 * round(font.size)
    size = (3 * side + 4 * gap, side + 2 * band)
    text = Image.new("L", size, 255)
    pen = ImageDraw.Draw(text)
    lefts = [gap + panel * (side + gap) for panel in range(3)]
    for left, title in zip(lefts, titles, strict=True):
        pen.text((left, band / 2), title, fill=25, font=font, anchor="lm")
    pen.text((gap, size[1] - band / 2), caption, fill=25, font=font, anchor="lm")
    canvas = np.round(np.asarray(text) / 255 * (GREYS - 1)).astype(np.uint8)
    for panel, (left, (states, colours)) in enumerate(zip(lefts, fields, strict=True)):
        block = np.full((side, side), GREYS - 3, np.uint8)  # a light grey where there is no forecast
        if moment < len(states):
            # Rows of an image run downwards, y upwards.
            image = Image.fromarray(states[moment].T[::-1].astype(np.float32))
            smooth = np.asarray(image.resize((side, side), Image.Resampling.BICUBIC))
            share = (smooth - colours["vmin"]) / (colours["vmax"] - colours["vmin"])
            first = GREYS + (levels if panel == 2 else 0)
            block = (first + np.clip(share * levels, 0, levels - 1)).astype(np.uint8)
        canvas[band : band + side, left : left + side] = block
    return Image.fromarray(canvas)


def _palette(fields, levels: int) -> list[int]:
    greys = np.linspace(0, 1, GREYS)[:, None].repeat(3, axis=1)
    maps = (matplotlib.colormaps[fields[i][1]["cmap"]] for i in (0, 2))
    ramps = [colours(np.linspace(0, 1, levels))[:, :3] for colours in maps]
    return np.round(255 * np.concatenate([greys, *ramps])).astype(int).ravel().tolist()


def _encode(film: list[Image.Image], palette: list[int]) -> bytes:
    for image in film:
        image.putpalette(palette)
    buffer = io.BytesIO()
    durations = [80] * (len(film) - 1) + [1500]  # a pause before it starts anew
    film[0].save(
        buffer, format="GIF", save_all=True, append_images=film[1:], duration=durations, loop=0,
        optimize=False, disposal=1,
    )  # fmt: skip
    return buffer.getvalue()

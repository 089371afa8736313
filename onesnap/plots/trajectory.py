"""Pictures of one trajectory: space-time, maps, an animation, and a sketch in letters."""

from __future__ import annotations

import io

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from PIL import Image

from .style import colour_bar, colour_scale, plane, spread, strip, tidy


def view(states: np.ndarray, dt: float, dx: float, name: str) -> Figure:
    """One channel `(time, channel, *space)` over time: a strip in 1-D, five maps otherwise."""
    if states.ndim == 3:
        figure = Figure(figsize=(9.2, 3.4), layout="constrained")
        axes = figure.subplots()
        field = states[:, 0]
        image = strip(axes, name, field, dt, dx * field.shape[1], colour_scale(finite(field)))
        axes.set_xlabel("time")
        colour_bar(figure, image, [axes], name)
        return figure
    fields = plane(states)
    chosen = spread(len(fields), 5)
    figure = Figure(figsize=(2.4 * len(chosen) + 1, 3.2), layout="constrained")
    grid = figure.subplots(1, len(chosen), sharey=True, squeeze=False)[0]
    shared = colour_scale(finite(fields))
    for axes, moment in zip(grid, chosen, strict=True):
        tidy(axes)
        box = (0, dx * fields.shape[1], 0, dx * fields.shape[2])
        image = axes.imshow(fields[moment].T, extent=box, origin="lower", **shared)
        axes.set_title(f"t = {moment * dt:.4g}")
    colour_bar(figure, image, grid, name)
    return figure


def finite(field: np.ndarray) -> np.ndarray:
    """The values that are there; a single zero if none is."""
    values = field[np.isfinite(field)]
    return values if values.size else np.zeros(1)


def film(states: np.ndarray, most_frames: int = 100, side: int = 320) -> bytes:
    """A GIF of one channel in two dimensions, or of the middle slice of three.

    Cells are enlarged by a whole number, so that the longer side has about `side` pixels.
    """
    if states.ndim == 3:
        raise ValueError("plot: an animation needs two or three axes of space; write a .png instead")
    fields = plane(states)
    shared = colour_scale(finite(fields))
    ramp = np.round(255 * colormaps[shared["cmap"]](np.linspace(0, 1, 255))[:, :3]).astype(np.uint8)
    palette = np.concatenate([np.array([[217, 221, 226]], np.uint8), ramp])  # grey: no value
    scale = max(1, side // max(fields.shape[1:]))
    pictures = []
    for moment in spread(len(fields), most_frames):
        share = (fields[moment].T[::-1] - shared["vmin"]) / (shared["vmax"] - shared["vmin"])
        index = np.where(np.isfinite(share), 1 + np.clip(np.nan_to_num(share) * 254, 0, 254), 0)
        large = np.kron(index.astype(np.uint8), np.ones((scale, scale), np.uint8))
        picture = Image.fromarray(large)
        picture.putpalette(palette.ravel().tolist())
        pictures.append(picture)
    buffer = io.BytesIO()
    pictures[0].save(
        buffer, format="GIF", save_all=True, append_images=pictures[1:], duration=80, loop=0
    )
    return buffer.getvalue()


def sketch(state: np.ndarray, width: int = 56, height: int = 16) -> str:
    """One state in letters: a curve's height in 1-D, a map of shades in 2-D."""
    field = state[0] if state.ndim < 4 else state[0, ..., state.shape[-1] // 2]
    if field.ndim == 1:
        field = np.interp(np.linspace(0, len(field) - 1, width), np.arange(len(field)), field)
        low, high = finite(field).min(), finite(field).max()
        level = np.nan_to_num((field - low) / ((high - low) or 1.0), nan=-1.0)
        rows = np.arange(8)[::-1, None] / 8
        return "\n".join("".join(" █"[int(v)] for v in row) for row in level[None] > rows)
    rows = np.linspace(0, field.shape[1] - 1, min(height, field.shape[1])).round().astype(int)[::-1]
    columns = np.linspace(0, field.shape[0] - 1, min(width, field.shape[0])).round().astype(int)
    field = field[np.ix_(columns, rows)].T
    low, high = finite(field).min(), finite(field).max()
    level = np.nan_to_num((field - low) / ((high - low) or 1.0), nan=0.0)
    shades = " ·:-=+*#%@"
    index = np.clip(level * len(shades), 0, len(shades) - 1).astype(int)
    return "\n".join("".join(shades[v] for v in row) for row in index)

"""What `info` says of a data file, and how its maps stand upright."""

from __future__ import annotations

import numpy as np

from ..data import Dataset
from ..data.axes import HEIGHTS, LATITUDES, LONGITUDES, falls
from ..plots.trajectory import finite


def describe(dataset: Dataset) -> list[tuple[str, str]]:
    """Rows of (what, value)."""
    steps = sorted({t.steps for t in dataset.trajectories})
    many = f"{steps[0]}" if len(steps) == 1 else f"{steps[0]} to {steps[-1]}"
    sides = [kind if isinstance(kind, tuple) else (kind, kind) for kind in dataset.boundary]
    kinds = [str(low) if low == high else f"{low}/{high}" for low, high in sides]
    fields = [f"{f.name} ({f.kind}{f', {f.units}' if f.units else ''})" for f in dataset.fields]
    grid = [f"{axis}: {n}" for axis, n in zip(dataset.axes, dataset.space, strict=True)]
    spacing = [_spacing(dataset, axis, dx) for axis, dx in zip(dataset.axes, dataset.dx, strict=True)]
    clock = dataset.time_units.split(" since ")[0]
    rows = [
        ("format", dataset.format),
        ("fields", ", ".join(fields)),
        ("grid", " × ".join(grid)),
        ("trajectories", f"{len(dataset.trajectories)} of {many} states"),
        ("dt", f"{_spacing(dataset, 'time', dataset.dt)} {clock}".strip()),
        ("dx", ", ".join(spacing)),
        ("boundary", ", ".join(kinds)),
    ]
    if dataset.parameters:
        rows.append(("parameters", ", ".join(dataset.parameters)))
    if dataset.context:
        rows.append(("known fields", ", ".join(dataset.context)))
    if dataset.changing:
        rows.append(("inputs that change", ", ".join(dataset.changing)))
    if dataset.mask is not None:
        gaps = f"{int((~dataset.mask).sum())} of {dataset.mask.size}"
        rows.append(("mask", f"{gaps} cells have no value"))
    return rows + [("note", note) for note in dataset.notes]


def _spacing(dataset: Dataset, axis: str, step: float | None) -> str:
    if axis in dataset.irregular:
        return "irregular"
    return "?" if step is None else f"{step:.6g}"


def sample(dataset: Dataset, most: int = 16) -> np.ndarray:
    """A few states `(state, channel, *space)`, spread over trajectories and time."""
    count = min(most, sum(t.steps for t in dataset.trajectories))
    states = []
    places = np.linspace(0, len(dataset.trajectories) - 1, count).round().astype(int)
    for turn, place in enumerate(places):
        step = max(0, (turn + 1) * dataset.trajectories[place].steps // count - 1)
        states.append(dataset.states(int(place), step, step + 1))
    return np.concatenate(states)


def ranges(dataset: Dataset, states: np.ndarray) -> list[tuple[str, str, str, str]]:
    """The range of each channel over these states, and what is missing of it."""
    rows = []
    for channel, name in enumerate(dataset.names):
        values = states[:, channel]
        low, high = finite(values).min(), finite(values).max()
        gone = ~np.isfinite(values)
        never = f"{int(gone.all(axis=0).sum())} of {gone[0].size}"
        rows.append((name, f"{low:.4g} … {high:.4g}", f"{gone.mean():.2%} missing", never))
    return rows


def upright(dataset: Dataset, states: np.ndarray) -> np.ndarray:
    """States `(..., *space)` with x, y and z as the axes in this order, each rising.

    Longitudes then run to the right, latitudes and heights up, depths down, in whatever order a file
    has them. Axes of other names are left as they are.
    """
    names = [axis.lower() for axis in dataset.axes]
    roles = (LONGITUDES, LATITUDES, HEIGHTS)
    ranks = [next((n for n, role in enumerate(roles) if name in role), None) for name in names]
    first = states.ndim - len(names)
    for number, axis in enumerate(dataset.axes):
        if (axis in dataset.falling) != falls(axis):
            states = np.flip(states, first + number)
    if None in ranks or len(set(ranks)) < len(ranks):
        return states
    order = sorted(range(len(names)), key=lambda number: ranks[number] or 0)
    return np.transpose(states, (*range(first), *(first + number for number in order)))

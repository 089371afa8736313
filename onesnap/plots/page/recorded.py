"""Recorded states: what forecasts of the page start from, are compared with, and coloured by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.stepper import Stepper, check_starts
from ..style import colour_scale
from .pack import encode

MOST_BYTES = 3_000_000  # of recorded states: base64 adds a third, and a page should stay small
MOST_STEPS = 2000  # that recorded states reach, where the file has as many
POINTS = ((256,), (96, 96), (32, 32, 32))  # of a grid where none is known


@dataclass(frozen=True)
class Recorded:
    """States `(time, channel, *space)`, `every` steps apart."""

    states: np.ndarray
    every: int = 1


def make_recorded(stepper: Stepper, states, every: int = 1) -> Recorded:
    """As many states as a page holds, over as many steps as one looks at."""
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise ValueError(f"every: expected an integer of at least 1, got {every!r}")
    states, _ = check_starts("states", states, stepper)
    last = min(len(states) - 1, max(1, MOST_STEPS // every))
    most = max(2, MOST_BYTES // (4 * states[0].size))
    apart = max(1, -(-last // (most - 1)))
    return Recorded(states[: last + 1 : apart], int(every) * apart)


def default_space(stepper: Stepper) -> tuple[int, ...]:
    """The grid of a page without recorded states: that of known fields, or one large enough."""
    fields = stepper.inputs.context.fields
    return fields.shape[1:] if fields.shape[0] else POINTS[stepper.dimension - 1]


def pack_states(recorded: Recorded | None, stepper: Stepper) -> dict[str, Any]:
    """Recorded states, and of each channel what random states and colours go by.

    Without states these are the ranges that were learned from.
    """
    scaling = stepper.scaling
    if recorded is None:
        shown = np.stack([scaling.low, scaling.high])[..., None]
        average, deviation = shown.mean(axis=(0, 2)), 0.2 * np.ptp(shown, axis=(0, 2))
        smooth = 2 * max(stepper.inputs.extent) + 1
    else:
        shown = recorded.states
        axes = tuple(range(2, shown.ndim))
        average = shown[0].mean(axis=tuple(range(1, shown.ndim - 1)))
        if scaling.mean == "remove":
            shown = shown - shown.mean(axis=axes, keepdims=True)
        deviation, smooth = shown.std(axis=(0, *axes)), correlation_length(shown)
    every_cell = (0, *range(2, shown.ndim))
    scales = [colour_scale(shown[:, channel]) for channel in range(stepper.channels)]
    return {
        "states": None if recorded is None else encode(np.asarray(recorded.states, "f4")),
        "every": 1 if recorded is None else recorded.every,
        "average": average.tolist(),
        "deviation": deviation.tolist(),
        "low": shown.min(axis=every_cell).tolist(),
        "high": shown.max(axis=every_cell).tolist(),
        "smooth": smooth,
        "scales": [{"colours": s["cmap"], "low": s["vmin"], "high": s["vmax"]} for s in scales],
    }


def correlation_length(states: np.ndarray) -> int:
    """Cells along the last axis after which values are no longer half alike."""
    spectrum = np.abs(np.fft.rfft(states, axis=-1)) ** 2
    spectrum[..., 0] = 0.0
    points = states.shape[-1]
    alike = np.fft.irfft(spectrum, points, axis=-1).sum(axis=tuple(range(states.ndim - 1)))
    below = np.flatnonzero(alike < 0.5 * alike[0])
    return int(below[0]) if len(below) else max(1, points // 8)

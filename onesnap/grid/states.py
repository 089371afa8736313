"""Checks of users' arrays."""

from __future__ import annotations

import numpy as np


def unmasked(values) -> np.ndarray:
    """An array of what was given; values that a masked array hides are NaN."""
    if isinstance(values, list | tuple) and any(isinstance(v, np.ma.MaskedArray) for v in values):
        values = np.ma.stack(values)
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    if not np.ma.is_masked(values):
        return values.data
    return np.where(np.ma.getmaskarray(values), np.nan, values.data)


def check_states(name: str, states, dimension: int | None = None, gaps: bool = False) -> np.ndarray:
    """Return `states` as a float64 array `(time, channel, *space)`, or say what is wrong with it.

    With `gaps` single values may be missing, that is NaN or masked.
    """
    states = unmasked(states)
    if np.iscomplexobj(states):
        raise ValueError(
            f"{name}: expected real numbers, got {states.dtype}; "
            "give real and imaginary part as two channels"
        )
    if not (np.issubdtype(states.dtype, np.number) or states.dtype == bool):
        raise ValueError(f"{name}: expected an array of numbers, got dtype {states.dtype}")
    rank = states.ndim - 2
    if not 1 <= rank <= 3 or (dimension is not None and rank != dimension):
        wanted = "1 to 3" if dimension is None else f"{dimension}"
        raise ValueError(
            f"{name}: expected (time, channel, *space) with {wanted} spatial axes, got shape "
            f"{states.shape}; a missing channel axis is added by states[:, None], "
            "a missing time axis by states[None]"
        )
    if 0 in states.shape:
        raise ValueError(
            f"{name}: expected at least one snapshot with cells in it, got shape {states.shape}"
        )
    states = states.astype(np.float64, copy=False)
    if gaps and not np.isinf(states).any() and not np.isnan(states).all():
        return states
    return check_finite(name, states)


def check_finite(name: str, states: np.ndarray) -> np.ndarray:
    """Return the array, or say how many values are not finite and where the first one is."""
    bad = ~np.isfinite(states)
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"{name}: {int(bad.sum())} of {bad.size} values are NaN or infinite, the first at index "
            f"{first}; remove those snapshots or fill the gaps"
        )
    return states


def check_step(name: str, step) -> float:
    """A time or a distance from one state or cell to the next, or what is wrong with it."""
    if isinstance(step, bool) or not isinstance(step, int | float | np.number):
        raise ValueError(f"{name}: expected a number above 0, got {step!r}")
    if not 0 < step < np.inf:
        raise ValueError(f"{name}: expected a finite number above 0, got {step!r}")
    return float(step)

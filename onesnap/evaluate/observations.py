"""Observations as users have them: checked, and filled where nothing was seen."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ..data.pairs import LARGEST
from ..grid.boundary import both_sides
from ..grid.states import unmasked
from ..model.stepper import Stepper

SMOOTHING = 200  # sweeps that spread values into cells without any

Seen = Float[np.ndarray, "times C ..."]


def check_observations(stepper: Stepper, observations, mask, between: int) -> Seen:
    """Observations with NaN where nothing was seen, of two or more times that hold a step."""
    if stepper.history > 1:
        raise ValueError(
            "observations: expected those of a model without a history, got one with; fit one with "
            "history=1, or forecast from the last states as they are"
        )
    seen = unmasked(observations)
    if not (np.issubdtype(seen.dtype, np.number) or seen.dtype == bool) or np.iscomplexobj(seen):
        raise ValueError(
            "observations: expected an array of real numbers (time, channel, *space), as "
            f"data.states() of a Dataset, got {type(observations).__name__} of {seen.dtype}"
        )
    if seen.ndim != 2 + stepper.dimension or seen.shape[1] != stepper.channels or len(seen) < 2:
        raise ValueError(
            f"observations: expected (time, channel, *space) with 2 or more times, "
            f"{stepper.channels} channel(s) and {stepper.dimension} axes of space, got {seen.shape}; "
            "a missing channel axis is added by observations[:, None]"
        )
    if len(seen) < 1 + between:
        raise ValueError(
            f"observations: expected {1 + between} times or more, a step, got {len(seen)}"
        )
    seen = seen.astype(np.float64)
    if mask is not None:
        seen = np.where(_check_mask(mask, seen.shape), seen, np.nan)
    if (np.abs(seen) > LARGEST).any():
        what = "infinity" if np.isinf(seen).any() else f"{np.nanmax(np.abs(seen)):g}"
        raise ValueError(
            "observations: expected numbers whose squares are finite, NaN where nothing was seen; "
            f"got {what}"
        )
    return seen


def on_grid(stepper: Stepper, seen: Seen, moving: bool) -> Seen:
    """Observations on the grid of the model, NaN in cells that never have a value.

    Known fields that are `moving` come with each step, and tell of no grid here.
    """
    space, fields = seen.shape[2:], stepper.inputs.context.fields
    stepper.inputs.check_grid(space)
    if fields.shape[0] and not moving and fields.shape[1:] != space:
        raise ValueError(
            f"observations: the model knows fields on {fields.shape[1:]} cells, got {space}; "
            "give them on the grid that was learned from, NaN where nothing was seen"
        )
    seen = stepper.inputs.uncover(seen)
    if np.isnan(seen).all():
        raise ValueError(
            "observations: expected numbers, NaN where nothing was seen; got none at all in cells "
            "that have values"
        )
    return seen


def _check_mask(mask, shape: tuple[int, ...]) -> np.ndarray:
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(
            f"mask: expected True where there is an observation, got {mask.dtype}; give mask == 1"
        )
    try:
        return np.broadcast_to(mask, shape)
    except ValueError:
        raise ValueError(
            f"mask: expected the shape of the observations, {shape}, or one that NumPy broadcasts to "
            f"it, as {shape[2:]} for the same cells at all times, got {mask.shape}"
        ) from None


def check_noise(noise, channels: int, dimension: int) -> Float[np.ndarray, "1 C ..."]:
    """The deviation of observation errors of each channel."""
    sigma = np.asarray(noise)
    fine = np.issubdtype(sigma.dtype, np.number) and not np.iscomplexobj(sigma)
    fine = fine and sigma.shape in ((), (channels,))
    if not fine or not np.all((sigma > 1 / LARGEST) & (sigma < LARGEST)):
        raise ValueError(
            "noise: expected the deviation of observation errors, one number above 0 or one for each "
            f"of {channels} channels, got {noise!r}; onesnap.noise_level measures it"
        )
    sigma = np.broadcast_to(sigma.astype(np.float64), (channels,))
    return sigma.reshape(1, -1, *(1,) * dimension)


def check_whole(name: str, value, least: int) -> None:
    """Raise unless this is a number that counts something."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")


def check_spacing(every: float | None, lag: int) -> tuple[int, int]:
    """Steps from one observation to the next, and observations in a step; one of both is 1."""
    if every is None:
        return 1, lag
    number = isinstance(every, int | float | np.number) and not isinstance(every, bool)
    number = number and 0 < every < np.inf
    for whole in (every, 1 / every) if number else ():
        if abs(whole - round(whole)) < 1e-6 * whole and round(whole) >= 1:
            return (round(whole), 1) if whole == every else (1, round(whole))
    raise ValueError(
        "every: expected steps between observations, a whole number of 1 or more or one over it, "
        f"got {every!r}"
    )


def check_window(window, least: int, most: int, auto: bool = True) -> int | None:
    """How many times a window holds, None for as many as the model holds for."""
    if auto and isinstance(window, str) and window == "auto":
        return None
    if isinstance(window, int | np.integer) and least <= window <= most:
        return int(window)
    words = "'auto' or " if auto else ""
    raise ValueError(f"window: expected {words}{least} to {most} times, got {window!r}")


def never_seen(seen: Seen) -> list[int]:
    """The channels that have no value at any time."""
    return [c for c in range(seen.shape[1]) if not np.isfinite(seen[:, c]).any()]


def missing_share(stepper: Stepper, states: Seen) -> float:
    """The share of values that are missing, of the cells that ever have one."""
    there = np.isfinite(stepper.inputs.uncover(np.zeros(states.shape[1:])))
    return float(np.isnan(states[:, there]).mean())


def fill(state: Float[np.ndarray, "C ..."], boundary) -> Float[np.ndarray, "C ..."]:
    """The state with missing cells filled: their value is in the end the mean of their neighbours."""
    missing = np.isnan(state)
    means = np.nanmean(state.reshape(len(state), -1), axis=1)
    field = np.where(missing, np.nan_to_num(means).reshape(-1, *(1,) * (state.ndim - 1)), state)
    ends = both_sides(boundary, state.ndim - 1)
    for _ in range(SMOOTHING if missing.any() else 0):
        around = np.zeros_like(field)
        for axis, kinds in enumerate(ends, 1):
            mode = "wrap" if "periodic" in kinds else "edge"
            width = [(1, 1) if other == axis else (0, 0) for other in range(field.ndim)]
            padded = np.pad(field, width, mode=mode)
            around += np.take(padded, range(field.shape[axis]), axis)
            around += np.take(padded, range(2, 2 + field.shape[axis]), axis)
        field = np.where(missing, around / (2 * len(ends)), field)
    return field


def fill_all(seen: Seen, boundary) -> Seen:
    """All states filled; a channel of which nothing was seen is as at the nearest time that it was.

    Each is seen at some time.
    """
    whole, times = np.empty_like(seen), np.arange(len(seen))
    for channel in range(seen.shape[1]):
        there = _times(seen, channel)
        filled = np.stack([fill(seen[time, [channel]], boundary)[0] for time in there])
        whole[:, channel] = filled[np.abs(there[:, None] - times).argmin(axis=0)]
    return whole


def first_filled(seen: Seen, boundary, typical: np.ndarray) -> Float[np.ndarray, "C ..."]:
    """A guess of the first state: what was seen first of each channel, or what is `typical` of it."""
    state = np.array(typical)
    for channel in range(seen.shape[1]):
        if len(there := _times(seen, channel)):
            state[channel] = fill(seen[there[0], [channel]], boundary)[0]
    return state


def _times(seen: Seen, channel: int) -> np.ndarray:
    """At which times anything was seen of a channel."""
    return np.flatnonzero(np.isfinite(seen[:, channel]).any(axis=tuple(range(1, seen.ndim - 1))))

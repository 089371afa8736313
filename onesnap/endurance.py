"""Endurance: for how long a trial forecast keeps from doing what no equation would.

It starts from a training state with a kick to every cell, so that what grows is seen soon. Leaving
the training range proves nothing by itself, for patterns may grow; leaving it while the field gets
rough at the scale of the grid does, and so does roughness alone if there is much of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .metrics import roughness
from .rollout import forecast
from .rows import Pairs
from .stepper import Stepper
from .symmetry import Element, Group
from .windows import both_sides, window_sides

TRIAL_CELLS = 8_000_000  # cells times steps of a trial forecast, unless that is under 200 steps
TRIAL_SIDE = {1: 0, 2: 96, 3: 32}  # points an axis of a mirrored corner to start trials from
KICK = 3e-3  # of the range, on every cell of the state that a trial forecast starts from
STEADY = 0.3  # by how many ranges a trial forecast may leave the training range, if it gets rougher
FAR = 1.0  # by how many in any case
ROUGHER = 1.2  # times what roughness had fallen to: growth at the scale of the grid
AFTER = 30  # steps for which a trial has to last after it has left the range
RAGGED = 3.0  # times the roughness of the kicked state, wherever its values are


@dataclass(frozen=True)
class Endurance:
    """For how many steps a trial forecast lasted, of those asked for."""

    lasted: int = 0
    asked: int = 0

    @property
    def steady(self) -> bool:
        return 0 < self.asked <= self.lasted

    @property
    def reason(self) -> str:
        """Why the noise is what it is, in words for a summary."""
        if self.steady:
            return "the least tried with which a trial forecast stays in range"
        return f"none kept a trial forecast in range; this one {self.lasted} steps"


NEVER = Endurance()  # tried


def endurance(stepper: Stepper, pairs: Pairs, group: Group, dtype: str = "float64") -> Endurance:
    """For how many steps a forecast from the last state neither diverges nor wanders off.

    In the precision of the forecasts to come: round-off of large readouts is a kick at every step.
    """
    last = pairs.after[-1]
    start = mirrored(stepper, last, group)
    steps = int(np.clip(TRIAL_CELLS / start.size, 200, 2000)) // 10 * 10
    # Without the net of a margin: what would fall into it is not steady.
    stepper = replace(stepper, scaling=replace(stepper.scaling, margin=None))
    # Kicked in all directions at once: what grows is seen sooner than from the model's own errors.
    width = (stepper.scaling.high - stepper.scaling.low).reshape(-1, *(1,) * len(pairs.space))
    kick = np.random.default_rng(0).normal(0.0, KICK, start.shape) * width
    trial = forecast(stepper, (start + kick)[None], steps, every=10, dtype=dtype)[0]
    # What fades away is not rough, however little of it there is.
    least = np.maximum(np.var(last, axis=tuple(range(1, last.ndim))), 1e-300)
    before, rough = roughness(last[None], least), roughness(trial.states, least)
    calm = np.maximum(np.minimum.accumulate(rough), before)
    rising, ragged = (rough > ROUGHER * calm)[1:], (rough > RAGGED * rough[0])[1:]
    spoiled = rising & (trial.excess > STEADY) | ragged
    spoiled &= stepper.loudest is None  # where waves are limited, so is roughness
    wandered = np.flatnonzero(spoiled | (trial.excess > FAR))
    ends = 10 * int(wandered[0] + 1) if len(wandered) else trial.diverged_at
    # Patterns that grow leave the range too, but smoothly. No data says what comes after that.
    left = np.flatnonzero(trial.excess > STEADY)
    if ends is None or (len(left) and ends > 10 * (left[0] + 1) + AFTER):
        return Endurance(steps, steps)
    return Endurance(ends, steps)


def mirrored(stepper: Stepper, state: np.ndarray, group: Group) -> np.ndarray:
    """A small state to start long trials from: a corner of the state and its mirror images.

    The state itself where it is small, or its equation is not known to be the same in a mirror, or
    place matters.
    """
    dimension, told = len(stepper.stride), stepper.context
    straight, same = tuple(range(dimension)), np.eye(group.channels)
    mirrors = [Element(straight, tuple(a == b for b in straight)) for a in straight]
    sides = [TRIAL_SIDE[dimension] // (2 * step) * step for step in stepper.stride]
    seen = window_sides(stepper.extent, stepper.stride)
    fits = [low <= 2 * n < high for low, n, high in zip(seen, sides, state.shape[1:], strict=True)]
    anywhere = not any(told.position) and not told.fields.shape[0] and not told.potential
    periodic = all("periodic" in ends for ends in both_sides(stepper.boundary, dimension))
    alike = set(mirrors) <= set(group.elements) and all(
        np.array_equal(mirror.channel_matrix(group.fields), same) for mirror in mirrors
    )
    if not (all(fits) and anywhere and periodic and alike):
        return state
    corner = state[(slice(None), *map(slice, sides))]
    for axis, mirror in enumerate(mirrors):
        corner = np.concatenate([corner, group.act(mirror, corner)], axis=1 + axis)
    return corner

"""Stability trials: for how long a forecast keeps from doing what no equation would.

It starts from a training state with a kick to every cell, so that what grows is seen soon. Leaving
the training range proves nothing by itself, for patterns may grow; leaving it while the field gets
rough at the scale of the grid does, and so does roughness alone if there is much of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..data.pairs import Pairs
from ..grid.boundary import both_sides
from ..grid.windows import window_sides
from ..model.rollout import forecast
from ..model.stepper import Stepper
from ..symmetry import Element, Group
from .policy import POLICY


@dataclass(frozen=True)
class Stability:
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


UNTRIED = Stability()


def try_stability(stepper: Stepper, pairs: Pairs, group: Group, dtype: str = "float64") -> Stability:
    """For how many steps a forecast from the last state neither diverges nor wanders off.

    In the precision of the forecasts to come: round-off of large readouts is a kick at every step.
    """
    last = pairs.after[-1]
    start = mirrored(stepper, last, group)
    steps = int(np.clip(POLICY.trial_cells / start.size, *POLICY.trial_steps)) // 10 * 10
    # Without the net of a margin: what would fall into it is not steady.
    scaling = replace(stepper.scaling, margin=None)
    stepper = replace(stepper, inputs=replace(stepper.inputs, scaling=scaling))
    # Kicked in all directions at once: what grows is seen sooner than from the model's own errors.
    width = (scaling.high - scaling.low).reshape(-1, *(1,) * len(pairs.space))
    kick = np.random.default_rng(0).normal(0.0, POLICY.kick, start.shape) * width
    trial = forecast(stepper, (start + kick)[None], steps, every=10, dtype=dtype)[0]
    # What fades away is not rough, however little of it there is.
    least = np.maximum(np.var(last, axis=tuple(range(1, last.ndim))), 1e-300)
    before, rough = roughness(last[None], least), roughness(trial.states, least)
    calm = np.maximum(np.minimum.accumulate(rough), before)
    rising, ragged = (rough > POLICY.rougher * calm)[1:], (rough > POLICY.ragged * rough[0])[1:]
    spoiled = rising & (trial.excess > POLICY.left_range) | ragged
    spoiled &= stepper.amplitudes is None  # where waves are limited, so is roughness
    wandered = np.flatnonzero(spoiled | (trial.excess > POLICY.far))
    ends = 10 * int(wandered[0] + 1) if len(wandered) else trial.diverged_at
    # Patterns that grow leave the range too, but smoothly. No data says what comes after that.
    left = np.flatnonzero(trial.excess > POLICY.left_range)
    if ends is None or (len(left) and ends > 10 * (left[0] + 1) + POLICY.lasts_after):
        return Stability(steps, steps)
    return Stability(ends, steps)


def roughness(states: np.ndarray, least=1e-300) -> np.ndarray:
    """Mean square of second differences over the variance, for each time; of the roughest channel.

    A variance below `least`, one number or one a channel, counts as that.
    """
    space = tuple(range(2, states.ndim))
    bends = sum(np.mean(np.diff(states, 2, axis) ** 2, axis=space) for axis in space)
    return np.max(bends / np.maximum(np.var(states, axis=space), least), axis=1)


def mirrored(stepper: Stepper, state: np.ndarray, group: Group) -> np.ndarray:
    """A small state to start long trials from: a corner of the state and its mirror images.

    The state itself where it is small, or its equation is not known to be the same in a mirror, or
    place matters.
    """
    inputs, dimension = stepper.inputs, stepper.dimension
    straight, same = tuple(range(dimension)), np.eye(group.channels)
    mirrors = [Element(straight, tuple(a == b for b in straight)) for a in straight]
    sides = [POLICY.trial_side[dimension] // (2 * step) * step for step in inputs.stride]
    seen, context = window_sides(inputs.extent, inputs.stride), inputs.context
    fits = [low <= 2 * n < high for low, n, high in zip(seen, sides, state.shape[1:], strict=True)]
    anywhere = not any(context.position) and not context.fields.shape[0] and not context.potential
    periodic = all("periodic" in ends for ends in both_sides(inputs.boundary, dimension))
    alike = set(mirrors) <= set(group.elements) and all(
        np.array_equal(mirror.channel_matrix(group.fields), same) for mirror in mirrors
    )
    if not (all(fits) and anywhere and periodic and alike):
        return state
    corner = state[(slice(None), *map(slice, sides))]
    for axis, mirror in enumerate(mirrors):
        corner = np.concatenate([corner, group.act(mirror, corner)], axis=1 + axis)
    return corner

"""The gate: for how long trial forecasts keep from doing what no equation would.

They start from several states, with a kick to every cell, so that what grows is seen soon. Leaving
the training range proves nothing by itself, for patterns may grow and levels drift; leaving it while
the field gets rough at the scale of the grid does, or faster than any pair changes, and so does
roughness alone if there is much of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from ..data.pairs import Pairs
from ..grid.boundary import both_sides
from ..grid.windows import window_sides
from ..model.drive import STILL, Drive
from ..model.rollout import Forecast, advance, forecast
from ..model.stepper import Stepper
from ..symmetry import Element, Group
from .folds import spread
from .policy import POLICY, Policy

EVERY, SHORT, FEWEST, MOST = POLICY.steps
MOST_BYTES = 2**28  # of inputs that a trial is driven by
MANY = POLICY.few * POLICY.folds  # states, at most, that short ones start from


class Known(NamedTuple):
    """What the data does: bends and variances of states, and the most that a step changes."""

    bends: Float[np.ndarray, "states C"]
    variances: Float[np.ndarray, "states C"]
    change: Float[np.ndarray, " C"]  # root mean square


@dataclass(frozen=True)
class Stability:
    """For how many steps the shortest of some trial forecasts lasted, of those asked for."""

    lasted: int = 0
    asked: int = 0
    starts: int = 0
    left: int | None = None  # where the first left the range, of those that went wrong long after
    own: bool = False  # whether what ended it is no kick that grew, but what the model says happens

    @property
    def steady(self) -> bool:
        return 0 < self.asked <= self.lasted

    def useful(self, error: float) -> float:
        """Steps until a forecast ends, or errs by as much as a step changes; errors are logarithms.

        Trials end when a kick has grown as large as the range. Errors grow as fast, from their size.
        """
        growing = self.lasted * (1.0 if self.own else error / np.log(POLICY.kick))
        return min(max(growing, 0.0), np.exp(-error))

    @property
    def reason(self) -> str:
        """Why the noise is what it is, in words for a summary."""
        forecasts = f"{self.starts} trial forecasts of {self.asked} steps"
        if self.steady:
            return f"{forecasts} stay in range with it"
        return f"with none did {forecasts} stay in range; with this one {self.lasted} steps"


UNTRIED = Stability()


def most_useful(trials: Sequence[tuple[Stability, float]]) -> int:
    """Of trials with the logarithms of their errors, the number of the one to take.

    Of those that are of use for about as long as any: a steady one, or else one that errs little and
    whose end is its own, or else that of least error.
    """
    useful = [stability.useful(error) for stability, error in trials]
    enough = [n for n, steps in enumerate(useful) if POLICY.much * steps >= max(useful)]
    little = min(error for _, error in trials) + np.log(POLICY.few)

    def key(number: int):
        stability, error = trials[number]
        own = stability.own and error <= little
        return not stability.steady, not own, error, -stability.lasted

    return min(enough, key=key)


class Ending(NamedTuple):
    """The step at which a trial forecast went wrong, or all of them.

    What had left the range long before does not count as wrong, for no data says what comes then.
    Where it `left` is kept. It is its `own` where a kick at the start made no difference.
    """

    lasted: int
    left: int | None = None
    own: bool = False


def try_stability(
    stepper: Stepper,
    pairs: Pairs,
    group: Group,
    dtype: str = "float64",
    policy: Policy = POLICY,
    starts: Pairs | None = None,
) -> Stability:
    """For how many steps forecasts from states of some pairs neither diverge nor wander off.

    In the precision of the forecasts to come: round-off of large readouts is a kick at every step.
    They start from the `pairs`, or from others whose states should do what those do.
    """
    sample = complete(pairs)[spread(len(complete(pairs)), MANY)]
    before, after = pairs.before[sample], pairs.after[sample]
    known = Known(*bends_and_variances(after), _size(after - before).max(axis=0))
    pairs = pairs if starts is None else starts
    numbers = complete(pairs)
    affordable = policy.trial_work / step_work(stepper, mirrored(stepper, pairs.after[0], group))
    width = (stepper.scaling.high - stepper.scaling.low).reshape(-1, *(1,) * len(pairs.space))
    width = np.tile(width, (stepper.history, *(1,) * len(pairs.space)))

    def lasts(number: int, steps: int) -> Ending:
        inputs = stepper.inputs.bind(pairs.parameters[number], pairs.fields[number])
        bound = replace(stepper, inputs=inputs)
        start = start_of(stepper, pairs, number, group)
        kick = np.random.default_rng(0).normal(0.0, policy.kick, start.shape) * width
        drive = inputs_in_turn(pairs, number, steps)
        kicked = trial_forecast(bound, start + kick, steps, dtype, drive)
        kicked = replace(kicked, states=kicked.states[:, : stepper.channels])
        first, free = inputs.split(start)[0], stepper.amplitudes is None
        ending = _lasted(kicked, first, known, steps, policy, free)
        if not SHORT < ending.lasted < steps:  # what blows up does so soon
            return ending
        look = (ending.lasted - 1) // EVERY  # the last before the end
        calm = trial_forecast(bound, start, -(-look * EVERY // SHORT) * SHORT, dtype, drive)
        return ending._replace(own=_unmoved(kicked.states, calm.states, look, width))

    # Short ones from many states first, for what blows up does so soon, at a quarter of the work of
    # the long ones from a few.
    many = numbers[spread(len(numbers), int(np.clip(affordable / (4 * SHORT), 2, MANY)))]
    few = numbers[spread(len(numbers), int(np.clip(affordable / FEWEST, 2, policy.few)))]
    steps = int(np.clip(affordable / len(few), FEWEST, MOST)) // SHORT * SHORT
    left = list[int]()
    for chosen, asked in ((many, SHORT), (few, steps)):
        for number in chosen:
            ending = lasts(number, asked)
            if ending.lasted < asked:
                return Stability(ending.lasted, steps, len(few), own=ending.own)
            left += [ending.left] if ending.left else []
    return Stability(steps, steps, len(few), min(left, default=None))


def log_error(stepper: Stepper, pairs: Pairs, dtype: str) -> float:
    """The logarithm of the error of a step over what it changes, on some of the pairs.

    In the precision of the forecasts to come.
    """
    errors = []
    for number in complete(pairs)[spread(len(complete(pairs)), POLICY.few)]:
        inputs = stepper.inputs.bind(pairs.parameters[number], pairs.fields[number])
        before, after = pairs.before[[number]], pairs.after[[number]]
        starts = np.concatenate([before, pairs.fields[[number], : inputs.context.older]], axis=1)
        wrong = advance(replace(stepper, inputs=inputs), starts, dtype)[:, : stepper.channels] - after
        change = np.maximum(_size(after - before), np.finfo(float).tiny)
        errors.append(np.maximum(_size(wrong) / change, np.finfo(float).eps))
    return float(np.mean(np.log(errors)))


def start_of(stepper: Stepper, pairs: Pairs, number: int, group: Group) -> np.ndarray:
    """The state after a pair, small if that will do, and those before it if steps read them."""
    start, older = mirrored(stepper, pairs.after[number], group), stepper.inputs.context.older
    past = np.concatenate([pairs.before[number], pairs.fields[number]])[:older]
    return np.concatenate([start, past]) if older else start


def inputs_in_turn(pairs: Pairs, number: int, steps: int) -> Drive:
    """Inputs of the pairs from one on, one a step, where they change in time.

    None would stay for long, and no data says what came of it if one did.
    """
    row = 8 * (pairs.parameters[0].size + pairs.fields[0].size)
    if not pairs.driven or row * steps > MOST_BYTES:
        return STILL
    order = (number + np.arange(steps)) % len(pairs)
    beside = [values if values.shape[1] else None for values in (pairs.parameters, pairs.fields)]
    return Drive(*(None if values is None else values[order] for values in beside))


def trial_forecast(
    stepper: Stepper,
    start: np.ndarray,
    steps: int,
    dtype: str,
    drive: Drive = STILL,
    every: int = EVERY,
) -> Forecast:
    """A forecast without the net of a margin: what would fall into it is not steady."""
    scaling = replace(stepper.scaling, margin=None)
    free = replace(stepper, inputs=replace(stepper.inputs, scaling=scaling))
    # Compilation takes longer than many a trial: short and long ones share it.
    (trial,) = forecast(
        free, start[None], steps, every=every, dtype=dtype, chunk=SHORT // EVERY, drive=drive
    )
    return trial


def step_work(stepper: Stepper, state: np.ndarray) -> float:
    """Multiplications of a step."""
    blocks = state.size / (stepper.channels * np.prod(stepper.inputs.stride))
    return float(blocks * (stepper.network.features.weights.size + stepper.network.readout.size))


def complete(pairs: Pairs) -> Int[np.ndarray, " complete"]:
    """The numbers of the pairs without a missing value, or of all if there are none."""
    missing = np.zeros((len(pairs), 1), bool) if pairs.missing is None else pairs.missing
    numbers = np.flatnonzero(~missing.reshape(len(pairs), -1).any(axis=1))
    return numbers if len(numbers) else np.arange(len(pairs))


def _unmoved(kicked: np.ndarray, calm: np.ndarray, look: int, width: np.ndarray) -> bool:
    """Whether a kick has grown by less than half of what would end a forecast, in logarithms.

    Not where the forecast without it has ended before that look.
    """
    if len(calm) <= look:
        return False
    channels = kicked.shape[1]
    apart = kicked[[look]] - calm[[look], :channels]
    return bool(np.all(_size(apart)[0] / width[:channels].ravel() < np.sqrt(POLICY.kick)))


def _lasted(
    trial: Forecast, start: np.ndarray, known: Known, steps: int, policy: Policy, free: bool
) -> Ending:
    """When and how a trial forecast went wrong.

    Fronts may steepen to what is `known` from the data. Where waves are limited, the model is not
    `free` to get rough.
    """
    # What fades away is not rough, however little of it there is.
    least = np.maximum(np.var(start, axis=tuple(range(1, start.ndim))), 1e-300)
    rough = roughness(trial.states, least)
    familiar = max(rough[0], np.max(known.bends / np.maximum(known.variances, least)))
    ragged = free & (rough > policy.strange * familiar)[1:]
    # What moves no faster than the data does drifts; what runs away moves faster and faster.
    moved = _size(np.diff(trial.states, axis=0)) / EVERY
    running = (moved > policy.strange * known.change).any(axis=1)
    outside = trial.excess > 1.0  # by a whole range
    wandered = np.flatnonzero(ragged | (running & outside))
    ends = EVERY * int(wandered[0] + 1) if len(wandered) else trial.diverged_at
    # Patterns that grow leave the range too, but smoothly. No data says what comes after that.
    left = np.flatnonzero(trial.excess > 1.0 / policy.strange)  # before it can move so fast
    if ends is None:
        return Ending(steps)
    if len(left) and ends > (gone := EVERY * int(left[0] + 1)) + SHORT:
        return Ending(steps, gone)
    return Ending(ends)


def roughness(states: np.ndarray, least=1e-300) -> Float[np.ndarray, " times"]:
    """Mean square of second differences over the variance, for each time; of the roughest channel.

    A variance below `least`, one number or one a channel, counts as that.
    """
    bends, variances = bends_and_variances(states)
    return np.max(bends / np.maximum(variances, least), axis=1)


def _size(states: np.ndarray) -> Float[np.ndarray, "states C"]:
    """Root mean square over space."""
    return np.sqrt(np.mean(states**2, axis=tuple(range(2, states.ndim))))


def bends_and_variances(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean square of second differences, and the variance, of each state and channel."""
    space = tuple(range(2, states.ndim))
    curved = [axis for axis in space if states.shape[axis] > 2]  # fewer cells have no curvature
    bends = [np.mean(np.diff(states, 2, axis) ** 2, axis=space) for axis in curved]
    return np.sum([np.zeros(states.shape[:2]), *bends], axis=0), np.var(states, axis=space)


def mirrored(stepper: Stepper, state: np.ndarray, group: Group) -> np.ndarray:
    """A small state to start long trials from: a corner of the state and its mirror images.

    The state itself where it is small, or its equation is not known to be the same in a mirror, or
    place matters.
    """
    inputs, dimension = stepper.inputs, stepper.dimension
    straight, same = tuple(range(dimension)), np.eye(group.channels)
    mirrors = [Element(straight, tuple(a == b for b in straight)) for a in straight]
    most = {1: 0, 2: 64, 3: 32}[dimension]  # cells a side
    sides = [most // (2 * step) * step for step in inputs.stride]
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

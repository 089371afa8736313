"""Starts unlike the states given: two of them, moved against each other, and added up.

Forecasts start from states of other trajectories. Those that were given do not tell what happens
then, least of all where they are few: a model may be steady on what it has seen alone. Where every
place is like any other, sums of two states have the waves of those given, and meet in ways that
nobody has seen. They are made as large as the largest state given: what decays is largest where
forecasts begin, and steepest soon after. Others may be larger, the more so the fewer were given.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.pairs import Pairs
from ..grid.boundary import both_sides
from ..model.rollout import forecast
from ..model.stepper import Stepper
from ..symmetry import Group
from .policy import POLICY
from .stability import EVERY, FEWEST, MANY, MOST, SHORT, start_of, step_work


def superposed(
    stepper: Stepper, pairs: Pairs, many: int = POLICY.few, times: float = 1.0
) -> Pairs | None:
    """So many such sums, so many `times` as large; None where states cannot be moved."""
    inputs, context = stepper.inputs, stepper.inputs.context
    position = context.position or (0,) * stepper.dimension
    sides = both_sides(inputs.boundary, stepper.dimension)
    axes = [a for a, ends in enumerate(sides) if "periodic" in ends and not position[a]]
    if not axes or pairs.missing is not None or context.fields.shape[0] > context.older:
        return None
    space = tuple(range(2, pairs.before.ndim))
    mean = pairs.before.mean(axis=(0, *space), keepdims=True)
    scale = np.maximum(pairs.before.std(axis=(0, *space), keepdims=True), 1e-300)

    def size(states: np.ndarray) -> np.ndarray:
        """How far states are from the mean of all, in units of the deviation of each channel."""
        return np.sqrt(np.mean(((states - mean) / scale) ** 2, axis=(1, *space)))

    sizes = size(pairs.before)
    largest = np.argsort(-sizes, kind="stable")[:many]
    places = np.arange(many) * len(largest) // many
    numbers, others = largest[places], np.roll(largest, len(largest) // 2)[places]

    def added(states: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """Sums about the mean of all, of states `(pair, field, *space)`."""
        middle = states.mean(axis=(0, *space), keepdims=True)
        rest, sums = states - middle, []
        for turn, (number, other) in enumerate(zip(numbers, others, strict=True)):
            # Less than half the grid, or the sum of a state with itself would come twice.
            moves = [pairs.space[a] * (2 * turn + 1) // (4 * many) for a in axes]
            sums.append(rest[number] + np.roll(rest[other], moves, [1 + a for a in axes]))
        return middle + factor * np.stack(sums)

    plain = np.maximum(size(added(pairs.before, np.ones(()))), 1e-300)
    factor = np.reshape(times * sizes.max() / plain, (many, *(1,) * (1 + len(space))))
    sums = {"before": added(pairs.before, factor), "after": added(pairs.after, factor)}
    if context.older:
        sums["fields"] = added(pairs.fields, factor)
    return replace(pairs[numbers], **sums)


def larger(pairs: Pairs) -> float:
    """How many times as large as the largest of so many states another may be.

    As the deviation of another from the mean of n is √(1 + 1/n) times that of all.
    """
    return np.sqrt(1.0 + 1.0 / len(pairs))


def first_divergence(
    stepper: Stepper, pairs: Pairs, group: Group, dtype: str, times: float = 1.0
) -> int | None:
    """The step at which the first of forecasts from many such sums diverges; None if none does.

    As users will see them: with the net of the margin, which trial forecasts do without. The net
    keeps most forecasts from running away, and a few it feeds.
    """
    affordable = POLICY.trial_work / step_work(stepper, pairs.after[0])
    many = int(np.clip(affordable / (2 * FEWEST), POLICY.few, MANY))
    steps = int(np.clip(affordable / (2 * POLICY.few), FEWEST, MOST)) // SHORT * SHORT
    sums, ends = superposed(stepper, pairs, many, times), list[int]()
    if sums is None:
        return None
    # Short ones from many sums, and long ones from a few of them.
    for number in range(many):
        bound = stepper.bind(sums.parameters[number]) if sums.parameters.size else stepper
        start, asked = start_of(stepper, sums, number, group)[None], FEWEST
        if number % (many // POLICY.few) == 0:
            asked = steps
        # One after the other, so that all share what was compiled, and stop where they diverge.
        (ahead,) = forecast(bound, start, asked, every=EVERY, dtype=dtype, chunk=SHORT // EVERY)
        ends += [ahead.diverged_at] if ahead.diverged_at else []
    return min(ends, default=None)

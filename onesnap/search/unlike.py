"""Starts unlike the states given: two of them, moved against each other, and added up.

Forecasts start from states of other trajectories. Those that were given do not tell what happens
then, least of all where they are few: a model may be steady on what it has seen alone. Where every
place is like any other, sums of two states have the size and the waves of those given, and meet in
ways that nobody has seen.
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
from .stability import EVERY, FEWEST, MOST, SHORT, start_of, step_work


def superposed(stepper: Stepper, pairs: Pairs, many: int = POLICY.few) -> Pairs | None:
    """So many such sums; None where places differ, so that states cannot be moved."""
    inputs, context, count = stepper.inputs, stepper.inputs.context, len(pairs)
    position = context.position or (0,) * stepper.dimension
    sides = both_sides(inputs.boundary, stepper.dimension)
    axes = [a for a, ends in enumerate(sides) if "periodic" in ends and not position[a]]
    if not axes or pairs.missing is not None or context.fields.shape[0] > context.older:
        return None
    numbers = np.arange(many) * count // many

    def added(states: np.ndarray) -> np.ndarray:
        """Sums about the mean of all, of states `(pair, field, *space)`."""
        mean = states.mean(axis=(0, *range(2, states.ndim)), keepdims=True)
        rest, sums = states - mean, []
        for turn, number in enumerate(numbers):
            # Less than half the grid, or the sum of a state with itself would come twice.
            moves = [pairs.space[a] * (2 * turn + 1) // (4 * many) for a in axes]
            other = np.roll(rest[(number + count // 2) % count], moves, [1 + a for a in axes])
            sums.append((rest[number] + other) / np.sqrt(2.0))
        return mean + np.stack(sums)

    sums = {"before": added(pairs.before), "after": added(pairs.after)}
    if context.older:
        sums["fields"] = added(pairs.fields)
    return replace(pairs[numbers], **sums)


def first_divergence(stepper: Stepper, pairs: Pairs, group: Group, dtype: str) -> int | None:
    """The step at which the first of forecasts from many such sums diverges; None if none does.

    As users will see them: with the net of the margin, which trial forecasts do without. The net
    keeps most forecasts from running away, and a few it feeds.
    """
    affordable = POLICY.trial_work / step_work(stepper, pairs.after[0])
    many = int(np.clip(affordable / (2 * FEWEST), POLICY.few, POLICY.few**2))
    steps = int(np.clip(affordable / (2 * POLICY.few), FEWEST, MOST)) // SHORT * SHORT
    sums, ends = superposed(stepper, pairs, many), list[int]()
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

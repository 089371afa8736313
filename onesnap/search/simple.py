"""Models that learn nothing: the mean state, and persistence. Nothing may be worse than they are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..grid.windows import window_sides
from ..model.plan import Plan
from ..network.inputs import Inputs
from .build import Parts, make_parts
from .held_out import Judge
from .option import Option
from .policy import POLICY
from .rule import in_words, loses
from .symmetry import no_group

POOR = 1.0 / POLICY.much  # of what a step changes: to err by more is of little use


class Simple(NamedTuple):
    """A plan that learns nothing, its readout, and words of warning."""

    plan: Plan
    parts: Parts
    readout: np.ndarray
    warning: str


def find_simple(judge: Judge, option: Option, useful: float = np.inf) -> Simple | None:
    """Persistence, or the mean state, where nothing else is better by more than a standard error.

    `useful` are the steps that forecasts of an option are of use for which is not steady. Persistence
    errs by what one step changes after one, and lasts for ever: less than twice that is worse.
    """
    problem, plan = judge.problem, option.plan
    if not problem.free("hidden", "shrinkage"):
        return None
    inputs, pairs = option.trial.parts.sampler.inputs, problem.pairs
    state = pairs.after.mean(axis=(0, *range(2, pairs.after.ndim)))
    state = 0.0 * state if plan.mean == "remove" else state
    units = np.zeros((option.trial.parts.layer.features.hidden, inputs.outputs))
    members = {"persistence": persistence(inputs), "mean": constant(inputs, state)}
    errors = {
        name: option.trial.judge(np.concatenate([readout, units]))
        for name, readout in members.items()
    }
    name = "mean" if loses(errors["persistence"], errors["mean"]) else "persistence"
    if loses(errors[name], option.errors) and useful >= judge.policy.much:
        return None
    words = f"{in_words(errors[name])} of the change a step makes; {in_words(option.errors)} at best"
    plan = replace(
        plan, extent=(0,) * problem.dimension, hidden=0, shrinkage=np.inf, rank=None,
        symmetry=no_group(problem), context=(0,) * problem.dimension, potential=False,
        surroundings=(), member=name, noise=0.0,
        reasons={"member": words, "noise": "nothing is learned"},
    )  # fmt: skip
    parts = make_parts(plan, problem)
    inputs = parts.sampler.inputs
    readout = persistence(inputs) if name == "persistence" else constant(inputs, state)
    called, best = "the mean state" if name == "mean" else name, in_words(option.errors)
    why = f"nothing that was tried is better than {called} on held-out data (at best {best} of the "
    why += "change a step makes)"
    if useful < judge.policy.much:
        why = "no forecast of anything that was tried stays in range, nor is of use for longer than "
        why += f"{called} (at best {best} of the change a step makes on held-out data)"
    warning = f"{why}, so that is what this model forecasts; give more pairs spread over time, or a "
    warning += "smaller step"
    return Simple(plan, parts, readout, warning)


def persistence(inputs: Inputs) -> np.ndarray:
    """The readout of a linear part that says that nothing changes."""
    scaling, sides = inputs.scaling, window_sides(inputs.extent, inputs.stride)
    cells = np.arange(inputs.channels * inputs.window_cells).reshape(-1, *sides)
    seen = []
    for offset in inputs.edges.offsets:
        starts = [reach + shift for reach, shift in zip(inputs.extent, offset, strict=True)]
        block = [slice(n, n + s) for n, s in zip(starts, inputs.stride, strict=True)]
        seen.append(cells[(slice(None), *block)].reshape(inputs.channels, -1))
    blocks = np.concatenate(seen, axis=1)  # (channel, block · cell)
    fields = inputs.context.low.shape[0] - inputs.context.parameters.shape[0]
    size = (inputs.channels + fields) * inputs.window_cells + inputs.values + 1
    readout, width = np.zeros((size, inputs.outputs)), scaling.high - scaling.low
    readout[blocks.ravel(), np.arange(inputs.outputs)] = np.repeat(width, blocks.shape[1])
    readout[-1] = np.repeat(scaling.low, blocks.shape[1])
    return readout


def constant(inputs: Inputs, state: np.ndarray) -> np.ndarray:
    """The readout of a linear part that answers with one value `(C,)` everywhere."""
    readout = np.zeros_like(persistence(inputs))
    readout[-1] = np.repeat(state, inputs.outputs // inputs.channels)
    return readout

"""Options: plans with their held-out errors, of which the rule takes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..grid.windows import window_sides
from ..model.plan import Plan
from ..network.inputs import Inputs
from .held_out import Judge, Setting, Trial
from .rule import Errors, comparable, mean, simplest


@dataclass(frozen=True, eq=False)
class Option:
    """A trial with one noise and shrinkage, and its errors on what was held out."""

    trial: Trial
    setting: Setting
    errors: Errors

    @property
    def plan(self) -> Plan:
        noise, shrinkage = self.setting
        return replace(self.trial.plan, noise=noise, shrinkage=shrinkage)

    @property
    def error(self) -> float:
        """The mean logarithm."""
        return mean(self.errors)

    def beats(self, other: Option) -> bool:
        """Whether it is better by more than a standard error."""
        return not comparable(other.errors, self.errors)

    def because(self, setting: str, reason: str) -> Option:
        """The same with a reason for a setting."""
        plan = self.trial.plan
        plan = replace(plan, reasons={**plan.reasons, setting: reason})
        return replace(self, trial=replace(self.trial, plan=plan))

    def with_noise(self, noise: float) -> Option:
        """The same trial with another noise."""
        setting = Setting(noise, self.setting.shrinkage)
        return Option(self.trial, setting, self.trial.errors([setting])[0])


def shrinkages(judge: Judge, plan: Plan) -> list[float | None]:
    """Those to be tried, the simplest model first: a linear window."""
    if not plan.hidden:
        return [np.inf]
    if not judge.problem.free("shrinkage") or plan.shrinkage is None:
        return [plan.shrinkage]
    return [np.inf, *judge.policy.shrinkages]


def weigh(judge: Judge, plan: Plan, among: Sequence[float | None] = (), **how) -> Option | None:
    """The plan with the shrinkage of least error; None where it cannot be judged."""
    trial = judge.trial(plan, **how)
    return None if trial is None else least(_options(trial, among or shrinkages(judge, plan)))


def simplified(judge: Judge, option: Option) -> Option:
    """The same with the simplest shrinkage that is comparable to the best, a linear window first."""
    options = _options(option.trial, shrinkages(judge, option.plan))
    return options[simplest([candidate.errors for candidate in options])]


def _options(trial: Trial, among: Sequence[float | None]) -> list[Option]:
    settings = [Setting(trial.plan.noise, shrinkage) for shrinkage in among]
    return list(map(Option, [trial] * len(settings), settings, trial.errors(settings)))


def least(options: Sequence[Option | None]) -> Option | None:
    """The one of least error."""
    return min((o for o in options if o is not None), key=lambda o: o.error, default=None)


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

"""Options: plans with their held-out errors, of which the rule takes one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..model.plan import Plan
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
        noise, shrinkage, form = self.setting
        return replace(self.trial.plan, noise=noise, shrinkage=shrinkage, noise_form=form)

    @property
    def error(self) -> float:
        """The mean logarithm."""
        return mean(self.errors)

    def over(self, other: Option) -> float:
        """The mean logarithm of its error over that of another, in the folds that both leave out."""
        return mean(self.errors - other.errors)

    def beats(self, other: Option) -> bool:
        """Whether it is better by more than a standard error."""
        return not comparable(other.errors, self.errors)

    def because(self, setting: str, reason: str) -> Option:
        """The same with a reason for a setting."""
        plan = self.trial.plan
        plan = replace(plan, reasons={**plan.reasons, setting: reason})
        return replace(self, trial=replace(self.trial, plan=plan))

    def under(self, setting: Setting) -> Option:
        """The same trial with another noise or shrinkage."""
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
    plan = trial.plan
    settings = [Setting(plan.noise, shrinkage, plan.noise_form) for shrinkage in among]
    return list(map(Option, [trial] * len(settings), settings, trial.errors(settings)))


def least(options: Sequence[Option | None]) -> Option | None:
    """The one of least error; trials of other sizes leave out other folds."""
    best = None
    for option in options:
        if option is not None and (best is None or option.over(best) < 0):
            best = option
    return best

"""Candidates: drafts fitted to a part of the windows, with their held-out errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..model.plan import Plan
from ..network.layer import Totals
from ..network.sampler import join
from .build import Parts, make_parts
from .draft import Draft
from .folds import Split
from .policy import POLICY
from .stability import Stability, try_stability


class Fitted(NamedTuple):
    """The sums of a fit to a part of the windows, and the windows that were held out."""

    parts: Parts
    totals: Totals
    values: np.ndarray  # features of the held-out windows
    targets: np.ndarray


class Noise(NamedTuple):
    """A form of noise on the inputs, and its deviation in units of their range."""

    form: str
    size: float


@dataclass(frozen=True, eq=False)
class Candidate:
    """A draft that was fitted, and the noises it has still to be tried with."""

    draft: Draft
    fitted: Fitted
    noises: tuple[float, ...]
    readout: np.ndarray  # with the first of these
    error: float  # of it, on held-out windows
    fall_back: bool = False  # to a large floor, if a fit to all windows is not steady with these

    @property
    def plan(self) -> Plan:
        """The plan with the present noise."""
        return replace(self.draft.plan, noise=self.noises[0])

    @property
    def schedule(self) -> tuple[Noise, ...]:
        """The present noise, and those to go on to if a fit to all windows is not steady."""
        plan = self.draft.plan
        schedule = [Noise(plan.noise_form, noise) for noise in self.noises]
        if self.fall_back:
            floors = POLICY.floors[len(plan.stride)]
            schedule += [Noise("floor", noise) for noise in floors if noise >= POLICY.safe_floor]
        return tuple(schedule)

    def run(self) -> Trial:
        """Forecast with the present noise."""
        problem = self.draft.problem
        stepper = self.fitted.parts.stepper(self.readout, problem.pairs)
        group, dtype = self.draft.plan.symmetry, problem.given["dtype"]
        return Trial(self, try_stability(stepper, problem.pairs, group, dtype))

    def because(self, setting: str, reason: str) -> Candidate:
        """This one, with a reason for a setting."""
        return replace(self, draft=self.draft.because(setting, reason))

    def everywhere(self) -> Candidate:
        """The same with noise in all directions, as large as the errors of a step."""
        parts = self.fitted.parts
        parts = replace(parts, layer=replace(parts.layer, noise_form="isotropic"))
        noises = tuple(noise for noise in POLICY.isotropic if noise >= POLICY.error_noise)
        draft = self.draft.replace(noise_form="isotropic")
        return _solve(draft, self.fitted._replace(parts=parts), noises, fall_back=True)

    def calmer(self) -> list[Candidate]:
        """The same with the next noise, if there is one."""
        if not self.noises[1:]:
            return []
        return [_solve(self.draft, self.fitted, self.noises[1:], self.fall_back)]


class Trial(NamedTuple):
    """A candidate, and how its trial forecast went."""

    candidate: Candidate
    stability: Stability


def make_candidate(draft: Draft, split: Split) -> Candidate:
    """Fit a draft to a part of the windows."""
    plan, problem = draft.plan, draft.problem
    if plan.noise_form == "sampled" and problem.free("noise"):
        draft = draft.replace(noise=POLICY.paper_noise).because("noise", "the paper's")
    noises = _noises(draft)
    parts = make_parts(replace(draft.plan, noise=noises[0]), problem)
    if problem.free("noise") and plan.noise_form == "floor":
        noises = _above_last(noises, parts)
    sampler, layer, pairs = parts.sampler, parts.layer, problem.pairs
    total = max(
        POLICY.trial_rows / len(sampler.elements),
        POLICY.trial_rows_a_unit * plan.hidden / len(plan.symmetry),
    )
    share = max(1, int(total / len(split.train)))
    rows = join(
        [
            sampler.cut(pairs, part.pair, part.cells[:share], element)
            for part in split.train
            for element in sampler.elements
        ]
    )
    identity = plan.symmetry.elements[0]
    test = join([sampler.cut(pairs, part.pair, part.cells, identity) for part in split.test])
    totals = layer.absorb(layer.start(sampler.inputs.outputs), [rows])
    values = layer.values(test)
    fall_back = plan.noise_form == "isotropic" and problem.free("noise_form")
    return _solve(draft, Fitted(parts, totals, values, test.targets), noises, fall_back)


def _solve(
    draft: Draft, fitted: Fitted, noises: tuple[float, ...], fall_back: bool = False
) -> Candidate:
    readout = fitted.parts.layer.solve(fitted.totals, noises[0], draft.plan.shrinkage)
    error = float(np.sqrt(np.mean((fitted.values @ readout - fitted.targets) ** 2)))
    return Candidate(draft, fitted, noises, readout, error, fall_back)


def _noises(draft: Draft) -> tuple[float, ...]:
    """The noises that a draft is tried with, the least first."""
    plan, problem = draft.plan, draft.problem
    if not problem.free("noise") or plan.noise_form == "sampled":
        return (plan.noise,)
    isotropic = plan.noise_form == "isotropic"
    noises = POLICY.isotropic if isotropic else POLICY.floors[problem.dimension]
    if plan.potential:  # waves are limited, and trials do not tell the least
        noises = tuple(noise for noise in noises if noise >= POLICY.safe_floor)
    return noises


def _above_last(noises: tuple[float, ...], parts: Parts) -> tuple[float, ...]:
    """Noise below what the last direction kept varies by does nothing: one such is enough."""
    layer = parts.layer
    if layer.features.basis is None:
        return noises
    last = float(np.sqrt(layer.variances[layer.features.basis.shape[1] - 1]))
    above = [noise for noise in noises[1:] if noise > POLICY.above * last]
    return noises[0], *(above or [2 * POLICY.above * last])

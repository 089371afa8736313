"""How many random units: more and more as long as that helps, in windows that widen with them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..model.plan import Plan
from ..symmetry.representations import irreducible, work
from .extents import wider
from .held_out import Judge
from .option import Option, least, simplified, weigh


def most_units(judge: Judge, plan: Plan) -> int:
    """As many as windows can feed, within what a fit and a forecast may cost."""
    pairs, policy, elements = judge.problem.pairs, judge.policy, len(plan.symmetry)
    windows = judge.problem.learned * min(pairs.cells, plan.windows or pairs.cells)
    blocks = int(np.prod([-(-n // s) for n, s in zip(pairs.space, plan.stride, strict=True)]))
    affordable = np.sqrt(policy.work / (share(plan) * windows))
    if judge.problem.free("windows"):  # no more of them than are plenty
        few = policy.plenty / orbit(plan)  # for each unit
        affordable = max(affordable, np.cbrt(policy.work / (share(plan) * few)))
    # A fit of few windows may have at least the units of trials, whatever a step costs.
    dear = max(affordable, policy.units), max(policy.step_work / blocks, policy.units)
    return int(min(policy.fed * windows * elements, policy.most_units, *dear))


def share(plan: Plan) -> float:
    """What a window costs under all elements, in units of one without a symmetry."""
    return work(plan.symmetry) if plan.equivariant else len(plan.symmetry)


class Grown(NamedTuple):
    """Options of the last rung, and how many units the fit to all windows shall have.

    None of either where a linear window is comparable.
    """

    contenders: list[Option]
    units: int


def grow(judge: Judge, option: Option) -> Grown:
    """The option with as many units as pay, and others in wider windows that come close."""
    given = judge.problem.given["hidden"]
    if not judge.problem.free("hidden"):
        return Grown(_beside(judge, option, option.plan.hidden), _whole(option.plan, given))
    if np.isinf(simplified(judge, option).setting.shrinkage or 0.0):
        return Grown([], 0)
    most, rung = most_units(judge, option.plan), _beside(judge, option, option.plan.hidden)
    option, factor, halved = least(rung) or option, 4, False
    tried = min(most, _largest_trial(judge, option.plan))
    reason = words = "those of first trials"
    while factor > 1:  # four times as many units in the next rung, or twice if those are no better
        units = _whole(option.plan, min(factor * option.plan.hidden, tried))
        if units <= option.plan.hidden:
            break
        hopeless = {o.plan.extent for o in rung if o.over(option) > 2 * np.log(judge.policy.much)}
        larger = _beside(judge, option, units, hopeless)
        best = least(larger)
        if best is None or not best.beats(option):
            tried, factor, halved = units - 1, factor // 2, False
            words = "" if best is None else f"; with {units} the error is {np.exp(best.error):.2g}"
            words = reason + words
            continue
        ratio, doublings = best.over(option), np.log2(units / option.plan.hidden)
        reason = words = f"{np.exp(ratio):.2g} of the held-out error with {option.plan.hidden}"
        option, rung, halved = best, larger, -ratio > doublings * np.log(judge.policy.much)
    units = option.plan.hidden
    if halved and units < _whole(option.plan, most):
        words += f" with {units}, so that twice as many need no trial"
        units = _whole(option.plan, min(2 * units, most))
    return Grown([o.because("hidden", words) for o in rung], units)


def _largest_trial(judge: Judge, plan: Plan) -> int:
    """As many units as the least-squares problems of a trial may have."""
    sizes = [part.shape[1] for part in irreducible(plan.symmetry)] if plan.equivariant else [1]
    return int(judge.policy.columns * orbit(plan) / np.cbrt(sum(size**3 for size in sizes)))


def orbit(plan: Plan) -> int:
    """Random units that are images of each other."""
    return len(plan.symmetry) if plan.equivariant else 1


def _whole(plan: Plan, units: int) -> int:
    """So many units in whole orbits."""
    return max(1, units // orbit(plan)) * orbit(plan) if units else 0


def _beside(
    judge: Judge, option: Option, units: int, hopeless: Collection[tuple[int, ...]] = ()
) -> list[Option]:
    """The option with so many units, in its window and in the next wider."""
    plan, shrinkage = replace(option.plan, hidden=units), option.setting.shrinkage
    larger = wider(judge, plan)[:1] if units else []  # more units want wider windows
    plans = [plan, *(p for p in larger if p.extent not in hopeless)]
    among: tuple[float | None, ...] = (shrinkage,)
    if shrinkage is not None and judge.problem.free("shrinkage") and np.isfinite(shrinkage):
        among += (shrinkage / 100.0,) if shrinkage else ()
        if judge.problem.given["dtype"] == "float32":  # where soon only round-off is left to fit
            among += tuple(sorted(s for s in judge.policy.shrinkages if s > shrinkage)[:1])
    return [o for o in (weigh(judge, p, among) for p in plans) if o is not None]

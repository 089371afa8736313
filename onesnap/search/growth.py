"""How many random units: doubled as long as that helps, in windows that widen with them."""

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

NEXT = 2  # larger extents that are tried beside the best: more units want wider windows
HOPELESS = 3.0  # times the least error of a rung, with which an extent is not tried in the next
HALVES = 0.5  # of the error: a last doubling that did as much is worth one more without a trial


def most_units(judge: Judge, plan: Plan) -> int:
    """As many as windows can feed, within what a fit and a forecast may cost."""
    pairs, policy, elements = judge.problem.pairs, judge.policy, len(plan.symmetry)
    windows = len(pairs) * min(pairs.cells, judge.problem.given["windows"] or pairs.cells)
    blocks = int(np.prod([-(-n // s) for n, s in zip(pairs.space, plan.stride, strict=True)]))
    share = work(plan.symmetry) / elements if plan.equivariant else 1.0
    affordable = np.sqrt(policy.work / (windows * elements * share))
    # A fit of few windows may have at least the units of trials, whatever a step costs.
    dear = max(affordable, policy.units), max(policy.step_work / blocks, policy.units)
    return int(min(policy.fed * windows * elements, policy.most_units, *dear))


class Grown(NamedTuple):
    """Options of the last rung, and how many units the fit to all windows shall have."""

    contenders: list[Option]
    units: int


def grow(judge: Judge, option: Option) -> Grown:
    """The option with as many units as pay, and others in wider windows that come close."""
    given = judge.problem.given["hidden"]
    if not judge.problem.free("hidden"):
        return Grown(_beside(judge, option, option.plan.hidden), _whole(option.plan, given))
    if np.isinf(simplified(judge, option).setting.shrinkage or 0.0):
        return Grown([simplified(judge, option)], 0)
    most, rung = most_units(judge, option.plan), _beside(judge, option, option.plan.hidden)
    option, ratio = least(rung) or option, 1.0
    reason = "those of first trials"
    while (units := _whole(option.plan, min(2 * option.plan.hidden, most))) > option.plan.hidden:
        if _work(option.plan, units) > judge.policy.columns**3:
            break
        hopeless = {o.plan.extent for o in rung if o.error > option.error + np.log(HOPELESS)}
        larger = _beside(judge, option, units, hopeless)
        best = least(larger)
        if best is None or not best.beats(option):
            words = "" if best is None else f"; with {units} the error is {np.exp(best.error):.2g}"
            return Grown([o.because("hidden", reason + words) for o in rung], option.plan.hidden)
        ratio = float(np.exp(best.error - option.error))
        reason = f"{ratio:.2g} of the held-out error with {option.plan.hidden}"
        option, rung = best, [o.because("hidden", reason) for o in larger]
    if ratio < HALVES:
        units = max(option.plan.hidden, min(units, most))
        reason += f" with {option.plan.hidden}, so that twice as many need no trial"
    else:
        units = option.plan.hidden
    return Grown([o.because("hidden", reason) for o in rung], units)


def _work(plan: Plan, units: int) -> float:
    """Cubed columns of all least-squares problems of so many units."""
    orbit, parts = (
        _orbit(plan),
        irreducible(plan.symmetry) if plan.equivariant else (np.eye(1)[None],),
    )
    return float(sum((part.shape[1] * units / orbit) ** 3 for part in parts))


def _orbit(plan: Plan) -> int:
    return len(plan.symmetry) if plan.equivariant else 1


def _whole(plan: Plan, units: int) -> int:
    """So many units in whole orbits."""
    return max(1, units // _orbit(plan)) * _orbit(plan) if units else 0


def _beside(
    judge: Judge, option: Option, units: int, hopeless: Collection[tuple[int, ...]] = ()
) -> list[Option]:
    """The option with so many units, in its window and in some that are wider."""
    plan, shrinkage = replace(option.plan, hidden=units), option.setting.shrinkage
    larger = wider(judge, plan)[:NEXT] if units else []
    plans = [plan, *(p for p in larger if p.extent not in hopeless)]
    among: tuple[float | None, ...] = (shrinkage,)
    if shrinkage and judge.problem.free("shrinkage") and np.isfinite(shrinkage):
        among = (shrinkage, shrinkage / 100.0)
    return [o for o in (weigh(judge, p, among) for p in plans) if o is not None]

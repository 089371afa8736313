"""The size of windows: strides, and extents from a geometric grid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..grid.surroundings import BOXES
from ..grid.windows import per_axis, window_sides
from ..model.plan import Plan
from .held_out import Judge
from .option import Option, weigh
from .policy import POLICY
from .problem import Problem
from .rule import in_words


def find_stride(problem: Problem) -> tuple[tuple[int, ...], str]:
    """The largest small stride that divides the grid: more cells predicted at a time.

    Where none does, cells beyond the end are predicted and dropped, unless that is not exact.
    """
    space, exact = problem.pairs.space, problem.given["averaging"] is not None
    most = POLICY.stride if len(space) < 3 else POLICY.stride // 2
    dividing = [s for s in range(most, 0, -1) if all(points % s == 0 for points in space)]
    if dividing[0] == 1 < most and not exact and min(space) >= 6 * most:
        return (most,) * len(space), "none divides the grid; what its blocks predict beyond it is cut"
    return (dividing[0],) * len(space), f"the largest up to {most} that divides the grid"


def fits(judge: Judge, plan: Plan) -> bool:
    """Whether windows leave a part of the grid to judge by, and trials can afford their cells."""
    problem = judge.problem
    sides = window_sides(plan.extent, plan.stride)
    small = all(side <= points for side, points in zip(sides, problem.pairs.space, strict=True))
    fields = problem.channels * (1 + len(sides) * plan.potential) + problem.pairs.fields.shape[1]
    boxes = problem.channels * len(plan.surroundings) * BOXES ** len(sides)
    return small and fields * int(np.prod(sides)) + boxes <= judge.policy.columns


def wider(judge: Judge, plan: Plan) -> list[Plan]:
    """The plan with each of the extents of the grid that are larger than its own."""
    if not judge.problem.free("extent"):
        return []
    larger = [replace(plan, extent=(e,) * len(plan.stride)) for e in judge.policy.extents]
    return [p for p in larger if p.extent > plan.extent and fits(judge, p)]


def narrowed(judge: Judge, plan: Plan) -> Plan:
    """The plan in the largest window, up to its own, whose cells trials can afford."""
    for extent in reversed(judge.policy.extents if judge.problem.free("extent") else ()):
        if not fits(judge, plan) and (extent,) * len(plan.stride) < plan.extent:
            plan = replace(plan, extent=(extent,) * len(plan.stride))
    return plan


def rank_extents(judge: Judge, plan: Plan, least: int = 0) -> Option | None:
    """The plan with the extent of least error, smaller ones first as long as that helps.

    Too small a window does not hold what a time step reaches; too large a one spends random units
    on cells that do not matter.
    """
    problem, dimension = judge.problem, judge.problem.dimension
    if not problem.free("extent"):
        extent = per_axis("extent", problem.given["extent"], dimension, 0)
        return weigh(judge, replace(plan, extent=extent))
    best, tried = None, list[Option]()
    smallest = replace(plan, extent=(0,) * dimension)
    for candidate in [smallest, *wider(judge, smallest)]:
        if candidate.extent[0] < least:
            continue
        option = weigh(judge, candidate)
        if option is None:
            continue
        tried.append(option)
        if best is None or option.over(best) < 0:
            best = option
        elif _settles(judge, best, option):
            break
    if best is None:
        return None
    listed = ", ".join(f"{o.plan.extent[0]}: {np.exp(o.error):.2g}" for o in tried)
    largest = best is tried[-1] and np.exp(best.error) > judge.policy.explained
    words = f"held-out error {in_words(best.errors)} of the change a step makes; {listed}"
    return best.because("extent", words + ("; the largest tried" if largest else ""))


def _settles(judge: Judge, best: Option, last: Option) -> bool:
    """Whether no larger window can be better: enough is explained, or errors grow and grow.

    Where a step reaches beyond all windows so far, their errors are alike, and prove nothing. Of a
    linear window nothing is explained by more units later: it is as good as it ever gets.
    """
    enough = best.plan.hidden > 0 and np.exp(best.error) < judge.policy.explained
    return enough or last.over(best) > np.log(judge.policy.much)


def check_window(judge: Judge, plan: Plan) -> list[str]:
    """Words of warning if a step reaches beyond a window that was given."""
    if judge.problem.free("extent"):
        return []
    # A quarter of a first trial's units is enough to see whether more cells help.
    units = min(plan.hidden, judge.policy.units // 4) // len(plan.symmetry) * len(plan.symmetry)
    small = replace(
        plan, hidden=units, rank=None, noise=judge.policy.noises[0], noise_form="isotropic",
        shrinkage=0.0 if units else np.inf,
    )  # fmt: skip
    larger = replace(small, extent=tuple(reach + 2 for reach in plan.extent))
    if not fits(judge, larger):
        return []
    near, far = weigh(judge, small), weigh(judge, larger)
    if near is None or far is None or np.exp(near.error) < judge.policy.explained:
        return []
    if far.error > near.error - np.log(judge.policy.much):
        return []
    return [
        f"the window is too small for the step: two cells more on each side bring a small model to "
        f"{np.exp(far.error - near.error):.2g} of its error; give an extent larger than "
        f"{'×'.join(map(str, plan.extent))}, or a smaller step"
    ]

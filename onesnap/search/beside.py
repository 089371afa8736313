"""What windows are told beside the state: its mean, position, potentials, coarse surroundings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from ..data.pairs import Pairs
from ..grid.boundary import both_sides
from ..grid.potentials import TYPES
from ..grid.surroundings import check_surroundings
from ..model.plan import Plan
from ..symmetry import Group
from .extents import fits, narrowed, rank_extents
from .folds import make_folds
from .held_out import Judge
from .option import Option, weigh
from .problem import Problem
from .rule import comparable, in_words

CONSERVED = 1e-6  # of the deviation of states, a change of their mean: round-off of single precision


def find_mean(judge: Judge, plan: Plan) -> tuple[str, str]:
    """Whether the mean is conserved, or irrelevant and hence removed, or an ordinary quantity."""
    problem, pairs = judge.problem, judge.problem.pairs
    if problem.fill is not None:
        return "keep", "some cells have no values"
    ends = [kind for pair in both_sides(problem.boundary, problem.dimension) for kind in pair]
    if not all(isinstance(kind, str) for kind in ends):
        return "keep", "a value is held at an edge, which tells levels apart"
    space = tuple(range(2, pairs.before.ndim))
    change = np.abs(pairs.after.mean(axis=space) - pairs.before.mean(axis=space))
    most = float(np.max(change / np.maximum(pairs.before.std(axis=(0, *space)), 1e-300)))
    if most <= CONSERVED:
        return "conserve", f"a step changes the mean by {most:.1e} of the deviation"
    reach = [min(2, (n - s) // 2) for n, s in zip(pairs.space, plan.stride, strict=True)]
    plan = replace(plan, extent=tuple(reach))
    kept, without = weigh(judge, plan), weigh(judge, plan, shifted=True)
    if kept is None or without is None:
        return "keep", "too little data to tell"
    words = f"held-out error {in_words(without.errors)} without the window's mean, "
    words += f"{in_words(kept.errors)} with it"
    return ("remove" if comparable(without.errors, kept.errors) else "keep"), words


def no_potential(problem: Problem, groups: Iterable[Group]) -> str:
    """Why there can be no potentials, in words; empty where there can be."""
    if problem.fill is not None or problem.pairs.missing is not None:
        return "cells without values have no potential"
    if any("periodic" not in ends for ends in both_sides(problem.boundary, problem.dimension)):
        return "potentials are those of a periodic grid"
    kinds = set(problem.kinds) if isinstance(problem.kinds, tuple) else set()
    if not kinds.union(*(group.fields for group in groups)) <= set(TYPES):
        return f"potentials are those of {' and '.join(TYPES)} fields"
    return ""


def find_beside(judge: Judge, option: Option) -> tuple[Judge, Option]:
    """Things are told one after the other, as long as one helps by more than a standard error."""
    told, tried = True, dict[str, list[str]]()
    while told and np.exp(option.error) > judge.policy.explained:
        told = False
        for name, judging, plan in _things(judge, option.plan):
            base = option if judging is judge else weigh(judging, option.plan)
            plan = narrowed(judging, plan)
            further = weigh(judging, plan) if fits(judging, plan) else None
            if base is None or further is None:
                continue
            words = (
                f"held-out error {in_words(further.errors)} with it, {in_words(base.errors)} without"
            )
            tried.setdefault(name, []).append(words)
            if further.beats(base):
                option = rank_extents(judging, further.because(name, words).plan) or further
                judge, told = judging, True
                break
    for name, words in tried.items():
        if name not in option.plan.reasons:
            option = option.because(name, words[-1])
    for name in ("context", "potential", "surroundings"):
        if judge.problem.free(name) and name not in option.plan.reasons:
            option = option.because(name, "windows of the state tell what a step does")
    return judge, option


def _things(judge: Judge, plan: Plan) -> Iterator[tuple[str, Judge, Plan]]:
    """What a plan is not told yet, each with a judge that can tell whether it helps."""
    problem, pairs = judge.problem, judge.problem.pairs
    sized = not problem.free("extent") and not problem.free("hidden")
    given = [problem.given[name] for name in ("symmetry", "averaging")]
    groups = [group for group in given if isinstance(group, Group)]
    refused = sized or plan.potential or no_potential(problem, groups)
    if problem.free("potential") and not refused:
        yield "potential", judge, replace(plan, potential=True)
    if (
        problem.free("surroundings")
        and not sized
        and len(plan.surroundings) < len(judge.policy.surroundings)
    ):
        wider = judge.policy.surroundings[: len(plan.surroundings) + 1]
        try:
            check_surroundings(pairs.space, wider, plan.stride)
        except ValueError:
            pass  # boxes that do not fit the grid are no candidates
        else:
            yield "surroundings", judge, replace(plan, surroundings=wider)
    turned = any(len(group) > 1 for group in groups)
    if problem.free("context") and not any(plan.context) and not turned:
        axes = range(problem.dimension)
        alone = [tuple(judge.policy.few * (a == b) for b in axes) for a in axes]
        for place in dict.fromkeys([*alone, (judge.policy.few,) * len(axes)]):
            placed = [axis for axis in axes if place[axis]]
            if len(placed) < len(axes) or _wanders(pairs):
                there = replace(judge, folds=make_folds(pairs, placed), known={})
                yield "context", there, replace(plan, context=place)


def _wanders(pairs: Pairs) -> bool:
    """Whether states at a place differ by as much as they vary: else place and state are one."""
    apart = pairs.after[-1] - pairs.before[0]
    return bool(np.mean(apart**2) >= np.mean(pairs.before.var(axis=tuple(range(2, apart.ndim + 1)))))

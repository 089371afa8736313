"""Which symmetries the data obeys: a fit that has to obey them is not worse."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from ..grid.boundary import respects
from ..model.plan import Plan
from ..symmetry import Element, Group, full, trivial
from .held_out import Judge
from .option import Option, weigh
from .policy import POLICY
from .problem import Problem
from .rule import in_words, simplest


def find_symmetry(judge: Judge, option: Option) -> Option:
    """The option under the largest group with which its error is comparable to the least."""
    problem, plan = judge.problem, option.plan
    if problem.kinds is None:
        return option.because("symmetry", "there are fields that turn in unknown ways")
    groups = [
        group
        for fields in typings(problem, plan)
        for group in nested(_moved(judge, option, candidates(problem, plan, fields)), fields)
    ]
    obeying = [under for group in groups if (under := _under(judge, option, group)) is not None]
    # The more elements, the simpler. They are taken where they help, or at least do no harm: a group
    # that data never puts to the test only spends random units on states that never come.
    ranked = sorted(obeying, key=lambda under: -len(under.plan.symmetry))
    chosen = [*ranked, option][simplest([o.errors for o in (*ranked, option)])]
    words = "; ".join(
        f"{in_words(o.errors)} with {len(o.plan.symmetry)} on {', '.join(o.plan.symmetry.fields)}"
        for o in sorted([option, chosen, *obeying[:2]], key=lambda o: o.error)[:3]
    )
    return chosen.because("symmetry", f"held-out error {words}")


def _under(judge: Judge, option: Option, group: Group) -> Option | None:
    """The option as one that has to obey a group, with about as many random units."""
    plan = option.plan
    # Twice the units for each doubling of the group would cost the same; half of that is enough.
    orbits = max(1, round(plan.hidden / np.sqrt(len(group)))) if plan.hidden else 0
    hidden = orbits * len(group) if judge.problem.free("hidden") else plan.hidden
    if plan.hidden:
        hidden = max(1, round(hidden / len(group))) * len(group)
    under = replace(plan, symmetry=group, hidden=hidden, equivariant=group.is_closed)
    return weigh(judge, under)


def typings(problem: Problem, plan: Plan) -> list[tuple[str, ...]]:
    """Ways in which the fields may turn, those first in which none turns by itself."""
    dimension, channels = problem.dimension, problem.channels
    if isinstance(problem.kinds, tuple):
        return [problem.kinds]
    if dimension == 1:  # a sign of its own for each channel, relative to the first
        most = 2 ** (POLICY.few - 1)  # all of them for a few channels
        signs = itertools.product(("scalar", "pseudoscalar"), repeat=channels - 1)
        return [("scalar", *rest) for rest in itertools.islice(signs, most)]
    scalars = [("scalar",) * channels]
    if plan.potential:
        return scalars
    vectors = [
        ("scalar",) * first + ("vector",) + ("scalar",) * (channels - dimension - first)
        for first in range(channels - dimension + 1)
    ]
    return scalars + vectors


def candidates(problem: Problem, plan: Plan, fields: tuple[str, ...]) -> Group:
    """All elements that windows and boundary allow."""
    dimension = problem.dimension
    pool, straight = full(dimension, fields, negation=True).elements, tuple(range(dimension))
    if len(set(plan.extent)) + len(set(plan.stride)) > 2:
        pool = [e for e in pool if e.axes == straight]
    fine = [e for e in pool if respects(e, problem.boundary, fields, problem.fill)]
    return Group(tuple(fine), fields)


def _moved(judge: Judge, option: Option, pool: Group) -> list[Element]:
    """The elements, those first whose moving of the windows spoils a fit the least."""
    trial, pairs = option.trial, judge.problem.pairs
    sampler = replace(trial.parts.sampler, group=pool)
    readout = trial.readouts(trial.whole, [option.setting])[0]
    few = np.unique(np.linspace(0, pairs.cells - 1, judge.policy.judges).astype(int))
    number = len(pairs) // 2

    def spoiled(element: Element) -> float:
        rows = sampler.cut(pairs, number, few, element)
        wrong = trial.parts.layer.values(rows) @ readout - rows.targets
        wrong = wrong.reshape(len(wrong), judge.problem.channels, -1) / trial.change[:, None]
        return float(np.mean(wrong**2))

    return sorted(pool.elements, key=lambda element: (element != pool.elements[0], spoiled(element)))


def nested(elements: list[Element], fields: tuple[str, ...]) -> list[Group]:
    """The groups that the first two, three, … of the elements generate, the largest first."""
    groups, members = list[Group](), {elements[0]}
    for number, element in enumerate(elements[1:], start=2):
        if element in members:
            continue
        members = _generated(elements[:number])
        groups.insert(0, Group((elements[0], *sorted(members - {elements[0]})), fields))
    return groups


def _generated(elements: list[Element]) -> set[Element]:
    members, fresh = {elements[0]}, {elements[0]}
    while fresh:
        fresh = {a.compose(b) for a in fresh for b in elements} - members
        members |= fresh
    return members


def no_group(problem: Problem) -> Group:
    """Nothing but the identity, on scalars."""
    return trivial(problem.dimension, ("scalar",) * problem.channels)

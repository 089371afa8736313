"""Which symmetries the data obeys: a model of it stays as good when windows are moved."""

from __future__ import annotations

from ..grid.boundary import respects
from ..symmetry import Element, Group, full, trivial
from .extents import Chosen
from .policy import POLICY
from .probe import Probe, Reading


def find_symmetry(probe: Probe, extent: tuple[int, ...], reading: Reading) -> Chosen:
    """The group of signed permutations under which a model of the data stays as good as it was."""
    # Of states that follow each other closely none is unseen, but a part of space is.
    probe, problem = probe.along(0), probe.problem
    dimension, channels = problem.dimension, problem.channels
    typings = [("scalar",) * channels]
    if isinstance(problem.kinds, tuple):
        typings = [problem.kinds]
    elif channels == dimension > 1 and not reading.potential:
        typings.append(("vector",))
    best = trivial(dimension, typings[0])
    if problem.kinds is None:
        return Chosen(best, "there are fields that turn in unknown ways")
    reason = "no element but the identity fits the data"
    for fields in typings:
        pool = _candidates(probe, extent, reading, fields)
        fitted = probe.fit(probe.sampler(extent, reading, pool))
        reference = fitted.error()
        if reference > POLICY.telling * probe.change:
            return Chosen(best, "no probe is good enough to judge")
        ratios = {e: fitted.error(e) / reference for e in pool.elements}
        group = largest_group([e for e, ratio in ratios.items() if ratio <= POLICY.moved], fields)
        # Where a model is poor, no element makes it much worse; but one that has to obey a false
        # symmetry is.
        if (
            len(best) < len(group)
            and probe.fit(fitted.sampler, among=group).error() < POLICY.obeys * reference
        ):
            worst = max(ratios[e] for e in group.elements)
            refused = [ratio for e, ratio in ratios.items() if e not in group.elements]
            reason = f"held-out error grows at most {worst:.2g} times under its elements" + (
                f", at least {min(refused):.2g} times under all others" if refused else ""
            )
            best = group
    return Chosen(best, reason)


def _candidates(probe: Probe, extent, reading: Reading, fields: tuple[str, ...]) -> Group:
    """All elements that windows and boundary allow."""
    problem, dimension = probe.problem, probe.problem.dimension
    pool, straight = full(dimension, fields, negation=True).elements, tuple(range(dimension))
    if len(set(extent)) + len(set(reading.stride)) > 2:
        pool = [e for e in pool if e.axes == straight]
    fine = [e for e in pool if respects(e, problem.boundary, fields, problem.fill)]
    return Group(tuple(fine), fields)


def largest_group(elements: list[Element], fields: tuple[str, ...]) -> Group:
    """The largest closed group that two of these elements make; the first is the identity."""
    whole, best = Group(tuple(elements), fields), Group((elements[0],), fields)
    if whole.is_closed:
        return whole
    for first in elements:
        for second in elements:
            members, grown = set(), {elements[0], first, second}
            while len(grown) > len(members):
                members, grown = grown, grown | {a.compose(b) for a in grown for b in grown}
            if len(members) > len(best) and members <= set(elements):
                best = Group(tuple(e for e in elements if e in members), fields)
    return best

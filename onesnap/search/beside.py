"""What windows hold beside the state: its mean, potentials, position; by the errors of probes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..grid.boundary import both_sides
from ..grid.potentials import TYPES
from ..symmetry import Group
from .extents import Chosen
from .policy import POLICY
from .probe import Probe, Ranked, Reading, rank_extents


class BestReading(NamedTuple):
    """How windows are read, the reason, and the extents that do best with it."""

    reading: Reading
    reason: str
    ranked: list[Ranked]


def find_mean(probe: Probe, stride: tuple[int, ...]) -> Chosen:
    """Whether the mean is conserved, or irrelevant and hence removed, or an ordinary quantity."""
    problem, pairs = probe.problem, probe.problem.pairs
    if problem.fill is not None:
        return Chosen("keep", "some cells have no values")
    ends = [kind for pair in both_sides(problem.boundary, problem.dimension) for kind in pair]
    if not all(isinstance(kind, str) for kind in ends):
        return Chosen("keep", "a value is held at an edge, which tells levels apart")
    space = tuple(range(2, pairs.before.ndim))
    change = np.abs(pairs.after.mean(axis=space) - pairs.before.mean(axis=space)).max()
    if change <= POLICY.conserved * pairs.before.std():
        return Chosen("conserve", f"the mean changes by {change:.1e} a step")
    extent = tuple(min(2, (n - s) // 2) for n, s in zip(pairs.space, stride, strict=True))
    sampler = probe.sampler(extent, Reading(stride, "keep"))
    with_mean, without = probe.fit(sampler).error(), probe.fit(sampler, shifted=True).error()
    if with_mean > POLICY.telling * probe.change:
        return Chosen("keep", "no probe is good enough to judge")
    reason = f"held-out error without the window's mean {without / with_mean:.2g} of that with it"
    return Chosen("remove" if without <= POLICY.meanless * with_mean else "keep", reason)


def no_potential(probe: Probe, groups: Iterable[Group]) -> str:
    """Why there can be no potentials, in words; empty where there can be."""
    problem = probe.problem
    if problem.fill is not None or problem.pairs.missing is not None:
        return "cells without values have no potential"
    if any("periodic" not in ends for ends in both_sides(problem.boundary, problem.dimension)):
        return "potentials are those of a periodic grid"
    kinds = set(problem.kinds) if isinstance(problem.kinds, tuple) else set()
    if not kinds.union(*(group.fields for group in groups)) <= set(TYPES):
        return f"potentials are those of {' and '.join(TYPES)} fields"
    return ""


def find_potential(probe: Probe, reading: Reading, ranked: list[Ranked]) -> BestReading:
    """Whether windows of ∇Δ⁻¹u beside those of u help; only tried where these explain too little."""
    if ranked[0].error < POLICY.local * probe.change:
        return BestReading(reading, "windows of the state tell what a step does", ranked)
    extents = [extent for extent, _ in ranked]
    # A force that depends on the place may hide what potentials tell: they are tried with it too.
    tried = [(reading.position, probe)] + ([] if any(reading.position) else _placements(probe))
    seen, ratios = [], []
    for position, judge in tried:
        plain = replace(reading, position=())
        base = ranked if judge is probe else rank_extents(judge, plain, extents)
        placed = replace(reading, position=position, potential=True)
        seen.append(rank_extents(judge, placed, extents))
        ratios.append(seen[-1][0].error / max(base[0].error, 1e-300))
    reason = f"held-out error with potentials {min(ratios):.2g} of that without"
    if min(ratios) < POLICY.helps:
        return BestReading(replace(reading, potential=True), reason, seen[0])
    return BestReading(reading, reason, ranked)


def _placements(probe: Probe) -> list[tuple[tuple[int, ...], Probe]]:
    """Positions that may be told, along one axis or all, each with a probe that can judge it.

    Of few pairs only windows that lie at the same place along an axis tell place from state.
    """
    axes, few = range(probe.problem.dimension), len(probe.problem.pairs) < POLICY.few_pairs
    if few and len(axes) == 1:
        return []
    alone = [tuple(POLICY.cosines * (a == b) for b in axes) for a in axes]
    if few:
        return [(place, probe.along((a + 1) % len(axes))) for a, place in enumerate(alone)]
    return [(place, probe) for place in dict.fromkeys([*alone, (POLICY.cosines,) * len(axes)])]


def find_position(probe: Probe, reading: Reading, ranked: list[Ranked]) -> BestReading:
    """Whether telling the network where it is helps, along one axis or along all.

    Extents are compared with position anew: without it wide windows do best that guess the place.
    """
    placements = _placements(probe)
    if not placements:
        reason = f"fewer than {POLICY.few_pairs} pairs cannot tell place from state"
        return BestReading(reading, reason, ranked)
    if probe.problem.dimension > 1 and ranked[0].error < POLICY.visible * probe.change:
        return BestReading(reading, "windows of the state tell what a step does", ranked)
    extents, ratios = [extent for extent, _ in ranked], []
    chosen, best = reading, ranked
    for position, judge in placements:
        base = ranked if judge is probe else rank_extents(judge, reading, extents)
        placed = replace(reading, position=position)
        again = rank_extents(judge, placed, extents)
        ratios.append(again[0].error / max(base[0].error, 1e-300))
        if ratios[-1] < POLICY.helps:
            chosen, best = placed, again
            break
    listed = ", ".join(f"{ratio:.2g}" for ratio in ratios)
    return BestReading(chosen, f"held-out error with position {listed} of that without", best)

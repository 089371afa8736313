"""Drafts: plans with everything settled but what needs trial forecasts, the window and the noise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..grid.boundary import respects
from ..grid.windows import check_grid, per_axis, surplus
from ..model.plan import Plan
from ..symmetry import Group, trivial
from ..symmetry.representations import work
from .beside import find_mean, find_position, find_potential, no_potential
from .extents import Chosen, find_stride, list_windows
from .policy import POLICY
from .probe import Probe, Ranked, Reading, rank_extents
from .problem import Problem
from .symmetry import find_symmetry


@dataclass(frozen=True)
class Draft:
    """A plan whose noise, unless it was given, is only the first of those to be tried."""

    plan: Plan
    problem: Problem = field(repr=False)

    def replace(self, **changes) -> Draft:
        """The same with other settings."""
        return replace(self, plan=replace(self.plan, **changes))

    def because(self, setting: str, reason: str) -> Draft:
        """The same with a reason for a setting."""
        return self.replace(reasons={**self.plan.reasons, setting: reason})


class _Settling:
    """Settles one setting after the other, and keeps the reasons of those that were chosen."""

    def __init__(self, problem: Problem):
        self.problem, self.reasons = problem, dict[str, str]()

    def __call__(self, name: str, find: Callable[[], Chosen]) -> Any:
        if not self.problem.free(name):
            return self.problem.given[name]
        value, self.reasons[name] = find()
        return value


def make_drafts(probe: Probe) -> list[Draft]:
    """A draft for each size of windows that is worth a trial."""
    problem, given = probe.problem, probe.problem.given
    pairs, dimension = problem.pairs, problem.dimension
    settle = _Settling(problem)
    exact = given["averaging"] is not None
    stride = settle("stride", lambda: find_stride(pairs.space, exact))
    stride = per_axis("stride", stride, dimension, 1)
    mean = settle("mean", lambda: find_mean(probe, stride))
    reading, ranked = _read(probe, stride, mean, settle.reasons)
    extent = ranked[0].extent
    check_grid(pairs.space, extent, stride)

    def symmetry() -> Chosen:
        if any(reading.position):
            identity = trivial(dimension, ("scalar",) * problem.channels)
            return Chosen(identity, "position breaks every symmetry")
        return find_symmetry(probe, extent, reading)

    group = settle("symmetry", symmetry)
    group = trivial(dimension, ("scalar",) * problem.channels) if group is None else group
    for name, checked in (("symmetry", group), ("averaging", given["averaging"])):
        if checked is not None:
            _check_group(name, checked, problem, reading)
    # A grid that the stride does not divide is cut into other blocks when it is turned.
    exact = group.is_closed and not any(surplus(pairs.space, stride))
    equivariant = bool(given["equivariant"] and exact)
    hidden = int(settle("hidden", lambda: find_hidden(problem, stride, group, equivariant)))
    if equivariant and hidden:  # units come in whole orbits
        hidden = max(1, round(hidden / len(group))) * len(group)
    gain = float(settle("gain", lambda: Chosen(1.0, "that of the paper")))
    draft = Draft(
        Plan(
            extent=extent,
            stride=stride,
            hidden=hidden,
            activation=given["activation"],
            weights=given["weights"],
            gain=gain,
            noise=POLICY.floors[dimension][0] if problem.free("noise") else float(given["noise"]),
            noise_form="floor" if problem.free("noise_form") else given["noise_form"],
            rank=None if problem.free("rank") else given["rank"],
            shrinkage=given["shrinkage"] if hidden else np.inf,
            symmetry=group,
            equivariant=equivariant,
            context=reading.position,
            potential=reading.potential,
            mean=mean,
            seed=given["seed"],
            reasons=settle.reasons,
        ),
        problem,
    )
    if not problem.free("extent") or not hidden:
        return [draft]
    windows = list_windows(pairs.space, stride, problem.channels, ranked)
    if not problem.free("rank"):
        windows = list(dict.fromkeys(w._replace(rank=given["rank"]) for w in windows))
    return [draft.replace(extent=(w.extent,) * dimension, rank=w.rank) for w in windows]


def _read(
    probe: Probe, stride: tuple[int, ...], mean: str, reasons: dict[str, str]
) -> tuple[Reading, list[Ranked]]:
    """How windows are read, and the extents that do best so; reasons are added."""
    problem, given, dimension = probe.problem, probe.problem.given, probe.problem.dimension
    cosines = 0 if problem.free("context") else given["context"]
    potential = not problem.free("potential") and bool(given["potential"])
    reading = Reading(stride, mean, per_axis("context", cosines, dimension, 0), potential)
    groups = [given[name] for name in ("symmetry", "averaging") if isinstance(given[name], Group)]
    refusal = no_potential(probe, groups)
    if potential and refusal:
        raise ValueError(f"potential: expected False, for {refusal}")
    extents: list[tuple[int, ...]] = []
    if not problem.free("extent"):
        extents = [per_axis("extent", given["extent"], dimension, 0)]
        check_grid(problem.pairs.space, extents[0], stride)
    check_averaging(given["averaging"], problem.pairs.space, stride)
    if extents and not problem.free("context"):
        return reading, [Ranked(extents[0], 0.0)]
    ranked = rank_extents(probe, reading, extents)
    if problem.free("potential") and refusal:
        reasons["potential"] = refusal
    elif problem.free("potential"):
        reading, reasons["potential"], ranked = find_potential(probe, reading, ranked)
    if problem.free("context"):
        if isinstance(given["symmetry"], Group) and len(given["symmetry"]) > 1:
            reasons["context"] = "a symmetry was given, which position would break"
        else:
            reading, reasons["context"], ranked = find_position(probe, reading, ranked)
    return reading, ranked


def _check_group(name: str, group: Group, problem: Problem, reading: Reading) -> None:
    """Raise unless a group acts on these fields, and leaves boundary and position as they are."""
    if (group.dimension, group.channels) != (problem.dimension, problem.channels):
        raise ValueError(
            f"{name}: expected a group that acts on {problem.channels} channel(s) in "
            f"{problem.dimension} dimension(s), got one for {group.channels} in {group.dimension}"
        )
    refused = [
        element
        for element in group.elements
        if not respects(element, problem.boundary, group.fields, problem.fill)
    ]
    if refused:
        raise ValueError(
            f"{name}: {len(refused)} of {len(group)} elements do not leave the boundary "
            f"{problem.boundary!r} as it is; give a group without them, or None"
        )
    if any(reading.position) and len(group) > 1:
        raise ValueError(f"{name}: position breaks every symmetry; give context=0 or no group")


def find_hidden(problem: Problem, stride: tuple[int, ...], group: Group, equivariant: bool) -> Chosen:
    """As many features as the windows can feed, within what a fit and a forecast may cost.

    Rows are all windows under all elements; where windows abound, each under one.
    """
    pairs, elements = problem.pairs, len(group)
    windows = len(pairs) * min(pairs.cells, problem.given["windows"] or pairs.cells)
    blocks = int(np.prod([-(-n // step) for n, step in zip(pairs.space, stride, strict=True)]))
    fed = min(POLICY.hidden, POLICY.fed * windows * elements)
    # What a row costs, relative to one without symmetry, by the number of rows.
    costs: Mapping[int, float] = {
        windows: 1.0,
        windows * elements: work(group) / elements if equivariant else 1.0,
    }
    for rows, cost in costs.items():
        affordable = np.sqrt(POLICY.fit_work[group.dimension] / rows / cost)
        fed = max(fed, min(rows / POLICY.plenty, affordable, POLICY.step_work / blocks))
    hidden = int(np.clip(fed, POLICY.least_hidden, POLICY.most_hidden))
    return Chosen(hidden, f"{windows} windows under {elements} symmetries")


def check_averaging(group: Group | None, space, stride) -> None:
    """Raise unless blocks lie on blocks when the grid is turned, as exact equivariance needs."""
    if group is not None and len(group) > 1 and any(surplus(space, stride)):
        raise ValueError(
            f"averaging: stride {stride} does not divide the grid {tuple(space)}, so that a turned "
            "grid would be cut into other blocks; give a stride that does, or averaging=None"
        )

"""What was given, and what the search starts with where it was not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..grid.boundary import respects
from ..grid.windows import check_grid, per_axis, surplus
from ..model.plan import Plan
from ..symmetry import Group
from .beside import no_potential
from .extents import find_stride
from .policy import POLICY
from .problem import Problem
from .symmetry import no_group

PAPER_NOISE = 1e-4
SIZES = ("extent", "hidden")  # where these are given, the family is that of the paper


def first_plan(problem: Problem) -> Plan:
    """Everything as given, or as the search starts with it."""
    given, dimension, reasons = problem.given, problem.dimension, dict[str, str]()
    stride, reasons["stride"] = find_stride(problem)
    if not problem.free("stride"):
        stride = per_axis("stride", given["stride"], dimension, 1)
        del reasons["stride"]

    def value(name: str, start: Any) -> Any:
        return start if problem.free(name) else given[name]

    # Where window and units are given, what goes with them is as in the paper.
    trials = any(problem.free(name) for name in SIZES)

    extent = per_axis("extent", value("extent", 0), dimension, 0)
    check_grid(problem.pairs.space, extent, stride)
    check_averaging(given["averaging"], problem.pairs.space, stride)
    group = value("symmetry", None) or no_group(problem)
    hidden = int(value("hidden", POLICY.units))
    form = value("noise_form", "isotropic")
    noise = PAPER_NOISE if form == "sampled" else POLICY.above(problem.floor).noises[0]
    plan = Plan(
        extent=extent,
        stride=stride,
        hidden=hidden,
        activation=given["activation"],
        weights=given["weights"],
        gain=float(value("gain", POLICY.gains[0])),
        noise=float(value("noise", noise)),
        noise_form=form,
        rank=value("rank", None),
        shrinkage=value("shrinkage", 0.0 if trials else None) if hidden else np.inf,
        symmetry=group,
        equivariant=bool(given["equivariant"] and group.is_closed),
        context=per_axis("context", value("context", 0), dimension, 0),
        potential=bool(value("potential", False)),
        surroundings=tuple(value("surroundings", ())),
        mean=value("mean", "keep"),
        windows=value("windows", None),
        seed=given["seed"],
        lag=problem.lag.steps,
        history=problem.given["history"],
        reasons=reasons | ({"lag": problem.lag.reason} if problem.lag.reason else {}),
    )
    _check(problem, plan)
    return _in_orbits(problem, plan)


def _in_orbits(problem: Problem, plan: Plan) -> Plan:
    """Units come in whole orbits where that is exact: not if the stride cuts turned grids apart."""
    cut = any(surplus(problem.pairs.space, plan.stride)) and len(plan.symmetry) > 1
    plan = replace(plan, equivariant=plan.equivariant and not cut)
    if plan.equivariant and plan.hidden:
        size = len(plan.symmetry)
        plan = replace(plan, hidden=max(1, round(plan.hidden / size)) * size)
    return plan


def _check(problem: Problem, plan: Plan) -> None:
    """Raise unless what was given goes together."""
    for name in ("symmetry", "averaging"):
        if isinstance(group := problem.given[name], Group):
            _check_group(name, group, problem, plan)
    groups = [problem.given[n] for n in ("symmetry", "averaging")]
    refusal = no_potential(problem, [g for g in groups if isinstance(g, Group)])
    if plan.potential and refusal:
        raise ValueError(f"potential: expected False, for {refusal}")


def _check_group(name: str, group: Group, problem: Problem, plan: Plan) -> None:
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
    if any(plan.context) and len(group) > 1:
        raise ValueError(f"{name}: position breaks every symmetry; give context=0 or no group")


def check_averaging(group: Group | None, space, stride) -> None:
    """Raise unless blocks lie on blocks when the grid is turned, as exact equivariance needs."""
    if group is not None and len(group) > 1 and any(surplus(space, stride)):
        raise ValueError(
            f"averaging: stride {stride} does not divide the grid {tuple(space)}, so that a turned "
            "grid would be cut into other blocks; give a stride that does, or averaging=None"
        )

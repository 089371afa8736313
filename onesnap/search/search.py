"""The search: everything that was not given, stage by stage, by one rule and one gate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..grid.boundary import respects
from ..grid.windows import check_grid, per_axis, surplus
from ..model.plan import Plan
from ..symmetry import Group
from .beside import find_beside, find_mean, no_potential
from .build import Parts, make_parts
from .extents import find_stride, rank_extents
from .folds import make_folds, ordered
from .gate import Passed, larger_noises, pass_gate
from .growth import grow
from .held_out import Judge
from .option import Option, constant, persistence, weigh
from .policy import POLICY
from .problem import Problem
from .rule import in_words, simplest
from .symmetry import find_symmetry, no_group

PAPER_NOISE = 1e-4
SIZES = ("extent", "hidden")  # where these are given, the family is that of the paper
TOLD = ("symmetry", "context", "mean")  # still found then


class Noise(NamedTuple):
    """A form of noise on the inputs, and its deviation in units of their range."""

    form: str
    size: float


@dataclass(frozen=True)
class Settled:
    """A plan, the parts of its model, and the noises to go on to where it is not steady."""

    plan: Plan
    parts: Parts
    noises: tuple[Noise, ...]  # that of the plan first
    readout: np.ndarray | None = None  # of a mean state or of persistence, which learn nothing
    warnings: tuple[str, ...] = ()


def settle(problem: Problem) -> Settled:
    """Choose everything that was not given."""
    problem = replace(problem, pairs=ordered(problem.pairs))
    plan = first_plan(problem)
    judge = _judge(problem, plan)
    if not any(problem.free(name) for name in (*SIZES, *TOLD)):
        return _settled(judge, plan, None)
    if problem.free("mean"):
        mean, why = find_mean(judge, plan)
        plan = replace(plan, mean=mean, reasons={**plan.reasons, "mean": why})
    option = rank_extents(judge, plan)
    if option is None:
        return _unjudged(judge, plan)
    if any(problem.free(name) for name in SIZES):
        option = _with_gain(judge, option)
    judge, option = find_beside(judge, option)
    if problem.free("symmetry"):
        option = _with_symmetry(judge, option)
    contenders, units = grow(judge, option)
    passed = pass_gate(judge, contenders or [option])
    if (simple := _simple(judge, passed.option)) is not None:
        return simple
    return _settled(judge, _explained(judge, passed, units), passed)


def _judge(problem: Problem, plan: Plan) -> Judge:
    placed = [axis for axis, cosines in enumerate(plan.context) if cosines]
    policy = POLICY.scaled(problem.given["effort"])
    return Judge(problem, make_folds(problem.pairs, placed), policy)


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
    noise = PAPER_NOISE if form == "sampled" else POLICY.noises[0]
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
        seed=given["seed"],
        reasons=reasons,
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


def _with_gain(judge: Judge, option: Option) -> Option:
    """The gain of random weights, if another than the first is better by a standard error."""
    if not judge.problem.free("gain") or not option.plan.hidden:
        return option
    words = [f"{option.plan.gain:g}: {in_words(option.errors)}"]
    best = option
    for gain in judge.policy.gains[1:]:
        other = weigh(judge, replace(option.plan, gain=gain, shrinkage=0.0))
        if other is not None:
            words.append(f"{gain:g}: {in_words(other.errors)}")
            best = other if other.beats(best) else best
    return best.because("gain", f"held-out error {', '.join(words)}")


def _with_symmetry(judge: Judge, option: Option) -> Option:
    problem, plan = judge.problem, option.plan
    if any(plan.context):
        return option.because("symmetry", "position breaks every symmetry")
    if not problem.given["equivariant"] or any(surplus(problem.pairs.space, plan.stride)):
        return option.because("symmetry", "blocks of a turned grid would be cut apart")
    return find_symmetry(judge, option)


def _simple(judge: Judge, option: Option) -> Settled | None:
    """A mean state, or persistence, where nothing else is better by more than a standard error."""
    problem, plan = judge.problem, option.plan
    if not problem.free("hidden", "shrinkage"):
        return None
    inputs, pairs = option.trial.parts.sampler.inputs, problem.pairs
    state = pairs.after.mean(axis=(0, *range(2, pairs.after.ndim)))
    state = 0.0 * state if plan.mean == "remove" else state
    units = np.zeros((option.trial.parts.layer.features.hidden, inputs.outputs))
    members = {"mean": constant(inputs, state), "persistence": persistence(inputs)}
    errors = {
        name: option.trial.judge(np.concatenate([readout, units]))
        for name, readout in members.items()
    }
    chosen = simplest([*errors.values(), option.errors])
    if chosen == len(errors):
        return None
    name = list(errors)[chosen]
    words = f"{in_words(errors[name])} of the change a step makes; {in_words(option.errors)} at best"
    plan = replace(
        plan, extent=(0,) * problem.dimension, hidden=0, shrinkage=np.inf, rank=None,
        symmetry=no_group(problem), context=(0,) * problem.dimension, potential=False, surroundings=(),
        member=name, noise=0.0, reasons={"member": words, "noise": "nothing is learned"},
    )  # fmt: skip
    parts = make_parts(plan, problem)
    inputs = parts.sampler.inputs
    readout = persistence(inputs) if name == "persistence" else constant(inputs, state)
    warning = (
        f"nothing that was tried is better than {'persistence' if name == 'persistence' else 'the mean state'} "
        f"on held-out data ({in_words(option.errors)} of the change a step makes, at best), which is what this "
        "model forecasts; give more pairs spread over time, or a smaller step"
    )
    return Settled(plan, parts, (Noise(plan.noise_form, 0.0),), readout, (warning,))


def _explained(judge: Judge, passed: Passed, units: int) -> Plan:
    """The plan of what passed the gate, as all windows will be fitted."""
    option, stability = passed
    plan, problem, reasons = option.plan, judge.problem, {}
    if problem.free("noise") and plan.noise_form != "sampled":
        reasons["noise"] = f"{stability.reason}; held-out error {in_words(option.errors)}"
    if problem.free("shrinkage"):
        reasons["shrinkage"] = "the largest within a standard error of the best"
    linear = plan.hidden and np.isinf(plan.shrinkage or 0.0)
    if linear and problem.free("hidden"):
        units, reasons["hidden"] = 0, "random units add nothing to a linear window"
    plan = replace(plan, hidden=units, reasons={**plan.reasons, **reasons})
    if problem.free("rank") and plan.hidden:
        # Directions that vary by less than the noise tell nothing.
        variances = option.trial.parts.layer.variances
        rank = int(np.sum(variances > plan.noise**2))
        if 0 < rank < len(variances):
            words = f"of {len(variances)} directions, those that vary by more than the noise"
            plan = replace(plan, rank=rank, reasons={**plan.reasons, "rank": words})
    return plan


def _settled(judge: Judge, plan: Plan, passed: Passed | None) -> Settled:
    """The parts of a plan, and the noises to go on to."""
    sizes = [plan.noise]
    if judge.problem.free("noise") and plan.noise_form != "sampled":
        sizes += larger_noises(judge, plan.noise)
    noises = tuple(Noise(plan.noise_form, size) for size in sizes)
    words = []
    if passed is not None and "largest tried" in plan.reasons.get("extent", ""):
        words.append(
            "the best window is the largest tried: a step may reach farther; give a larger extent, a "
            "smaller step, or effort='thorough'"
        )
    return Settled(plan, make_parts(plan, judge.problem), noises, warnings=tuple(words))


def _unjudged(judge: Judge, plan: Plan) -> Settled:
    """Where nothing can be held out: a small window, and a word of warning."""
    words = "too little data to hold any of it out: nothing was chosen by error; give more pairs"
    chosen = any(judge.problem.free(name) for name in SIZES)
    return replace(_settled(judge, plan, None), warnings=(words,) if chosen else ())


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

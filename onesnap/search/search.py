"""The search: everything that was not given, stage by stage, by one rule and one gate."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..grid.windows import surplus
from ..model.plan import Plan
from .beside import find_beside, find_mean
from .build import Parts, make_parts
from .extents import check_window, rank_extents
from .folds import make_folds, ordered
from .gate import Passed, larger_noises, pass_gate
from .given import SIZES, first_plan
from .growth import Grown, grow, orbit, share
from .held_out import Judge
from .option import Option, least, weigh
from .policy import POLICY
from .problem import Problem
from .rule import comparable, in_words
from .simple import find_simple
from .symmetry import find_symmetry
from .visited import check_visited

TOLD = ("symmetry", "context", "mean")  # still found then

Chosen = tuple[Judge, Option]

log = logging.getLogger(__name__)  # tells of each stage as it ends, at the level INFO


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
    lasted: int = 0  # steps of trial forecasts of the choice, where none was steady
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
    chosen = _choose(judge, plan)
    if chosen is None:
        return _unjudged(judge, plan)
    chosen, (contenders, units) = _placed(judge, plan, chosen)
    if not units and plan.hidden:
        # What windows and units were chosen by together need not suit a window alone.
        chosen = _choose(judge, replace(plan, hidden=0)) or chosen
        contenders = [chosen[1]]
    judge, option = chosen
    _tell("random units", least(contenders) or option)
    passed = pass_gate(judge, contenders or [option])
    if units and np.isinf(passed.option.setting.shrinkage or 0.0):
        judge, passed = _alone(judge, plan, passed)
    _tell("trial forecasts", passed.option)
    steady = passed.stability.steady or not problem.free("noise")
    useful = np.inf if steady else passed.useful
    if (simple := find_simple(judge, passed.option, useful)) is not None:
        noises = (Noise(simple.plan.noise_form, 0.0),)
        return Settled(simple.plan, simple.parts, noises, 0, simple.readout, (simple.warning,))
    return _settled(judge, _explained(judge, passed, units), passed)


def _alone(judge: Judge, plan: Plan, passed: Passed) -> tuple[Judge, Passed]:
    """A linear window that passed the gate, or one that was chosen alone if that is better."""
    chosen = _choose(judge, replace(plan, hidden=0))
    if chosen is None:
        return judge, passed
    other = pass_gate(chosen[0], [chosen[1]])
    lasting = other.stability.steady or not passed.stability.steady
    return (chosen[0], other) if lasting and other.error < passed.error else (judge, passed)


def _placed(judge: Judge, plan: Plan, chosen: Chosen) -> tuple[Chosen, Grown]:
    """What was chosen, with as many units as pay; told its position only where units do not tell it.

    A window that is told where it is knows a trajectory by heart, and gives up every symmetry. With
    few units that looks like knowledge.
    """
    (placed, option), grown = chosen, grow(*chosen)
    if not any(option.plan.context) or not judge.problem.free("context"):
        return chosen, grown
    anywhere = {**judge.problem.given, "context": 0}
    other = _choose(replace(judge, problem=replace(judge.problem, given=anywhere)), plan)
    if other is None:
        return chosen, grown
    without = grow(*other)
    best, base = least(without.contenders) or other[1], least(grown.contenders) or option
    if np.exp(best.error) > judge.policy.explained:
        same = weigh(placed, best.trial.plan, [best.setting.shrinkage])  # as the other is judged
        if same is None or base.beats(same):
            return chosen, grown
    words = f"held-out error {in_words(base.errors)} with it, {in_words(best.errors)} without"
    named = [contender.because("context", words) for contender in without.contenders]
    return (other[0], other[1].because("context", words)), Grown(named, without.units)


def _choose(judge: Judge, plan: Plan) -> Chosen | None:
    """The window, what it is told, and its symmetry; None where nothing can be judged."""
    option, problem = rank_extents(judge, plan), judge.problem
    if option is None:
        return None
    if any(problem.free(name) for name in SIZES):
        option = _with_gain(judge, option)
    _tell("windows", option)
    judge, option = find_beside(judge, option)
    _tell("what they are told", option)
    if problem.free("symmetry"):
        option = _with_symmetry(judge, option)
        _tell("symmetry", option)
    return judge, option


def _tell(stage: str, option: Option) -> None:
    log.info("%s: held-out error %s of the change a step makes", stage, in_words(option.errors))


def _judge(problem: Problem, plan: Plan) -> Judge:
    placed = [axis for axis, cosines in enumerate(plan.context) if cosines]
    policy = POLICY.scaled(problem.given["effort"]).above(problem.floor)
    return Judge(problem, make_folds(problem.pairs, placed), policy)


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


def _explained(judge: Judge, passed: Passed, units: int) -> Plan:
    """The plan of what passed the gate, as all windows will be fitted."""
    option, stability = passed.option, passed.stability
    plan, problem, reasons = option.plan, judge.problem, {}
    if problem.free("noise") and plan.noise_form != "sampled":
        reasons["noise"] = f"{stability.reason}; held-out error {in_words(option.errors)}"
    if problem.free("shrinkage"):
        reasons["shrinkage"] = "of least held-out error; a linear window where that is comparable"
    if problem.free("hidden") and np.isinf(plan.shrinkage or 0.0):
        units, reasons["hidden"] = 0, "random units add nothing that is steady to a linear window"
    plan = replace(plan, hidden=units, reasons={**plan.reasons, **reasons})
    if problem.free("rank") and plan.hidden:
        plan = _with_rank(judge, plan, option)
    return _with_windows(judge, plan, option) if problem.free("windows", "hidden") else plan


def _with_rank(judge: Judge, plan: Plan, option: Option) -> Plan:
    """The directions that vary by more than the noise, if they do as well as all of them."""
    variances = option.trial.parts.layer.variances
    rank = int(np.sum(variances > plan.noise**2))
    # Of round-off, nothing is known.
    if not 0 < rank < len(variances) or plan.noise**2 <= np.finfo(float).eps * variances.sum():
        return plan
    few = weigh(judge, replace(option.plan, rank=rank), [option.setting.shrinkage])
    if few is None:
        return plan
    words = f"held-out error {in_words(few.errors)} with the {rank} of {len(variances)} directions "
    words += f"that vary by more than the noise, {in_words(option.errors)} with all"
    taken = rank if comparable(few.errors, option.errors) else None
    return replace(plan, rank=taken, reasons={**plan.reasons, "rank": words})


def _with_windows(judge: Judge, plan: Plan, option: Option) -> Plan:
    """Plenty of windows for each column of the readout, and more as long as they cost little."""
    problem, policy, layer = judge.problem, judge.policy, option.trial.parts.layer
    columns = layer.columns + (plan.hidden - option.plan.hidden) // orbit(plan)
    work = plan.hidden * (plan.hidden * share(plan) + len(layer.variances)) + 1
    wanted = max(policy.plenty * columns, int(policy.cheap * policy.work / work))
    windows = -(-wanted // problem.learned)
    if windows >= problem.pairs.cells:
        return plan
    words = f"{wanted / columns:.0f} in all for each of {columns} columns: more would change little"
    return replace(plan, windows=windows, reasons={**plan.reasons, "windows": words})


def _settled(judge: Judge, plan: Plan, passed: Passed | None) -> Settled:
    """The parts of a plan, and the noises to go on to."""
    sizes = [plan.noise]
    if judge.problem.free("noise") and plan.noise_form == "sampled":
        plan = replace(plan, reasons={**plan.reasons, "noise": "the paper's"})
    elif judge.problem.free("noise"):
        sizes += larger_noises(judge, plan.noise)
        first = {"noise": "of little cost, and trial forecasts of the fit are steady"}
        plan = replace(plan, reasons=first | dict(plan.reasons))
    noises = tuple(Noise(plan.noise_form, size) for size in sizes)
    words = check_window(judge, plan)
    if passed is not None and "largest tried" in plan.reasons.get("extent", ""):
        words.append(
            "the best window is the largest tried: a step may reach farther; give a larger extent, a "
            "smaller step, or effort='thorough'"
        )
    if passed is not None and passed.stability.steady:
        words += check_visited(passed.doubt)
    # Where the gate found none steady, it weighed what a longer life costs: as long will do.
    lasted = 0 if passed is None or passed.stability.steady else passed.stability.lasted
    parts = make_parts(plan, judge.problem)
    return Settled(plan, parts, noises, lasted, warnings=tuple(words))


def _unjudged(judge: Judge, plan: Plan) -> Settled:
    """Where nothing can be held out: a small linear window, and a word of warning."""
    if judge.problem.free("hidden", "shrinkage"):
        plan = replace(plan, hidden=0, shrinkage=np.inf)
    words = "too little data to hold any of it out: nothing was chosen by error; give more pairs"
    chosen = any(judge.problem.free(name) for name in SIZES)
    return replace(_settled(judge, plan, None), warnings=(words,) if chosen else ())

"""The search: extent, rank and noise by trial, the least error with which a forecast stays in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..model.plan import Plan
from .build import Parts, make_parts
from .candidate import Candidate, Noise, Trial, make_candidate
from .draft import Draft, make_drafts
from .extents import check_window
from .folds import Split
from .policy import POLICY
from .probe import Reading, make_probe
from .problem import Problem


@dataclass(frozen=True)
class Settled:
    """A plan, the parts of its model, and the noises to go on to where it is not steady."""

    plan: Plan
    parts: Parts
    noises: tuple[Noise, ...]  # that of the plan first
    warnings: tuple[str, ...] = ()


def settle(problem: Problem) -> Settled:
    """Choose everything that was not given."""
    probe = make_probe(problem)
    drafts = make_drafts(probe)
    plan = drafts[0].plan
    if len(drafts) == 1 and not problem.free("noise"):
        settled = Settled(plan, make_parts(plan, problem), (Noise(plan.noise_form, plan.noise),))
    else:
        judge = probe
        free = [axis for axis, cosines in enumerate(plan.context) if not cosines]
        if plan.potential and free:
            # They vary slowly: of states that follow each other only a part of space is unseen.
            judge = probe.along(free[0])
        settled = _search(drafts, judge.split)
    plan = settled.plan
    reading = Reading(plan.stride, plan.mean, plan.context, plan.potential)
    words = check_window(probe, plan.extent, reading)
    return replace(settled, warnings=(words,)) if words else settled


def _search(drafts: list[Draft], split: Split) -> Settled:
    """The best draft; those beyond the first few are tried only if none of these is steady."""
    first = POLICY.first_drafts[drafts[0].problem.dimension]
    best = _best(drafts[:first], split)
    if drafts[first:] and not best.stability.steady:
        others = _best(drafts[first:], split)
        best = max(best, others, key=lambda trial: trial.stability.lasted)
    candidate, schedule = best.candidate, best.candidate.schedule
    noises = schedule if best.stability.steady else schedule[:1]
    return Settled(candidate.plan, candidate.fitted.parts, noises)


def _best(drafts: list[Draft], split: Split) -> Trial:
    """The best of some drafts.

    The candidate with the least error is tried first; one that fails goes back with more noise.
    """
    problem, hidden = drafts[0].problem, drafts[0].plan.hidden
    waiting = _candidates(drafts, split)
    line = problem.dimension == 1 and problem.free("noise", "noise_form")
    if line and problem.free("rank") and hidden:
        narrow = _candidates([_narrowed(c, hidden) for c in waiting], split)
        waiting = _better(narrow, waiting)
    ranked = list(waiting)
    if line:
        waiting += [c.everywhere() for c in waiting if c.draft.plan.noise_form == "floor"]
    # What survives by flattening everything is no forecast: errors must be near the least one.
    enough, trials = POLICY.sound * min(c.error for c in ranked), list[Trial]()
    while waiting and not (trials and trials[-1].stability.steady):
        candidate = min(waiting, key=lambda c: c.error)
        waiting.remove(candidate)
        if trials and candidate.error > enough:
            break
        trials.append(candidate.run())
        waiting += candidate.calmer()
    best = min(trials, key=lambda trial: (-trial.stability.lasted, trial.candidate.error))
    return best._replace(candidate=_explained(best, ranked, several=len(drafts) > 1))


def _explained(best: Trial, ranked: list[Candidate], several: bool) -> Candidate:
    """The candidate of a trial, with the reasons why it was taken."""
    candidate, problem = best.candidate, best.candidate.draft.problem
    if several:
        errors = {(c.draft.plan.extent[0], c.draft.plan.rank): c.error for c in ranked}
        base = min(errors.values())
        listed = ", ".join(
            f"{extent}{f'/{rank}' if rank else ''}: {error / base:.2g}"
            for (extent, rank), error in errors.items()
        )
        candidate = candidate.because(
            "extent", f"error on unseen windows, with the least noise: {listed}"
        )
        if problem.free("rank") and "rank" not in candidate.draft.plan.reasons:
            candidate = candidate.because("rank", "as the extent, which is listed with it")
    if candidate.draft.plan.noise_form != "sampled" and problem.free("noise"):
        candidate = candidate.because("noise", best.stability.reason)
    return candidate


def _better(narrow: list[Candidate], whole: list[Candidate]) -> list[Candidate]:
    """Those that see only directions that vary, if they clearly err less; else the others.

    What hardly varies, beside what a step changes, tells little, but a readout amplifies it: seams
    between blocks are such directions, and what wide windows diverge by. Noise can then be small.
    But where states to come are unlike those learned from, it is these directions that they vary in.
    """
    least = [min(candidate.error for candidate in family) for family in (narrow, whole)]
    ratio = least[0] / max(least[1], 1e-300)
    reason = (
        f"directions that vary by {POLICY.still:g} of what a step changes: {ratio:.2g} of the error "
        "of all"
    )
    return [c.because("rank", reason) for c in (narrow if ratio < POLICY.clearly else whole)]


def _narrowed(candidate: Candidate, hidden: int) -> Draft:
    """The draft of a candidate with the directions that vary enough, and noise in all of them."""
    pairs, scaling = candidate.draft.problem.pairs, candidate.fitted.parts.sampler.inputs.scaling
    width = (scaling.high - scaling.low).reshape(-1, *(1,) * len(pairs.space))
    change = np.mean(((pairs.after - pairs.before) / width) ** 2)
    rank = max(1, int(np.sum(candidate.fitted.parts.layer.variances > POLICY.still**2 * change)))
    return candidate.draft.replace(rank=rank, hidden=hidden, noise_form="isotropic")


def _candidates(drafts: list[Draft], split: Split) -> list[Candidate]:
    """A candidate of each draft, those that promise something with as many units as pay."""
    small = [_with_gain(_small(draft), split) for draft in drafts]
    promising = POLICY.sound * min(candidate.error for candidate in small)
    return [
        _grown(candidate, draft.plan.hidden, split) if candidate.error < promising else candidate
        for candidate, draft in zip(small, drafts, strict=True)
    ]


def _small(draft: Draft) -> Draft:
    """The draft with the hidden units that a trial starts with, unless their number is given."""
    if not draft.problem.free("hidden"):
        return draft
    orbit = len(draft.plan.symmetry) if draft.plan.equivariant else 1
    units = max(1, POLICY.trial_hidden // orbit) * orbit
    return draft.replace(hidden=min(units, draft.plan.hidden))


def _with_gain(draft: Draft, split: Split) -> Candidate:
    """The candidate of this draft with the gain of least held-out error."""
    free = draft.problem.free("gain") and draft.plan.hidden
    gains = POLICY.gains[draft.problem.dimension] if free else (draft.plan.gain,)
    tried = [make_candidate(draft.replace(gain=gain), split) for gain in gains]
    best = min(tried, key=lambda candidate: candidate.error)
    listed = ", ".join(f"{c.draft.plan.gain:g}: {c.error / best.error:.2g}" for c in tried)
    return best.because("gain", f"error on unseen windows {listed}") if len(tried) > 1 else best


def _grown(best: Candidate, most: int, split: Split) -> Candidate:
    """The candidate with hidden units doubled as long as it pays, up to a number."""
    while 0 < (units := best.draft.plan.hidden) <= 0.8 * most:
        more = min(2 * units, most)
        larger = make_candidate(best.draft.replace(hidden=more), split)
        ratio = f"{larger.error / best.error:.2g} of the error on unseen windows with {units}"
        if larger.error > POLICY.pays ** np.log2(more / units) * best.error:
            return best.because("hidden", f"{more} would leave {ratio}")
        best = larger.because("hidden", ratio)
    return best

"""Noise and rank by trial: the least noise with which a forecast of the model stays in range.

One-step errors say little about stability: a readout that amplifies directions which the data
never visits predicts every held-out window well, and blows up when it is fed its own output.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from . import choices, lstsq, readout
from .features import Context, draw
from .planning import Plan
from .readout import Layer
from .rollout import excess_of, forecast
from .rows import Cutter, Pairs, principal
from .scaling import Scaling, widen
from .stepper import Stepper

NOISES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)  # tried in turn, in units of the range
PAPER_NOISE = 1e-4
PLENTY = 50  # windows for each hidden unit, from which on symmetric copies teach little more
TRIAL_ROWS = 12_000
TRIAL_CELLS = 20_000_000  # cells times steps of a trial forecast, at most
STEADY = 0.3  # by how many ranges a trial forecast may leave the training range


def make_cutter(plan: Plan, given: Mapping[str, Any], pairs: Pairs) -> Cutter:
    """How the pairs of this plan are cut into rows."""
    cutter = choices.make_cutter(
        pairs,
        plan.extent,
        plan.stride,
        plan.mean,
        plan.symmetry,
        plan.context,
        boundary=given["boundary"],
        windows=given["windows"],
        # Where windows abound each is seen under one element: all windows, all elements, one cost.
        share="symmetry" in plan.reasons and len(pairs) * pairs.cells >= PLENTY * plan.hidden,
        noise=float(plan.noise) if plan.noise_form == "sampled" else 0.0,
        seed=plan.seed,
    )
    if isinstance(given["scaling"], str) and given["scaling"] == "range":
        return cutter
    try:
        low, high = (np.broadcast_to(end, len(cutter.scaling.low)) for end in given["scaling"])
        fine = bool(np.all(low < high))
    except (TypeError, ValueError):
        fine = False
    if not fine:
        raise ValueError(
            "scaling: expected 'range', or (low, high) with low < high, each a number or one a "
            f"channel, got {given['scaling']!r}"
        )
    return replace(cutter, scaling=Scaling(*widen(low, high), plan.mean))


def tune(plan: Plan, given: Mapping[str, Any], pairs: Pairs) -> tuple[Plan, Cutter, Layer]:
    """Settle noise and rank, and draw the random layer."""
    reasons = dict(plan.reasons)
    if plan.noise_form == "sampled" and plan.noise == "auto":
        plan, reasons["noise"] = replace(plan, noise=PAPER_NOISE), "the paper's"
    cutter = make_cutter(plan, given, pairs)
    share = max(1, TRIAL_ROWS // (len(pairs) * len(plan.symmetry)))
    few = replace(cutter, windows=min(share, cutter.windows or share), share=False, noise=0.0)
    variances, directions = principal(few.rows(pairs))
    beside = plan.context * len(pairs.space) + pairs.parameters.shape[1]

    def layer(noise) -> Layer:
        rank = plan.rank
        if rank == "auto":
            rank = int(np.sum(variances >= noise**2)) if plan.noise_form == "floor" else None
        basis = None if rank is None or rank >= len(variances) else directions[:, : max(1, rank)]
        features = draw(len(variances), beside, plan.hidden, plan.activation, plan.seed, basis=basis)
        return Layer(features, variances, directions, plan.noise_form)

    if plan.noise == "auto":
        reasons["noise"] = "the least tried with which a trial forecast stays in range"
        for noise in NOISES:
            found, plan = layer(noise), replace(plan, noise=noise)
            moments = lstsq.init(found.features.hidden, cutter.outputs)
            moments = readout.absorb(moments, found.features, few.rows(pairs))
            if is_steady(make_stepper(cutter, found, found.solve(moments, noise), pairs), pairs):
                break
    else:
        found = layer(plan.noise)
    basis = found.features.basis
    if plan.rank == "auto":
        reasons["rank"] = "the window directions that vary more than the noise"
    rank = None if basis is None else basis.shape[1]
    return replace(plan, rank=rank, reasons=reasons), cutter, found


def make_stepper(cutter: Cutter, layer: Layer, weights: np.ndarray, pairs: Pairs) -> Stepper:
    """Put the parts together; the context of the last pair is bound to it."""
    told = cutter.context
    context = Context(told.position, pairs.parameters[-1], pairs.fields[-1], told.low, told.high)
    return Stepper(
        cutter.scaling,
        layer.features,
        weights,
        context,
        cutter.extent,
        cutter.stride,
        cutter.boundary,
    )


def is_steady(stepper: Stepper, pairs: Pairs) -> bool:
    """Whether a forecast from the last state neither diverges nor wanders off."""
    steps = int(np.clip(TRIAL_CELLS / pairs.before[0].size, 50, 2000))
    every = max(1, steps // 20)
    trial = forecast(stepper, pairs.after[-1:], steps, every)[0]
    return trial.diverged_at is None and excess_of(stepper, trial.states) <= STEADY

"""Members of an ensemble, drawn when they are first asked for."""

from __future__ import annotations

from dataclasses import replace

from ..evaluate.calibration import calibrate
from ..evaluate.ensemble import draw_members
from ..search.search import Noise
from .record import Fit, Shape


def with_members(fit: Fit) -> Fit:
    """The fit with members, which are drawn when they are first asked for."""
    training = fit.training
    if fit.members is not None or training is None or training.plain is None:
        return fit
    plan, sampler, layer = fit.plan, training.parts.sampler, training.parts.layer
    shape, noise = training.shape, Noise(plan.noise_form, plan.noise)
    if shape is None or shape.noise != noise:
        matrix = calibrate(training.plain, sampler, layer, plan, training.sample)
        shape = Shape(noise, matrix)
    group = training.given["averaging"]
    averaging = None if group is None else sampler.inputs.stencil(group)
    known = plan.noise, plan.shrinkage, shape.matrix, plan.seed, averaging
    members = draw_members(layer, training.totals, *known)
    return replace(fit, members=members, training=replace(training, shape=shape))

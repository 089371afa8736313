"""How wide the band of an ensemble has to be: calibrated on windows that were held out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.pairs import Pairs
from ..model.plan import Plan
from ..model.rollout import forecast
from ..model.stepper import Stepper, with_readout
from ..network.layer import Layer, Totals
from ..network.sampler import Sampler, join
from .ensemble import INSIDE, Spread, forecast_with_band, half_width, make_spread

ENOUGH = 1000  # windows to judge by, from which on no further part is held out
SHARE, LEAST = 6, 8_000  # rows for each feature, and rows at least, of a fit to a part
STEPS, CELLS = 100, 1_000_000  # of a comparison of forecasts; cells times steps
DRAWS = 4  # members of a fit to a part
FEW_PAIRS = 4  # from which on whole pairs are held out, below it parts of space
SLABS, HELD = 8, 4  # parts of space or of the pairs, of which one is held out; pairs in it, at most


class Fold(NamedTuple):
    """Pairs to learn from, pairs to judge by, and where of those."""

    learn: Pairs
    judge: Pairs
    where: np.ndarray


def folds(pairs: Pairs) -> Iterator[Fold]:
    """One fold of whole pairs, or as many as there are slabs of space.

    A band holds errors on states to come, which follow those learned from: unlike in the choice of a
    model, pairs between others are fair judges. No window that touches a slab is learned from: its
    cells count as missing. Only the middle of a slab is judged by.
    """
    if len(pairs) >= FEW_PAIRS:
        count = min(HELD, max(1, len(pairs) // SLABS))
        held = np.linspace(0, len(pairs) - 1, count + 2).round().astype(int)[1:-1]
        rest = np.setdiff1d(np.arange(len(pairs)), held)
        yield Fold(pairs[rest], pairs[held], np.ones(pairs.space, bool))
        return
    cuts = np.linspace(0, pairs.space[0], SLABS + 1).round().astype(int)
    for start, stop in pairwise(cuts):
        slab, middle = np.zeros((2, *pairs.space), bool)
        slab[start:stop] = True
        middle[start + (stop - start) // 4 : stop - (stop - start) // 4] = True
        gone = np.broadcast_to(slab, (len(pairs), *slab.shape))
        gone = gone if pairs.missing is None else pairs.missing | gone
        yield Fold(replace(pairs, missing=gone), pairs, middle)


class Held(NamedTuple):
    """A fit to a part of the windows, and its errors on those that were held out."""

    readout: np.ndarray
    spread: Spread
    values: np.ndarray
    wrong: np.ndarray


def calibrate(
    model: Stepper, sampler: Sampler, layer: Layer, plan: Plan, pairs: Pairs
) -> np.ndarray | None:
    """The matrix L with which the band of members holds nine in ten of the errors held out.

    L Lᵀ is, but for a factor, the covariance of one-step errors over the cells of a block. The band
    has to hold those errors, and what becomes of them: errors of one kind all the time add up to
    more than those of members. There is no truth for that, but for fits to parts the model, which
    knows more than they do, stands in for it. None if nothing can be held out.
    """
    fits = _held_out(sampler, layer, plan, pairs)
    leverage = sum(fit.spread.leverage(fit.values) for fit in fits)
    if not leverage:
        return None
    shape = _root(np.sum([fit.wrong.T @ fit.wrong for fit in fits], axis=0) / leverage)
    steps = int(np.clip(CELLS // pairs.last.after.size, 10, STEPS))
    # All fits agree on a state they learned from: compared are forecasts from one further on.
    (ahead,) = forecast(model, pairs.last.after, 2 * steps)
    truth = ahead.states[min(steps, len(ahead.states) - 1) :]
    ratios = []
    for number, fit in enumerate(fits):
        deviations = fit.spread.draw(shape, DRAWS, plan.seed + 1 + number)
        distance = np.sqrt(np.mean((fit.values @ deviations) ** 2, axis=0))
        held = _ratio(fit.wrong, half_width(distance, DRAWS))
        ratios.append((held, *_compare(model, fit.readout, deviations, truth, steps)))
    held, early, late = (
        np.quantile(np.concatenate(part), INSIDE) for part in zip(*ratios, strict=True)
    )
    # Errors that die out sooner than members do are still there after the first step.
    return shape * held * (max(1.0, late / early) if early > 0 and late < np.inf else 1.0)


def _held_out(sampler: Sampler, layer: Layer, plan: Plan, pairs: Pairs) -> list[Held]:
    """Fits to parts of the windows, until there are enough others to judge them by."""
    fits, judged, identity = list[Held](), 0, sampler.group.elements[0]
    for learn, judge, where in folds(pairs):
        if judged >= ENOUGH:
            break
        totals = _fit(sampler, layer, learn)
        cells = sampler.inside(pairs.space, np.flatnonzero(where))
        rows = join([sampler.cut(judge, i, cells, identity) for i in range(len(judge))])
        if not totals[0].rows or not len(rows.cells):
            continue
        readout = layer.solve(totals, plan.noise, plan.shrinkage)
        spread = make_spread(layer, totals, plan.noise, plan.shrinkage, sampler.inputs.outputs)
        values = layer.values(rows)
        wrong = values @ readout - rows.targets
        values, wrong = (layer.levelled(part, rows.states) for part in (values, wrong))
        fits.append(Held(readout, spread, values, wrong))
        judged += len(values)
    return fits


def _compare(
    model: Stepper, readout: np.ndarray, deviations: np.ndarray, truth: np.ndarray, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """How far a fit to a part is from the model, in units of its band: after a step, and later."""
    (ahead,) = forecast_with_band(with_readout(model, readout), deviations, truth[:1], steps)
    count = min(len(ahead.states), len(truth))
    apart = zip(ahead.states[:count] - truth[:count], np.asarray(ahead.band)[:count], strict=True)
    ratios = [_ratio(gap, band) for gap, band in apart]
    return np.concatenate(ratios[1:2] or ratios), np.concatenate(ratios[count // 2 :])


def _ratio(errors: np.ndarray, band: np.ndarray) -> np.ndarray:
    """Errors in units of the band; where there is no error any band will do."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0.0, np.abs(errors) / band).ravel()


def _fit(sampler: Sampler, layer: Layer, pairs: Pairs) -> Totals:
    """The moments of a bounded number of rows."""
    most = max(LEAST, SHARE * layer.features.hidden) // len(pairs)
    most = max(1, most if sampler.share else most // len(sampler.group))
    few = replace(sampler, windows=min(most, sampler.windows or most))
    return layer.absorb(layer.start(sampler.inputs.outputs), few.rows(pairs))


def _root(covariance: np.ndarray) -> np.ndarray:
    """A matrix L with L Lᵀ = covariance; round-off may have left it a little indefinite."""
    values, directions = np.linalg.eigh(covariance)
    return directions * np.sqrt(np.maximum(values, 0.0))

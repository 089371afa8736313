"""How far a forecast can be trusted: members beside it that err as it does.

A readout Θ is known up to the covariance of least squares. Members Θ + δ are drawn from it,

    δ = √n (ΦᵀΦ + P)^(-½) Z Lᵀ,   Z standard normal, L Lᵀ a covariance over the cells of a block,

with n rows: targets carry no noise, so errors do not average out when rows of the same kind are
added; they shrink where windows are new. L is found on windows that were held out (`calibrate`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special

from . import lstsq, readout
from .orbits import answers
from .readout import Layer, Totals
from .rollout import MARGIN, Forecast, excess, finish, forecast, in_chunks
from .rows import Cutter, Pairs, join
from .stepper import Stepper
from .symmetry import Group

MEMBERS = 8  # that a model has
INSIDE = 0.9  # of the errors shall lie within the band
FOLDS = 8  # parts of space or of the pairs, of which one is held out at a time
HELD = 4  # pairs held out, at most
ENOUGH = 1000  # windows to judge by, from which on no further part is held out
SHARE, LEAST = 6, 8_000  # rows for each feature, and rows at least, of a fit to a part
STEPS, CELLS = 100, 1_000_000  # of a comparison of forecasts; cells times steps
DRAWS = 4  # members of a fit to a part


@dataclass(frozen=True)
class Spread:
    """How well a readout is known: each of its least-squares problems as a triangular factor."""

    layer: Layer
    rows: int
    roots: list[tuple[np.ndarray, np.ndarray]]  # factors, and the order of the features in them
    copies: list[int]  # of the cells of a block among the right-hand sides

    def draw(self, shape: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Deviations of members from the readout, `(member, hidden, outputs)`."""
        random = np.random.default_rng(seed)

        def one(factor: np.ndarray, order: np.ndarray, copies: int) -> np.ndarray:
            normal = random.normal(size=(len(factor), copies, len(shape))) @ shape.T
            solved = scipy.linalg.solve_triangular(factor, normal.reshape(len(factor), -1))
            drawn = np.zeros((len(order), solved.shape[1]))
            drawn[order[: len(factor)]] = np.sqrt(self.rows) * solved
            return drawn

        problems = [(*root, copies) for root, copies in zip(self.roots, self.copies, strict=True)]
        drawn = [[one(*problem) for problem in problems] for _ in range(count)]
        return np.stack([self.layer.combine(member) for member in drawn])

    def leverage(self, values: np.ndarray) -> float:
        """n φᵀ(ΦᵀΦ + P)⁻¹φ, summed over the rows φ."""
        total = 0.0
        for rows, (factor, order) in zip(self.layer.split(values), self.roots, strict=True):
            inside = rows[:, order[: len(factor)]].T
            total += np.sum(scipy.linalg.solve_triangular(factor, inside, trans=1) ** 2)
        return self.rows * float(total)


def make_spread(layer: Layer, totals: Totals, noise: float, outputs: int) -> Spread:
    roots = list(map(lstsq.root, totals, layer.penalties(totals, noise)))
    copies = [(len(moments.factor) - moments.hidden) // outputs for moments in totals]
    return Spread(layer, totals[0].rows, roots, copies)


def draw(
    layer: Layer,
    totals: Totals,
    noise: float,
    shape: np.ndarray | None,
    seed: int,
    averaging: Group | None,
) -> np.ndarray | None:
    """Deviations of the members of a model, if there is a shape to draw them with."""
    if shape is None:
        return None
    drawn = make_spread(layer, totals, noise, len(shape)).draw(shape, MEMBERS, seed)
    if averaging is None:
        return drawn
    moved = [answers(member, averaging, layer.stride) for member in drawn]
    return np.stack([np.concatenate(member) / len(averaging) for member in moved])


def pick(members: np.ndarray | None, count: int) -> np.ndarray:
    """The first of the members of a model, or an error that tells why there are none."""
    if members is None:
        raise ValueError(
            "members: this model has none: its file was saved without, or its grid was too small to "
            "hold a part out; fit it anew and save it with members=True, or fit it to more pairs"
        )
    if not 2 <= count <= len(members):
        raise ValueError(f"members: expected 0, or 2 to {len(members)}, got {count}")
    return members[:count]


def parts(pairs: Pairs) -> Iterator[tuple[Pairs, Pairs, np.ndarray]]:
    """Splits into (pairs to learn from, pairs to judge by, where of those).

    Whole pairs are held out where there are four or more. Else parts of space are, and no window
    that touches one of them is learned from: its cells count as missing. Only the middle of a part
    is judged by, because at its ends windows look like those beside it that were learned.
    """
    if len(pairs) >= 4:
        count = min(HELD, max(1, len(pairs) // FOLDS))
        held = np.linspace(0, len(pairs) - 1, count + 2).round().astype(int)[1:-1]
        rest = np.setdiff1d(np.arange(len(pairs)), held)
        yield pairs[rest], pairs[held], np.ones(pairs.space, bool)
        return
    cuts = np.linspace(0, pairs.space[0], FOLDS + 1).round().astype(int)
    for start, stop in pairwise(cuts):
        part, middle = np.zeros((2, *pairs.space), bool)
        part[start:stop] = True
        middle[start + (stop - start) // 4 : stop - (stop - start) // 4] = True
        gone = np.broadcast_to(part, (len(pairs), *part.shape))
        gone = gone if pairs.missing is None else pairs.missing | gone
        yield replace(pairs, missing=gone), pairs, middle


def calibrate(
    model: Stepper, cutter: Cutter, layer: Layer, noise: float, pairs: Pairs, seed: int
) -> np.ndarray | None:
    """The matrix L with which the band of members holds nine in ten of the errors held out.

    L Lᵀ is, but for a factor, the covariance of one-step errors over the cells of a block. The band
    has to hold those errors, and what becomes of them: errors of one kind all the time add up to
    more than those of members. There is no truth for that, but for fits to parts the model, which
    knows more than they do, stands in for it. None if nothing can be held out.
    """
    fits, leverage, judged = [], 0.0, 0
    products = np.zeros((cutter.outputs, cutter.outputs))
    identity = cutter.group.elements[0]
    for learn, judge, there in parts(pairs):
        if judged >= ENOUGH:
            break
        totals = _fit(cutter, layer, learn)
        cut = [cutter.cut(judge, i, np.flatnonzero(there), identity) for i in range(len(judge))]
        rows = join(cut)
        if not totals[0].rows or not len(rows[0]):
            continue
        weights = layer.solve(totals, noise)
        known = make_spread(layer, totals, noise, cutter.outputs)
        values, _ = readout.evaluate(layer.features, rows[0], rows[1], slopes=False)
        wrong = values @ weights - rows[2]
        products, leverage = products + wrong.T @ wrong, leverage + known.leverage(values)
        judged += len(wrong)
        fits.append((weights, known, values, wrong))
    if not leverage:
        return None
    shape, held, early, late = _root(products / leverage), [], [], []
    steps = int(np.clip(CELLS // pairs.last.after.size, 10, STEPS))
    # All fits agree on a state they learned from: compared are forecasts from one further on.
    (ahead,) = forecast(model, pairs.last.after, 2 * steps)
    truth = ahead.states[min(steps, len(ahead.states) - 1) :]
    for number, (weights, known, values, wrong) in enumerate(fits):
        deviations = known.draw(shape, DRAWS, seed + 1 + number)
        distance = np.sqrt(np.mean((values @ deviations) ** 2, axis=0))
        held.append(_ratio(wrong, half_width(distance, DRAWS)))
        for ratios, some in zip(
            (early, late), _compare(model, weights, deviations, truth, steps), strict=True
        ):
            ratios.append(some)
    held, early, late = (np.quantile(np.concatenate(some), INSIDE) for some in (held, early, late))
    # Errors that die out sooner than members do are still there after the first step.
    return shape * held * (max(1.0, late / early) if early > 0 and late < np.inf else 1.0)


def _compare(
    model: Stepper, weights: np.ndarray, deviations: np.ndarray, truth: np.ndarray, steps: int
):
    """How far a fit to a part is from the model, in units of its band: after a step, and later."""
    (made,) = forecast_with_band(with_readout(model, weights), deviations, truth[:1], steps)
    count = min(len(made.states), len(truth))
    apart = zip(made.states[:count] - truth[:count], np.asarray(made.band)[:count], strict=True)
    ratios = [_ratio(gap, band) for gap, band in apart]
    return np.concatenate(ratios[1:2] or ratios), np.concatenate(ratios[count // 2 :])


def _ratio(errors: np.ndarray, band: np.ndarray) -> np.ndarray:
    """Errors in units of the band; where there is no error any band will do."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(errors == 0, 0.0, np.abs(errors) / band).ravel()


def half_width(distance: np.ndarray, count: int) -> np.ndarray:
    """The half-width of the band, from the root mean square distance of so many members.

    Were the truth one more member, its distance over that of the others would follow Student's
    distribution.
    """
    return float(scipy.special.stdtrit(count, (1 + INSIDE) / 2)) * distance


def _fit(cutter: Cutter, layer: Layer, pairs: Pairs) -> Totals:
    """The moments of a bounded number of rows."""
    each = max(LEAST, SHARE * layer.features.hidden) // len(pairs)
    each = max(1, each if cutter.share else each // len(cutter.group))
    few = replace(cutter, windows=min(each, cutter.windows or each))
    return layer.absorb(layer.start(cutter.outputs), few.rows(pairs))


def with_readout(stepper: Stepper, weights) -> Stepper:
    """The same stepper with another readout."""
    return eqx.tree_at(lambda s: s.readout, stepper, weights)


def _root(covariance: np.ndarray) -> np.ndarray:
    """A matrix L with L Lᵀ = covariance; round-off may have left it a little indefinite."""
    values, directions = np.linalg.eigh(covariance)
    return directions * np.sqrt(np.maximum(values, 0.0))


def _trajectory(stepper: Stepper, readouts, states, kept: int, every: int):
    """Forecasts with several readouts from `states` `(readout, C, *space)`, the first the model's.

    Returns all last states, those of the model with their excess and the root mean square distance
    of the others from it, and the number of good steps of the model. A member that diverges stands
    still.
    """

    def advance(weights, state):
        following = with_readout(stepper, weights)(state)
        fine = excess(stepper, following) <= MARGIN
        return jnp.where(fine, following, state), fine

    def step(carry, _):
        states, alive, good = carry
        moved, fine = jax.vmap(advance)(readouts, states)
        alive = alive & fine
        shape = (-1, *(1,) * (states.ndim - 1))
        states = jnp.where(alive.reshape(shape), moved, states)
        return (states, alive, good + alive[0].astype(good.dtype)), None

    def keep(carry, _):
        carry, _ = jax.lax.scan(step, carry, length=every)
        states = carry[0]
        distance = jnp.sqrt(jnp.mean((states[1:] - states[0]) ** 2, axis=0))
        return carry, (states[0], excess(stepper, states[0]), distance)

    carry = (states, jnp.ones(len(states), bool), jnp.zeros((), jnp.int32))
    (last, _, good), (made, outside, distance) = jax.lax.scan(keep, carry, length=kept)
    return last, made, outside, distance, good


@partial(jax.jit, static_argnames=("kept", "every"))
def _batch(stepper, readouts, states, kept, every):
    return jax.vmap(lambda each: _trajectory(stepper, readouts, each, kept, every))(states)


def forecast_with_band(
    stepper: Stepper,
    deviations: np.ndarray,
    states: np.ndarray,
    steps: int,
    every: int = 1,
    dtype: str = "float64",
    progress: Callable[[int, int], object] | None = None,
) -> list[Forecast]:
    """Forecast a batch `(batch, channel, *space)` with its members, all in one compiled scan."""
    first, count = np.asarray(states, dtype), len(deviations)
    readouts = np.concatenate([[stepper.readout], stepper.readout + deviations])
    begun = first[:, None], np.zeros((len(first), 0)), np.zeros_like(first)[:, None]
    with jax.enable_x64(dtype == "float64"):
        last = jnp.repeat(jnp.asarray(first)[:, None], 1 + count, axis=1)
        weights = jnp.asarray(readouts, dtype)
        batch = in_chunks(
            lambda last, now: _batch(stepper, weights, last, now, every),
            last, begun, steps, every, progress,
        )  # fmt: skip
    found = []
    for made, outside, distance, good in zip(*batch, strict=True):
        plain = finish(made, outside, good, steps // every * every, every)
        spread = distance[: len(plain.states)]
        found.append(
            replace(plain, band=half_width(spread, count), expected_rse=_rse(plain.states, spread))
        )
    return found


def _rse(states: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """The RSE in percent that the members stand for, at each time."""
    space = tuple(range(2, states.ndim))
    variance = np.sum((states - states.mean(axis=space, keepdims=True)) ** 2, axis=(1, *space))
    error = np.sum(spread**2, axis=(1, *space))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0, 0.0, 100.0 * error / variance)

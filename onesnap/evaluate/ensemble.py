"""An ensemble of readouts: members beside a forecast that err as it does.

A readout Θ is known up to the covariance of least squares. Members Θ + δ are drawn from it,

    δ = √n (ΦᵀΦ + P)^(-½) Z Lᵀ,   Z standard normal, L Lᵀ a covariance over the cells of a block,

with n rows: targets carry no noise, so errors do not average out when rows of the same kind are
added; they shrink where windows are new. L is found on windows that were held out (`calibration`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.special

from ..model.drive import STILL, Drive
from ..model.rollout import Forecast, bounded, excess, finish, in_chunks
from ..model.stepper import Stepper, with_readout
from ..network import lstsq
from ..network.layer import Layer, Totals
from ..symmetry import Stencil, orbits
from .metrics import relative_error

MEMBERS = 8  # that a model has
INSIDE = 0.9  # of the errors shall lie within the band


@dataclass(frozen=True)
class Spread:
    """How well a readout is known: each of its least-squares problems as a triangular factor."""

    layer: Layer
    rows: int
    roots: list[tuple[np.ndarray, np.ndarray]]  # factors, and the order of the features in them
    copies: list[int]  # of the cells of a block among the right-hand sides
    levels: list[np.ndarray | None]  # means of features over the constant, where they teach nothing

    def draw(self, shape: np.ndarray, count: int, seed: int) -> np.ndarray:
        """Deviations of members from the readout, `(member, hidden, outputs)`."""
        random = np.random.default_rng(seed)

        def one(
            factor: np.ndarray, order: np.ndarray, copies: int, level: np.ndarray | None
        ) -> np.ndarray:
            normal = random.normal(size=(len(factor), copies, len(shape))) @ shape.T
            solved = scipy.linalg.solve_triangular(
                factor, normal.reshape(len(factor), copies * len(shape))
            )
            drawn = np.zeros((len(order), solved.shape[1]))
            drawn[order[: len(factor)]] = np.sqrt(self.rows) * solved
            if level is not None:  # of which nothing was learned, where steps conserve the mean
                drawn[self.layer.constant] -= level @ drawn
            return drawn

        together = zip(self.roots, self.copies, self.levels, strict=True)
        problems = [(*root, copies, level) for root, copies, level in together]
        drawn = [[one(*problem) for problem in problems] for _ in range(count)]
        return np.stack([self.layer.combine(member) for member in drawn])

    def leverage(self, values: np.ndarray) -> float:
        """n φᵀ(ΦᵀΦ + P)⁻¹φ, summed over the rows φ."""
        total = 0.0
        for rows, (factor, order) in zip(self.layer.split(values), self.roots, strict=True):
            inside = rows[:, order[: len(factor)]].T
            total += np.sum(scipy.linalg.solve_triangular(factor, inside, trans=1) ** 2)
        return self.rows * float(total)


def make_spread(
    layer: Layer, totals: Totals, noise: float, shrinkage: float | None, outputs: int
) -> Spread:
    roots = [lstsq.root(*problem) for problem in layer.problems(totals, noise, shrinkage)]
    copies = [(len(moments.factor) - moments.hidden) // outputs for moments in totals]
    levels: list[np.ndarray | None] = [None] * len(totals)
    if layer.conserves and layer.linear is not None:
        products = lstsq.products(totals[layer.linear.trivial], layer.constant)
        levels[layer.linear.trivial] = products / products[layer.constant]
    return Spread(layer, totals[0].rows, roots, copies, levels)


def draw_members(
    layer: Layer,
    totals: Totals,
    noise: float,
    shrinkage: float | None,
    shape: np.ndarray | None,
    seed: int,
    averaging: Stencil | None = None,
) -> np.ndarray | None:
    """Deviations of the members of a model, if there is a shape to draw them with."""
    if shape is None:
        return None
    members = make_spread(layer, totals, noise, shrinkage, len(shape)).draw(shape, MEMBERS, seed)
    if averaging is None:
        return members
    return np.stack([orbits.average(member, averaging) for member in members])


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


def half_width(distance: np.ndarray, count: int) -> np.ndarray:
    """The half-width of the band, from the root mean square distance of so many members.

    Were the truth one more member, its distance over that of the others would follow Student's
    distribution.
    """
    return float(scipy.special.stdtrit(count, (1 + INSIDE) / 2)) * distance


def _trajectory(stepper: Stepper, readouts, states, drive: Drive, kept: int, every: int):
    """Forecasts with several readouts from `states` `(readout, C, *space)`, the first the model's.

    Returns all last states, those of the model with their excess and the root mean square distance
    of the others from it, and the number of good steps of the model. A member that diverges stands
    still.
    """

    def advance(weights, state, now):
        following = now.step(with_readout(stepper, weights), state)
        fine = bounded(stepper, following)
        return jnp.where(fine, following, state), fine

    def step(carry, now):
        states, alive, good = carry
        moved, fine = jax.vmap(advance, (0, 0, None))(readouts, states, now)
        alive = alive & fine
        shape = (-1, *(1,) * (states.ndim - 1))
        states = jnp.where(alive.reshape(shape), moved, states)
        return (states, alive, good + alive[0].astype(good.dtype)), None

    def keep(carry, now):
        carry, _ = jax.lax.scan(step, carry, now, length=every)
        states = carry[0]
        distance = jnp.sqrt(jnp.mean((states[1:] - states[0]) ** 2, axis=0))
        return carry, (states[0], excess(stepper, states[0]), distance)

    carry = (states, jnp.ones(len(states), bool), jnp.zeros((), jnp.int32))
    drive = drive.in_pieces(kept, every)
    (last, _, good), (states, outside, distance) = jax.lax.scan(keep, carry, drive, length=kept)
    return last, states, outside, distance, good


@partial(jax.jit, static_argnames=("kept", "every"))
def _batch(stepper, readouts, states, drive, kept, every):
    return jax.vmap(lambda starts: _trajectory(stepper, readouts, starts, drive, kept, every))(states)


def forecast_with_band(
    stepper: Stepper,
    deviations: np.ndarray,
    states: np.ndarray,
    steps: int,
    every: int = 1,
    dtype: str = "float64",
    progress: Callable[[int, int], object] | None = None,
    drive: Drive = STILL,
) -> list[Forecast]:
    """Forecast a batch `(batch, channel, *space)` with its members, all in one compiled scan."""
    first, count = np.asarray(states, dtype), len(deviations)
    readout = stepper.network.readout
    readouts = np.concatenate([[readout], readout + deviations])
    begun = first[:, None], np.zeros((len(first), 0)), np.zeros_like(first)[:, None]
    with jax.enable_x64(dtype == "float64"):
        last = jnp.repeat(jnp.asarray(first)[:, None], 1 + count, axis=1)
        weights = jnp.asarray(readouts, dtype)
        batch = in_chunks(
            lambda last, count, now: _batch(
                stepper, weights, last, drive.rows(now).cast(dtype), count, every
            ),
            last, begun, steps, every, progress,
        )  # fmt: skip
    forecasts = []
    for kept, outside, distance, good in zip(*batch, strict=True):
        plain = finish(kept, outside, good, steps // every * every, every)
        spread = distance[: len(plain.states)]
        expected = relative_error(spread, stepper.inputs.uncover(plain.states))
        forecasts.append(replace(plain, band=half_width(spread, count), expected_rse=expected))
    return forecasts

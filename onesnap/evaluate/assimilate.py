"""Assimilation: the trajectory of a learned model that fits noisy, gappy or sparse observations best.

Strong-constraint 4D-Var: the state x₀ at the beginning of a window is sought for which

    J(x₀) = ½ Σₜ |(xₜ − yₜ) / σ|² + ½ |(x₀ − b) / s|²,   xₜ = stepᵗ(x₀),

is least. The first sum is over what was observed. The second is over cells that were not observed at
the beginning: b is interpolated from their neighbours, and s the deviation of the field. Gradients go
through the forecast itself.

The model is taken as exact, which it is not: over a long window its errors grow beyond the noise.
What is left over tells. If model and noise are right, its mean square in units of the noise is 1 at
most, but for chance, so that windows are made longer only as long as that holds.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from ..grid.boundary import both_sides
from ..grid.states import unmasked
from ..model.forecaster import Forecaster
from ..model.rollout import trajectory
from ..model.stepper import Stepper
from .metrics import channel_errors

# Of the window: a long one has many minima in a chaotic flow, and the end of each part is near the
# right one of the next.
PARTS = (0.25, 0.5, 1.0)
SMOOTHING = 200  # sweeps that spread values into cells without any
FLAT = 1e-4  # relative decrease of J in an iteration, below which there is nothing left to gain

Observations = Float[np.ndarray, "times C ..."]


@dataclass(frozen=True)
class Analysis:
    """The states `(time, channel, *space)` of a window, the last of which starts a forecast.

    `observed` is what was given for these times, NaN where nothing was seen. `deviation` is how
    uncertain the states are, of their shape; None without members. `misfit` is the mean square of
    what is left over, in units of the noise.

    >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
    >>> analysis = snap.assimilate(model, noisy, noise=0.05, window=5)
    >>> analysis.states.shape, analysis.start.shape
    ((5, 1, 64), (1, 64))
    """

    states: np.ndarray
    observed: np.ndarray
    misfit: float
    deviation: np.ndarray | None = None

    @property
    def consistent(self) -> bool:
        """Whether what is left over may be noise: its mean square exceeds 1 by chance at most."""
        count = max(1, int(np.isfinite(self.observed).sum()))
        return bool(self.misfit <= 1.0 + 2.0 * np.sqrt(2.0 / count))

    @property
    def start(self) -> np.ndarray:
        """The state at the end of the window."""
        return self.states[-1]

    def compare(self, truth: Observations) -> tuple[float, float]:
        """Root-mean-square errors of the observations, where there are any, and of the analysis.

        Both are over `truth`, of the same shape, in units of its deviation, the mean over channels.

        >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
        >>> raw, analysed = snap.assimilate(model, noisy, noise=0.05, window=5).compare(truth[:5])
        >>> bool(analysed < raw)
        True
        """
        truth = np.asarray(truth)
        if truth.shape != self.states.shape:
            raise ValueError(f"truth: expected shape {self.states.shape}, got {truth.shape}")
        axes = (0, *range(2, truth.ndim))
        scale = truth.std(axis=axes)
        raw = np.sqrt(np.nanmean((self.observed - truth) ** 2, axis=axes)) / scale
        return float(np.mean(raw)), float(np.mean(channel_errors(self.states, truth) / scale))


def assimilate(
    model: Forecaster,
    observations,
    *,
    noise,
    mask=None,
    every: int = 1,
    window: int | str = "auto",
    members: int = 0,
    iterations: int = 60,
    seed: int = 0,
) -> Analysis:
    """The best trajectory through the last of some observations `(time, channel, *space)`.

    Times are `every` steps of the model apart. What was not observed is NaN, or masked, or False in
    `mask`, which NumPy broadcasts. `noise` is the deviation of observation errors, one number or one
    for each channel. `window` is how many of the last times are used; "auto" doubles them as long as
    the model fits them to within the noise. With `members`, as many further fits to observations that
    are disturbed by as much noise again tell the uncertainty. Needs optax.

    >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
    >>> analysis = snap.assimilate(model, noisy, noise=0.05, window=5)
    >>> analysis.consistent
    True
    """
    stepper = model.stepper_
    seen, sigma = _check(stepper, observations, mask, noise, every, window)
    fit = partial(_analyse, stepper, sigma=sigma, every=every, iterations=iterations)
    if isinstance(window, int):
        best = fit(seen[-window:])
    else:
        best, length = fit(seen[-2:]), 2
        while best.consistent and length < len(seen):
            length = min(2 * length, len(seen))
            if not (longer := fit(seen[-length:])).consistent:
                break
            best = longer
    if not best.consistent:
        warnings.warn(
            f"the model and these observations disagree by more than the noise: {best.misfit:.2g} of "
            "its mean square is left over, 1 is expected at most; give a larger noise, a shorter "
            "window, or a better model",
            stacklevel=2,
        )
    if not members:
        return best
    random, apart = np.random.default_rng(seed), []
    for _ in range(members):
        disturbed = best.observed + sigma * random.normal(size=best.observed.shape)
        apart.append(fit(disturbed, first=best.states[0]).states - best.states)
    return replace(best, deviation=np.sqrt(np.mean(np.square(apart), axis=0)))


def _analyse(stepper: Stepper, seen, sigma, every: int, iterations: int, first=None) -> Analysis:
    here = np.isfinite(seen)
    guess = fill(seen[0], stepper.inputs.boundary)
    axes = (0, *range(2, seen.ndim))
    spread = np.nanstd(seen, axis=axes).reshape(-1, *(1,) * (seen.ndim - 2))
    scale = np.where(here[0], sigma[0], np.where(spread > 0, spread, 1.0))
    known = np.nan_to_num(seen), here.astype(float), sigma, guess, scale
    with jax.enable_x64(True):
        states, cost = _fit(stepper, guess if first is None else first, known, every, iterations)
    return Analysis(np.asarray(states), seen, misfit=2.0 * float(cost) / max(1, int(here.sum())))


def _check(
    stepper: Stepper, observations, mask, noise, every: int, window
) -> tuple[np.ndarray, np.ndarray]:
    """Observations with NaN where nothing was seen, and the deviation of their errors."""
    if stepper.history > 1:
        raise ValueError("observations: expected those of a model without a history, got one with")
    seen = np.array(unmasked(observations), np.float64)
    if seen.ndim != 2 + stepper.dimension or seen.shape[1] != stepper.channels or len(seen) < 2:
        raise ValueError(
            f"observations: expected (time, channel, *space) with 2 or more times, "
            f"{stepper.channels} channel(s) and {stepper.dimension} axes of space, got {seen.shape}"
        )
    if every < 1:
        raise ValueError(f"every: expected 1 or more steps between observations, got {every}")
    if window != "auto" and not (isinstance(window, int) and 2 <= window <= len(seen)):
        raise ValueError(f"window: expected 'auto' or 2 to {len(seen)} times, got {window!r}")
    stepper.inputs.check_grid(seen.shape[2:])
    if mask is not None:
        mask = np.asarray(mask)
        if mask.dtype != bool:
            raise ValueError(f"mask: expected True where there is an observation, got {mask.dtype}")
        seen = np.where(np.broadcast_to(mask, seen.shape), seen, np.nan)
    nothing = [time for time, state in enumerate(seen) if np.isnan(state).all(axis=-1).all()]
    if np.isinf(seen).any() or nothing:
        raise ValueError(
            "observations: expected finite numbers, NaN where nothing was seen, and some at every "
            f"time; got {f'none at time {nothing[0]}' if nothing else 'infinity'}"
        )
    sigma = np.asarray(noise, np.float64)
    if sigma.shape not in ((), (stepper.channels,)) or not np.all((sigma > 0) & np.isfinite(sigma)):
        raise ValueError(
            "noise: expected the deviation of observation errors, one number above 0 or one for each "
            f"of {stepper.channels} channels, got {noise!r}"
        )
    sigma = np.broadcast_to(sigma, (stepper.channels,))
    return seen, sigma.reshape(1, -1, *(1,) * stepper.dimension)


def fill(state: Float[np.ndarray, "C ..."], boundary) -> Float[np.ndarray, "C ..."]:
    """The state with missing cells filled: their value is in the end the mean of their neighbours."""
    missing = np.isnan(state)
    means = np.nanmean(state.reshape(len(state), -1), axis=1)
    field = np.where(missing, np.nan_to_num(means).reshape(-1, *(1,) * (state.ndim - 1)), state)
    ends = both_sides(boundary, state.ndim - 1)
    for _ in range(SMOOTHING if missing.any() else 0):
        around = np.zeros_like(field)
        for axis, kinds in enumerate(ends, 1):
            mode = "wrap" if "periodic" in kinds else "edge"
            width = [(1, 1) if other == axis else (0, 0) for other in range(field.ndim)]
            padded = np.pad(field, width, mode=mode)
            around += np.take(padded, range(field.shape[axis]), axis)
            around += np.take(padded, range(2, 2 + field.shape[axis]), axis)
        field = np.where(missing, around / (2 * len(ends)), field)
    return field


@partial(jax.jit, static_argnames=("every", "iterations"))
def _fit(stepper: Stepper, first, known, every: int, iterations: int):
    """The states of the window, and the cost that is left, from a first guess of its beginning."""
    try:
        import optax
    except ImportError as error:
        raise ImportError("assimilate needs optax; pip install 'onesnap[assimilate]'") from error
    seen, here, sigma, guess, scale = known
    blind = 1.0 - here[0]  # cells that only the guess speaks of

    def states_of(z):
        start = guess + scale * z
        later = trajectory(stepper, start, len(seen) - 1, every)[0]
        return jnp.concatenate([start[None], later])

    def cost(z, weights):
        off = (states_of(z) - seen) / sigma * here
        squares = jnp.sum(off.reshape(len(seen), -1) ** 2, axis=1)
        return 0.5 * jnp.sum(weights * squares) + 0.5 * jnp.sum(blind * z**2)

    def extend(z, length):
        weights = jnp.arange(len(seen)) < length
        return _minimise(optax.lbfgs(), partial(cost, weights=weights), z, iterations), None

    lengths = jnp.array([max(2, round(part * len(seen))) for part in PARTS])
    z, _ = jax.lax.scan(extend, (first - guess) / scale, lengths)
    return states_of(z), cost(z, jnp.ones(len(seen)))


def _minimise(optimiser, cost: Callable, z, iterations: int):
    """Descend until the cost hardly falls any more."""
    import optax

    descend = optax.value_and_grad_from_state(cost)

    def advance(carry):
        z, state, before, _, count = carry
        value, gradient = descend(z, state=state)
        step, state = optimiser.update(gradient, state, z, value=value, grad=gradient, value_fn=cost)
        flat: Bool[jax.Array, ""] = before - value < FLAT * value
        return optax.apply_updates(z, step), state, value, flat, count + 1

    def goes_on(carry):
        _, _, _, flat, count = carry
        return ~flat & (count < iterations)

    begun = z, optimiser.init(z), jnp.inf, jnp.asarray(False), 0
    return jax.lax.while_loop(goes_on, advance, begun)[0]

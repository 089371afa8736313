"""Assimilation: the trajectory of a learned model that fits noisy, gappy or sparse observations best.

Strong-constraint 4D-Var: the state x₀ at the beginning of a window is sought for which

    J(x₀) = ½ Σₜ |(xₜ − yₜ) / σ|² + ½ Σₖ (x̂₀ − m̂)ₖ² / sₖ,   xₜ = stepᵗ(x₀),

is least. The first sum is over what was observed. The second is over waves k, with the mean m and the
variances s of typical states (`background`). Gradients go through the forecast itself.

The model is taken as exact, which it is not: over a long window its errors grow beyond the noise.
What is left over tells. If model and noise are right, its mean square in units of the noise is 1 at
most, but for chance, so that windows are made longer only as long as that holds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial

import jax
import numpy as np
from jaxtyping import Float

from ..grid.boundary import both_sides
from ..grid.states import check_states, unmasked
from ..model.forecaster import Forecaster
from ..model.stepper import Stepper
from .background import Background, make_background
from .metrics import channel_errors
from .variational import Known, fit_start

SMOOTHING = 200  # sweeps that spread values into cells without any

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
    every: float | None = None,
    window: int | str = "auto",
    climate=None,
    members: int = 0,
    iterations: int = 60,
    seed: int = 0,
) -> Analysis:
    """The best trajectory through the last of some observations `(time, channel, *space)`.

    What was not observed is NaN, or masked, or False in `mask`, which NumPy broadcasts. `noise` is
    the deviation of observation errors, one number or one for each channel. Times are `every` steps
    of the model apart, a whole number or one over it; None takes them as those of the sequence that
    was learned from. `window` is how many of the last times are used; "auto" doubles them as long as
    the model fits them to within the noise. `climate` are typical states without noise, as those
    learned from; without them, the observations tell what is typical. With `members`, as many
    further fits to observations that are disturbed by as much noise again tell the uncertainty.
    Needs optax.

    >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
    >>> analysis = snap.assimilate(model, noisy, noise=0.05, window=5)
    >>> analysis.consistent
    True
    """
    stepper, spacing = model.stepper_, _spacing(model, every)
    seen, sigma = _check(stepper, observations, mask, noise, spacing[1], window)
    background = _background(stepper, seen, sigma, climate)
    fit = partial(_analyse, stepper, background, sigma=sigma, spacing=spacing, iterations=iterations)
    if isinstance(window, int):
        best = fit(_last(seen, window, spacing[1]))
    else:
        length = max(2, 1 + spacing[1])
        best = fit(_last(seen, length, spacing[1]))
        while best.consistent and length < len(seen):
            length = min(2 * length, len(seen))
            if not (longer := fit(_last(seen, length, spacing[1]))).consistent:
                break
            best = longer
    if not best.consistent:
        warnings.warn(
            f"the model and these observations disagree by more than the noise: {best.misfit:.2g} of "
            "its mean square is left over, 1 is expected at most; give a larger noise, a shorter "
            "window, or a better model",
            stacklevel=2,
        )
    if members:
        fit = partial(_analyse, stepper, sigma=sigma, spacing=spacing, iterations=iterations)
        best = replace(best, deviation=_deviation(fit, best, background, sigma, members, seed))
    return best


def _deviation(fit, best: Analysis, background: Background, sigma, members: int, seed: int):
    """How far analyses are apart if what they are from is disturbed as much as it may be wrong."""
    random, apart = np.random.default_rng(seed), []
    for _ in range(members):
        disturbed = best.observed + sigma * random.normal(size=best.observed.shape)
        waves = np.sqrt(background.variance) * random.normal(size=background.variance.shape)
        other = replace(background, mean=background.mean + background.field(waves))
        apart.append(fit(other, disturbed, first=best.states[0]).states - best.states)
    return np.sqrt(np.mean(np.square(apart), axis=0))


def smooth(
    model: Forecaster, states, *, noise, window: int, every: float | None = None, iterations: int = 60
) -> np.ndarray:
    """All states `(time, channel, *space)` of a long sequence, by 4D-Var in windows that overlap.

    To learn from them again, as in `fit(smooth(model, states, ...))`, may give a better model. Other
    arguments are those of `assimilate`. The states of a window count the more the nearer they are to
    its middle, where what comes before and what comes after tell of them.

    >>> noisy = truth[:9] + 0.05 * np.random.default_rng(0).normal(size=(9, 1, 64))
    >>> calm = snap.smooth(model, noisy, noise=0.05, window=5)
    >>> bool(np.std(calm - truth[:9]) < np.std(noisy - truth[:9]))
    True
    """
    stepper, spacing = model.stepper_, _spacing(model, every)
    seen, sigma = _check(stepper, states, None, noise, spacing[1], window)
    background = _background(stepper, seen, sigma, None)
    length = 1 + (window - 1) // spacing[1] * spacing[1]
    total, weights = np.zeros_like(seen), np.zeros((len(seen), *(1,) * (seen.ndim - 1)))
    taper = np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 2
    taper = taper.reshape(-1, *(1,) * (seen.ndim - 1))
    starts = {*range(0, len(seen) - length, max(1, length // 3)), len(seen) - length}
    for start in sorted(starts):
        part = seen[start : start + length]
        analysis = _analyse(stepper, background, part, sigma, spacing, iterations)
        total[start : start + length] += taper * analysis.states
        weights[start : start + length] += taper
    return total / weights


def _analyse(
    stepper: Stepper, background: Background, seen, sigma, spacing, iterations: int, first=None
) -> Analysis:
    here = np.isfinite(seen)
    if first is None:
        first = background.estimate(fill(seen[0], stepper.inputs.boundary), sigma[0])
    known = Known(np.nan_to_num(seen), here.astype(float), sigma)
    with jax.enable_x64(True):
        states, misfit = fit_start(stepper, first, known, background, *spacing, iterations)
    return Analysis(np.asarray(states), seen, misfit=float(misfit))


def _background(stepper: Stepper, seen, sigma, climate) -> Background:
    """That of the climate, or else of the observations with gaps filled."""
    boundary = stepper.inputs.boundary
    if climate is None:
        whole = np.stack([fill(state, boundary) for state in seen])
        return make_background(whole, boundary, sigma[0], False, float(np.isnan(seen).mean()))
    climate = check_states("climate", climate)
    if climate.shape[1:] != seen.shape[1:]:
        raise ValueError(
            f"climate: expected states of the shape {seen.shape[1:]} of those observed, "
            f"got {climate.shape[1:]}"
        )
    return make_background(climate, boundary, sigma[0], clean=True)


def _spacing(model: Forecaster, every: float | None) -> tuple[int, int]:
    """Steps from one observation to the next, and observations in a step; one of both is 1."""
    if every is None:
        return 1, model.plan_.lag
    number = isinstance(every, int | float | np.number) and not isinstance(every, bool) and every > 0
    for whole in (every, 1 / every) if number else ():
        if abs(whole - round(whole)) < 1e-6 * whole and round(whole) >= 1:
            return (round(whole), 1) if whole == every else (1, round(whole))
    raise ValueError(
        "every: expected steps between observations, a whole number of 1 or more or one over it, "
        f"got {every!r}"
    )


def _last(seen: np.ndarray, length: int, between: int) -> np.ndarray:
    """The last observations, as many as whole steps of the model hold."""
    return seen[-1 - (length - 1) // between * between :]


def _check(
    stepper: Stepper, observations, mask, noise, between: int, window
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
    least = 1 + between
    if len(seen) < least:
        raise ValueError(f"observations: expected {least} times or more, a step, got {len(seen)}")
    if window != "auto" and not (isinstance(window, int) and least <= window <= len(seen)):
        raise ValueError(f"window: expected 'auto' or {least} to {len(seen)} times, got {window!r}")
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

"""Assimilation: the trajectory of a learned model that fits noisy, gappy or sparse observations best.

Strong-constraint 4D-Var: the state x₀ at the beginning of a window is sought for which

    J(x₀) = ½ Σₜ |(xₜ − yₜ) / σ|² + ½ Σₖ (x̂₀ − m̂)ₖ² / sₖ,   xₜ = stepᵗ(x₀),

is least. The first sum is over what was observed. The second is over waves k, with the mean m and the
variances s of typical states (`background`). Gradients go through the forecast itself.

The model is taken as exact, which it is not: over a long window its errors grow beyond the noise.
What is left over tells. If model and noise are right, its mean square in units of the noise is 1 at
most, but for chance, so that windows are made longer only as long as that holds.

The other method, an ensemble Kalman smoother (`kalman`), lets the model err and forgets what is old.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Float

from ..grid.states import unmasked
from ..model.drive import STILL, Drive, split_inputs
from ..model.forecaster import Forecaster
from ..model.stepper import Stepper
from .background import Background, background_of
from .kalman import MEMBERS, fit_ensemble
from .metrics import channel_errors
from .observations import (
    check_noise,
    check_observations,
    check_spacing,
    check_whole,
    check_window,
    first_filled,
    on_grid,
)
from .variational import Known, fit_start

METHODS = ("4dvar", "ensemble")

Observations = Float[np.ndarray, "times C ..."]


@dataclass(frozen=True)
class Analysis:
    """The states `(time, channel, *space)` of a window, the last of which starts a forecast.

    `observed` is what was given for these times, NaN where nothing was seen. `deviation` is how
    uncertain the states are, of their shape; None without members. `misfit` is the mean square of
    what is left over, in units of the noise. Cells that never have a value (land) are NaN.

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

        Both are over `truth`, of the same shape, in units of its deviation, the mean over channels;
        that of the observations over those that were seen.

        >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
        >>> raw, analysed = snap.assimilate(model, noisy, noise=0.05, window=5).compare(truth[:5])
        >>> bool(analysed < raw)
        True
        """
        truth = unmasked(truth)
        if truth.shape != self.states.shape:
            raise ValueError(f"truth: expected shape {self.states.shape}, got {truth.shape}")
        scale = np.nanstd(truth, axis=(0, *range(2, truth.ndim)))
        raw, analysed = (channel_errors(x, truth) / scale for x in (self.observed, self.states))
        there = np.isfinite(raw)
        return float(np.mean(raw[there])) if there.any() else np.nan, float(np.mean(analysed))


class Task(NamedTuple):
    """What all windows have in common."""

    stepper: Stepper
    background: Background
    sigma: Float[np.ndarray, "1 C ..."]
    spacing: tuple[int, int]  # steps from one observation to the next, and observations in a step
    iterations: int
    ensemble: tuple[int, int] | None = None  # members and seed; 4D-Var without


def assimilate(
    model: Forecaster,
    observations,
    *,
    noise,
    method: str = "4dvar",
    mask=None,
    every: float | None = None,
    window: int | str = "auto",
    climate=None,
    parameters=None,
    fields=None,
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
    learned from; without them, the observations tell what is typical. `parameters` and `fields` are
    as in `rollout`: constants, or a row for each step from the first observation to the last. With
    `members`, as many further fits to observations that are disturbed by as much noise again tell
    the uncertainty. Needs optax.

    4D-Var takes the model as exact. With `method="ensemble"`, an ensemble Kalman smoother, it may err
    by as much as observations show. `members` is the size of the ensemble then, 32 if it is 0, its
    spread the uncertainty, and the window "auto" all times.

    >>> noisy = truth[:5] + 0.05 * np.random.default_rng(0).normal(size=(5, 1, 64))
    >>> analysis = snap.assimilate(model, noisy, noise=0.05, window=5)
    >>> analysis.consistent
    True
    >>> snap.assimilate(model, noisy, noise=0.05, method="ensemble").deviation.shape
    (5, 1, 64)
    """
    check_whole("members", members, 0)
    check_whole("iterations", iterations, 1)
    check_whole("seed", seed, 0)
    ensemble = _check_method(method, members)
    spacing = check_spacing(every, model.plan_.lag)
    seen, stepper, drive = _bound(model.stepper_, observations, mask, spacing, parameters, fields)
    sigma, least = check_noise(noise, stepper.channels, stepper.dimension), 1 + spacing[1]
    given = check_window(window, least, len(seen))
    background = background_of(stepper, seen, sigma, climate)
    chosen = (ensemble, seed) if ensemble else None
    task = Task(stepper, background, sigma, spacing, iterations, chosen)
    if given is None and ensemble:
        given = len(seen)
    best = _longest(task, seen, drive) if given is None else _last(task, seen, drive, given)
    _judge(best)
    deviation = best.deviation
    if members and not ensemble:
        deviation = _deviation(task, best, drive, members, seed)
    if deviation is not None:
        deviation = stepper.inputs.uncover(deviation)
    return replace(best, states=stepper.inputs.uncover(best.states), deviation=deviation)


def _check_method(method, members: int) -> int:
    """How many members an ensemble has; 0 for 4D-Var."""
    if method not in METHODS:
        raise ValueError(f"method: expected one of {METHODS}, got {method!r}")
    if method == "4dvar":
        return 0
    if members == 1:
        raise ValueError(
            f"members: expected 2 or more with method='ensemble', or 0 for {MEMBERS}, got 1; one "
            "does not tell how uncertain it is"
        )
    return int(members) or MEMBERS


def _judge(best: Analysis) -> None:
    """Raise where an analysis is of no use, warn where it is doubtful."""
    if not np.isfinite(best.observed).any():
        raise ValueError(
            "window: expected times at which something was seen, got none among the last "
            f"{len(best.observed)}; give a longer one, or observations that end earlier"
        )
    if not np.isfinite(best.misfit):
        raise ValueError(
            "observations: no trajectory of the model comes near them; look at the units of the "
            "observations and of the noise"
        )
    if not best.consistent:
        warnings.warn(
            f"the model and these observations disagree by more than the noise: {best.misfit:.2g} of "
            "its mean square is left over, 1 is expected at most; give a larger noise, a shorter "
            "window, or a better model",
            stacklevel=3,
        )


def _longest(task: Task, seen: np.ndarray, drive: Drive) -> Analysis:
    """That of the longest window, of those twice as long as others, which the model holds for."""
    length = max(2, 1 + task.spacing[1])
    best = _last(task, seen, drive, length)
    while best.consistent and length < len(seen):
        length = min(2 * length, len(seen))
        if not (longer := _last(task, seen, drive, length)).consistent:
            break
        best = longer
    return best


def _last(task: Task, seen: np.ndarray, drive: Drive, length: int, first=None) -> Analysis:
    """That of the last observations, as many as whole steps of the model hold."""
    every, between = task.spacing
    steps = (length - 1) // between
    rows = drive.rows(slice(-steps * every, None))
    return _analyse(task, seen[-1 - steps * between :], rows, first)


def _deviation(task: Task, best: Analysis, drive: Drive, members: int, seed: int) -> np.ndarray:
    """How far analyses are apart if what they are from is disturbed as much as it may be wrong."""
    random, apart, background = np.random.default_rng(seed), [], task.background
    for _ in range(members):
        disturbed = best.observed + task.sigma * random.normal(size=best.observed.shape)
        waves = np.sqrt(background.variance) * random.normal(size=background.variance.shape)
        other = replace(background, mean=background.mean + background.field(waves))
        further = task._replace(background=other)
        again = _last(further, disturbed, drive, len(disturbed), first=best.states[0])
        apart.append(again.states - best.states)
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
    check_whole("iterations", iterations, 1)
    spacing = check_spacing(every, model.plan_.lag)
    seen, stepper, _ = _bound(model.stepper_, states, None, spacing, None, None)
    sigma = check_noise(noise, stepper.channels, stepper.dimension)
    check_window(window, 1 + spacing[1], len(seen), auto=False)
    task = Task(stepper, background_of(stepper, seen, sigma, None), sigma, spacing, iterations)
    length = 1 + (window - 1) // spacing[1] * spacing[1]
    total, weights = np.zeros_like(seen), np.zeros((len(seen), *(1,) * (seen.ndim - 1)))
    taper = np.sin(np.pi * (np.arange(length) + 0.5) / length) ** 2
    taper = taper.reshape(-1, *(1,) * (seen.ndim - 1))
    starts = {*range(0, len(seen) - length, max(1, length // 3)), len(seen) - length}
    for start in sorted(starts):
        part = seen[start : start + length]
        total[start : start + length] += taper * _analyse(task, part).states
        weights[start : start + length] += taper
    return stepper.inputs.uncover(total / weights)


def _analyse(task: Task, seen: np.ndarray, drive: Drive = STILL, first=None) -> Analysis:
    stepper, background, sigma, spacing, iterations, ensemble = task
    known = Known(np.nan_to_num(seen), np.isfinite(seen).astype(float), sigma)
    if ensemble is not None:
        states, deviation, misfit = fit_ensemble(
            stepper, known, background, spacing, *ensemble, iterations, drive
        )
        return Analysis(states, seen, misfit, deviation)
    if first is None:
        guess = first_filled(seen, stepper.inputs.boundary, background.mean)
        first = background.estimate(guess, sigma[0])
    with jax.enable_x64(True):
        states, misfit = fit_start(stepper, first, known, background, *spacing, iterations, drive)
    return Analysis(np.asarray(states), seen, misfit=float(misfit))


def _bound(
    stepper: Stepper, observations, mask, spacing: tuple[int, int], parameters, fields
) -> tuple[np.ndarray, Stepper, Drive]:
    """Observations, the stepper that has the constant inputs, and those of each step."""
    every, between = spacing
    seen = check_observations(stepper, observations, mask, between)
    steps = (len(seen) - 1) // between * every
    stepper, drive = split_inputs(stepper, parameters, fields, steps, seen.shape[2:])
    return on_grid(stepper, seen, drive.fields is not None), stepper, drive

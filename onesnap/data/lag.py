"""How many states of a sequence lie between the two of a pair, and how noisy they are.

Where a step changes less than the noise of measured states, a pair tells more of the noise than of
the equation. A longer step changes more, and its noise is the same.

The noise is what differences of high order leave. Of white noise of deviation σ, the p-th difference
in time and the q-th along each of d axes has the variance

    σ² · C(2p, p) · C(2q, q)ᵈ,

while that of a field which is resolved falls quickly with p and q. So all of them have to tell the
same σ, or there is no white noise that could be told from the field.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import comb

import numpy as np
from jaxtyping import Float

from ..grid.states import check_states
from .dataset import Dataset

ORDERS = range(1, 9)  # of differences in time
ALONG = range(1, 5)  # of those in space, which have to agree
ALIKE = 1.1  # ratio of two estimates of one deviation that may be chance
SEEN = 10.0  # times the noise that a step should change
LARGE = 0.25  # of the deviation: a step that changes more is harder to learn than noise to bear
FEWEST = 8  # states, at least, that noise is told from
PARTS = 16  # of a sequence, at least, that are a step long
TRAJECTORIES = 4  # that noise is told from, at most
LOOKED_AT = 2**27  # bytes of states, at most: more would not tell more


@dataclass(frozen=True)
class Lag:
    """States from before to after in a pair, why so many, and the deviation of noise in the data."""

    steps: int = 1
    noise: Float[np.ndarray, " C"] | None = None  # None where there is none that can be told
    reason: str = ""


PAIRED = Lag()  # of pairs that were given as such


def noise_level(states) -> Float[np.ndarray, " C"]:
    """The deviation of white noise on the states `(time, channel, *space)` of a sequence.

    One for each channel; zero where none can be told from what happens.

    >>> import numpy as np, onesnap as snap
    >>> wave = np.sin(np.linspace(0, 6, 300)[:, None, None] - np.linspace(0, 6, 64))
    >>> noisy = wave + 0.01 * np.random.default_rng(0).normal(size=wave.shape)
    >>> bool(abs(snap.noise_level(noisy)[0] - 0.01) < 0.001), float(snap.noise_level(wave)[0]) < 1e-9
    (True, True)
    """
    states = check_states("states", states, gaps=True)
    space = tuple(range(2, states.ndim))
    if len(states) < FEWEST or min(states.shape[2:]) <= max(ALONG):
        return np.zeros(states.shape[1])
    least = np.full(states.shape[1], np.inf)
    rest = states
    for order in ORDERS[: len(states) // 2]:
        rest, tables = np.diff(rest, axis=0), []
        across = rest
        for along in ALONG:
            for axis in space:
                across = np.diff(across, axis=axis)
            scale = comb(2 * order, order) * comb(2 * along, along) ** len(space)
            # The middle of all times: what starts rough is not noise.
            tables.append(np.sqrt(_median_square(across) / scale))
        table = np.stack(tables)
        alike = table.max(axis=0) <= ALIKE * table.min(axis=0)
        least = np.where(alike, np.minimum(least, table.mean(axis=0)), least)
    return np.where(np.isfinite(least), least, 0.0)


def _median_square(rest: np.ndarray) -> Float[np.ndarray, " C"]:
    """The mean square over space, of which the median over times; missing values are left out."""
    known = np.isfinite(rest)
    axes = tuple(range(2, rest.ndim))
    squares = np.where(known, rest, 0.0) ** 2
    return np.median(squares.sum(axis=axes) / np.maximum(1, known.sum(axis=axes)), axis=0)


def find_lag(data: Dataset, wanted: int | str = "auto") -> Lag:
    """The lag that is wanted, or one whose change stands out from the noise of the states."""
    states = [part for part in _look(data) if len(part) >= FEWEST]
    noise = np.median([noise_level(part) for part in states], axis=0) if states else None
    if noise is None or not noise.any():
        if wanted != "auto":
            return Lag(int(wanted), None, "as set")
        return Lag(1, None, "no noise that could be told from what a step changes")
    sizes = np.sqrt(np.nanmean([_variance(part) for part in states], axis=0))
    share = np.max(noise / np.maximum(sizes, np.finfo(float).tiny))
    told = f"noise of {share:.2g} of the deviation in the data"
    longest = max(1, min(len(part) for part in states) // PARTS)
    if wanted != "auto":
        return Lag(int(wanted), noise, f"as set; {told}")
    first = ratio = _ratio(states, noise, 1)
    steps, enough = 1, min(SEEN, LARGE / share)
    while ratio < enough and steps < longest:
        steps += 1
        ratio = _ratio(states, noise, steps)
    words = f"{told}; a step changes {first:.2g} times that"
    return Lag(steps, noise, words if steps == 1 else f"{words}, {steps} of them {ratio:.2g} times")


def _ratio(states: list[np.ndarray], noise: np.ndarray, lag: int) -> float:
    """What a lag changes, without the noise and in units of it; the middle of channels with noise."""
    squares = [
        _median_square(part[lag:] - part[:-lag]) / np.maximum(noise, np.finfo(float).tiny) ** 2
        for part in states
    ]
    there = np.mean(squares, axis=0)[noise > 0]
    return float(np.sqrt(max(0.0, np.median(there) - 2.0)))


def _variance(states: np.ndarray) -> Float[np.ndarray, " C"]:
    return np.nanvar(states, axis=(0, *range(2, states.ndim)))


def _look(data: Dataset) -> list[np.ndarray]:
    """The first states of a few trajectories, spread over all; none where they would be too large."""
    count = min(TRAJECTORIES, len(data.trajectories))
    places = np.unique(np.linspace(0, len(data.trajectories) - 1, count).round().astype(int))
    most = LOOKED_AT // (count * 8 * int(np.prod(data.shape)))
    return [data.states(int(place), 0, most) for place in places] if most >= FEWEST else []


def with_lag(data: Dataset, wanted: int | str = "auto", history: int = 1) -> tuple[Dataset, Lag]:
    """The dataset with pairs as far apart as is wanted, or as its noise asks for."""
    check_lag(wanted)
    # Inputs that change may do so at every state, and a step has one value of each.
    lag = find_lag(data, 1 if data.changing and wanted == "auto" else wanted)
    return replace(data, lag=lag.steps, older=history - 1), lag


def check_history(history) -> None:
    """Raise unless this is a number of states, or "auto"."""
    whole = isinstance(history, int | np.integer) and not isinstance(history, bool) and history >= 1
    if not whole and not (isinstance(history, str) and history == "auto"):
        raise ValueError(f"history: expected an integer of at least 1, or 'auto', got {history!r}")


def check_lag(lag) -> None:
    """Raise unless this is a number of states, or "auto"."""
    whole = isinstance(lag, int | np.integer) and not isinstance(lag, bool) and lag >= 1
    if not whole and not (isinstance(lag, str) and lag == "auto"):
        raise ValueError(f"lag: expected an integer of at least 1, or 'auto', got {lag!r}")

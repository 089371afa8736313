"""How many states of a sequence lie between the two of a pair, and what is done about noise.

Where a step changes less than the noise of measured states, a pair tells more of the noise than of
the equation. A longer step changes more, and its noise is the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from .dataset import Dataset
from .denoise import Denoiser, make_denoiser, without_noise
from .noise import FEWEST, median_square, noise_level

SEEN = 10.0  # times the noise that a step should change
LARGE = 0.25  # of the deviation: a step that changes more is harder to learn than noise to bear
PARTS = 16  # of a sequence, at least, that are a step long
TRAJECTORIES = 4  # that noise is told from, at most
LOOKED_AT = 2**27  # bytes of states, at most: more would not tell more


@dataclass(frozen=True)
class Lag:
    """States from before to after in a pair, why so many, and the noise of the data.

    `noise` is the deviation in the states that are learned from, None where there is none that can be
    told; `denoiser` is what takes it off before, None where it is left as it is. Whether it could be
    taken off says `removable`.
    """

    steps: int = 1
    noise: Float[np.ndarray, " C"] | None = None
    reason: str = ""
    denoiser: Denoiser | None = None
    removable: bool = False


PAIRED = Lag()  # of pairs that were given as such


def find_lag(data: Dataset, wanted: int | str = "auto", denoise: bool = False) -> Lag:
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
    denoiser, left = make_denoiser(states, noise), noise
    removable = denoiser is not None
    if not denoise:
        denoiser = None
    if denoiser is not None:
        left = denoiser.left
        told += (
            f", {np.max(left / np.maximum(noise, np.finfo(float).tiny)):.2g} of it left when denoised"
        )
    if wanted != "auto":
        return Lag(int(wanted), left, f"as set; {told}", denoiser, removable)
    longest = max(1, min(len(part) for part in states) // PARTS)
    first = ratio = _ratio(states, noise, 1)
    steps, enough = 1, min(SEEN, LARGE / share)
    while ratio < enough and steps < longest:
        steps += 1
        ratio = _ratio(states, noise, steps)
    words = f"{told}; a step changes {first:.2g} times that"
    if steps > 1:
        words += f", {steps} of them {ratio:.2g} times"
    return Lag(steps, left, words, denoiser, removable)


def _ratio(states: list[np.ndarray], noise: np.ndarray, lag: int) -> float:
    """What a lag changes, without the noise and in units of it; the middle of channels with noise."""
    unit = np.where(noise > 0, noise, 1.0) ** 2
    squares = [median_square(part[lag:] - part[:-lag]) / unit for part in states]
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


def with_lag(
    data: Dataset, wanted: int | str = "auto", history: int = 1, denoise: bool = False
) -> tuple[Dataset, Lag]:
    """The dataset without noise, and its pairs as far apart as is wanted or as the noise asks for."""
    check_lag(wanted)
    # Inputs that change may do so at every state, and a step has one value of each.
    lag = find_lag(data, 1 if data.changing and wanted == "auto" else wanted, denoise)
    if lag.denoiser is not None:
        data = without_noise(data, lag.denoiser)
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

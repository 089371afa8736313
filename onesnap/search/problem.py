"""The problem that a fit has to settle: the settings as they were given, and what the data says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from ..data.lag import PAIRED, Lag, check_history, check_lag
from ..data.pairs import Pairs
from ..grid.scaling import MEANS, range_of, widen
from ..network import lstsq
from ..network.features import ACTIVATIONS, WEIGHTS
from ..network.layer import NOISE_FORMS
from ..symmetry import Group
from .policy import EFFORTS


@dataclass(frozen=True)
class Problem:
    """Arguments of a Surrogate, of which any may be "auto", and pairs to learn from.

    `boundary` is what lies beyond both ends of each axis. `kinds` are the types of the fields,
    "auto" where they have to be found, None where the symmetries known here cannot move them.
    `fill` is the value of cells that never have one.
    """

    given: Mapping[str, Any]
    pairs: Pairs
    boundary: Any = "periodic"
    kinds: tuple[str, ...] | str | None = "auto"
    fill: np.ndarray | None = None
    count: int | None = None  # of pairs that will be learned from, where these are a sample of them
    lag: Lag = PAIRED

    @property
    def learned(self) -> int:
        """How many pairs will be learned from."""
        return self.count or len(self.pairs)

    @property
    def dimension(self) -> int:
        return len(self.pairs.space)

    @property
    def channels(self) -> int:
        return self.pairs.before.shape[1]

    @cached_property
    def change(self) -> Float[np.ndarray, " C"]:
        """Root mean square of what a step changes, for each channel; never zero."""
        pairs = self.pairs
        gap = pairs.after - pairs.before
        if pairs.missing is not None:
            gap = np.where(pairs.missing[:, None], np.nan, gap)
        axes = (0, *range(2, gap.ndim))
        most = np.nanmax(np.abs(gap), axis=axes, keepdims=True)  # whose square may be too large
        most = np.where(most > 0, most, 1.0)
        change = np.sqrt(np.nanmean((gap / most) ** 2, axis=axes)) * most.ravel()
        # What never changes is measured by its own size, or by one.
        size = np.sqrt(np.mean(pairs.before**2, axis=axes))
        return np.where(change > 0, change, np.where(size > 0, size, 1.0))

    @property
    def floor(self) -> float:
        """Noise that the data has, in units of the range, where all channels have as much."""
        if self.lag.noise is None:
            return 0.0
        low, high = widen(*range_of(self.pairs.before, "keep"))
        return float(np.min(self.lag.noise / (high - low)))

    def free(self, *names: str) -> bool:
        """Whether all these settings are to be chosen."""
        return all(isinstance(self.given[name], str) and self.given[name] == "auto" for name in names)


def _expect(name: str, value, fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"{name}: expected {expected}, got {value!r}")


def _number(value, least: float, open_end: bool = False) -> bool:
    real = isinstance(value, int | float | np.number) and bool(least <= value < np.inf)
    return real and not (open_end and value == least)


def _whole(value, least: int) -> bool:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and bool(value >= least)


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise at the first argument of a Surrogate that makes no sense, whatever the data."""
    named = {
        "activation": tuple(ACTIVATIONS),
        "weights": WEIGHTS,
        "noise_form": ("auto", *NOISE_FORMS),
        "mean": ("auto", *MEANS),
        "solver": lstsq.SOLVERS,
        "dtype": ("float32", "float64"),
        "effort": EFFORTS,
    }
    for name, known in named.items():
        _expect(name, given[name], given[name] in known, f"one of {', '.join(known)}")
    counts = {
        "hidden": (0, "auto"),
        "rank": (1, "auto", None),
        "windows": (1, "auto", None),
        "seed": (0,),
    }
    if not isinstance(given["context"], tuple | list):
        counts["context"] = (0, "auto")
    for name, (least, *others) in counts.items():
        value = given[name]
        words = "".join(f", or {other!r}" for other in others)
        fine = _whole(value, least) or any(value is other or value == other for other in others)
        _expect(name, value, fine, f"an integer of at least {least}{words}")
    check_lag(given["lag"])
    check_history(given["history"])
    noise, gain, margin = given["noise"], given["gain"], given["margin"]
    fine = noise == "auto" or _number(noise, 0)
    _expect("noise", noise, fine, "a deviation of at least 0, or 'auto'")
    _expect("gain", gain, gain == "auto" or _number(gain, 0, True), "a number above 0, or 'auto'")
    fine = margin is None or _number(margin, 0)
    _expect("margin", margin, fine, "a number of at least 0, or None")
    fine = given["shrinkage"] in (None, "auto", np.inf) or _number(given["shrinkage"], 0)
    _expect("shrinkage", given["shrinkage"], fine, "a number of at least 0, 'auto' or None")
    fine = isinstance(given["potential"], bool | np.bool_) or given["potential"] == "auto"
    _expect("potential", given["potential"], fine, "True, False or 'auto'")
    widths = given["surroundings"]
    fine = isinstance(widths, tuple | list) and all(_whole(width, 2) for width in widths)
    fine = widths == "auto" or (fine and list(widths) == sorted(set(widths)))
    expected = "integers of at least 2 in increasing order, as (3, 9), or 'auto'"
    _expect("surroundings", widths, fine, expected)
    for name in ("equivariant", "denoise"):
        _expect(name, given[name], isinstance(given[name], bool | np.bool_), "True or False")
    fine = isinstance(given["symmetry"], Group) or given["symmetry"] in (None, "auto")
    _expect("symmetry", given["symmetry"], fine, "a Group (as of onesnap.symmetry), None or 'auto'")
    fine = isinstance(given["averaging"], Group) or given["averaging"] is None
    _expect("averaging", given["averaging"], fine, "a Group (as of onesnap.symmetry) or None")

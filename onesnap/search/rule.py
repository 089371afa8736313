"""The one rule: the simplest candidate within one standard error of the best.

Errors are logarithms, `(fold, block)`: a row for each fold, NaN where it was not left out, and in it
a few blocks of held-out windows, the same for all candidates. Compared are differences, in which what
makes a fold hard for everybody cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from .policy import POLICY

Errors = Float[np.ndarray, "folds blocks"]


def parts(errors: Errors) -> Float[np.ndarray, " parts"]:
    """What the mean is taken over: folds, or where few were left out, blocks of them."""
    there = errors[~np.isnan(errors).any(axis=1)]
    return there.mean(axis=1) if len(there) >= POLICY.few else there.ravel()


def mean(errors: Errors) -> float:
    """The mean logarithm; infinite where nothing was judged."""
    return float(np.mean(known)) if len(known := parts(errors)) else np.inf


def standard_error(errors: Errors) -> float:
    """Of the mean; of a single part nothing is known."""
    known = parts(errors)
    return float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else 0.0


def comparable(candidate: Errors, best: Errors) -> bool:
    """Whether a candidate is not worse than another by more than a standard error.

    Nor by a percent: candidates that are nearly one differ by round-off, everywhere alike. To be
    worse it must also have the larger root mean square: one that is better only where little happens
    would be worse in every forecast.
    """
    gap = candidate - best
    both = ~np.isnan(gap)
    chance = max(standard_error(gap), POLICY.explained)
    return mean(gap) <= chance or _square(candidate[both]) <= _square(best[both])


def loses(candidate: Errors, best: Errors) -> bool:
    """Whether the mean square of a candidate is larger than another's by more than a standard error.

    Where little happens, a model that learns nothing is nearly right; only squares tell its worth.
    """
    gap = np.exp(2 * candidate) - np.exp(2 * best)
    return mean(gap) > standard_error(gap)


def _square(errors: np.ndarray) -> float:
    """The logarithm of the mean square."""
    return float(np.logaddexp.reduce(2 * errors)) if len(errors) else np.inf


def simplest(candidates: Sequence[Errors]) -> int:
    """Of candidates in order, the simplest first, the number of the first comparable to the best."""
    best = min(candidates, key=mean)
    return next((n for n, errors in enumerate(candidates) if comparable(errors, best)), 0)


def in_words(errors: Errors) -> str:
    """An error over what a step changes, with its standard error."""
    size = np.exp(mean(errors))
    return f"{size:.2g} ± {size * standard_error(errors):.1g}"

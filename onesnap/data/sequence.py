"""Pairs out of arrays in memory: given as such, or taken from sequences of states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Shaped

from .dataset import Dataset
from .gaps import Gaps, pairs_with_gaps
from .lag import PAIRED, Lag, with_lag
from .pairs import Pairs
from .stream import as_dataset


class Paired(NamedTuple):
    """Checked pairs, the cells without values, and how far apart the states of a pair are."""

    pairs: Pairs
    gaps: Gaps
    lag: Lag


def as_pairs(
    before, after=None, parameters=None, fields=None, *, lag: int | str = "auto",
    history: int = 1, count: int | None = None, denoise: bool = False,
) -> Paired:  # fmt: skip
    """Pairs as they are, or all those of sequences `(time, channel, *space)`, or `count` of them.

    What stands beside a sequence, `parameters` `(time, P)` and `fields` `(F, *space)` or
    `(time, F, *space)`, is that of its states, and holds for the step that begins there.
    """
    if after is not None:
        for name, value in ("lag", lag), ("history", history):
            if value not in (1, "auto"):
                raise ValueError(
                    f"{name}: expected 1 for pairs, got {value!r}; give a sequence alone, as in "
                    "fit(trajectory), in which other states can be looked up"
                )
        return Paired(*pairs_with_gaps(before, after, parameters, fields), PAIRED)
    data = as_dataset(before)
    several = isinstance(before, list | tuple) and np.ndim(before[0]) == 2 + len(data.space)
    inputs = {"parameters": (parameters, 2), "fields": (fields, 2 + len(data.space))}
    known = {name: value for name, (value, _) in inputs.items() if value is not None}
    changing = {
        name: value if several else [value]
        for name, value in known.items()
        if several or np.ndim(value) == inputs[name][1]
    }
    # Inputs that change may do so at every state, and a step has one value of each.
    data, found = with_lag(data, 1 if changing and lag == "auto" else lag, history, denoise)
    numbers = data.numbers(count)
    pairs = data.pairs(numbers=numbers)
    beside = known | {n: _at_pairs(n, rows, data)[numbers] for n, rows in changing.items()}
    given: dict[str, Any] = pairs | beside
    paired, gaps = pairs_with_gaps(**given)
    return Paired(replace(paired, driven=bool(changing or data.changing)), gaps, found)


def _at_pairs(name: str, rows, data: Dataset) -> Shaped[np.ndarray, "pairs ..."]:
    """What is known at each state of each sequence, at the states that pairs begin with."""
    arrays, steps = list(map(np.asarray, rows)), [t.steps for t in data.trajectories]
    if [len(array) for array in arrays] != steps:
        raise ValueError(
            f"{name}: expected a row for each state of each sequence, {steps}, got "
            f"{[len(array) for array in arrays]}"
        )
    first = data.lag * data.older
    return np.concatenate([array[first : len(array) - data.lag] for array in arrays])

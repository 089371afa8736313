"""What users give to learn from: arrays in memory, or a dataset that is read a part at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import fit as fitting
from ..data.dataset import Dataset
from ..data.lag import Lag, check_history, with_lag
from ..data.pairs import Pairs
from ..data.sequence import as_pairs
from ..data.stream import Stream, as_dataset, is_plain, make_stream
from ..fit import Fit
from ..search.policy import POLICY
from .pieces import sample_of


@dataclass(frozen=True)
class Material:
    """Pairs to choose settings from, and the stream that they are a sample of, if there is more.

    `given` are the arguments of the Surrogate with the history that the data asks for, `known` is
    what the data tells `fit.prepare` beside the pairs, the `lag` among it.
    """

    given: Mapping[str, Any]
    pairs: Pairs
    known: Mapping[str, Any]
    lag: Lag
    stream: Stream | None = None

    def doubts(self, prepared: Fit) -> list[str]:
        """Words of warning about the boundary that a model was prepared with."""
        if self.stream is None:
            return []
        return self.stream.dataset.doubts(fitting.known_boundary(prepared))

    @property
    def noise_left(self) -> list[str]:
        """Words of warning about noise that is learned from, but could be taken off."""
        if not self.lag.removable:
            return []
        return [
            f"prepare: noise is left in the data, which fit takes off ({self.lag.reason}); call fit, "
            "with an executor for many workers, or give what snap.denoise leaves of the states; "
            "denoise=False says that the noise is to stay"
        ]


def standing_alone(before, after) -> Dataset | None:
    """The dataset that is read a part at a time; None for arrays, which are in memory."""
    return None if after is not None or is_plain(before) else as_dataset(before)


def gather(
    params: Mapping[str, Any], data: Dataset | None, before, after, parameters, fields,
    count: int | None = None, denoise: bool = False,
) -> Material:  # fmt: skip
    """The pairs of a dataset, or else of arrays, or `count` of them, with what is known of them."""
    given = {**params, "history": _history(params, data, before, after, count)}
    if data is not None:
        stream, sample, known = sample_of(data, given, count, denoise)
        return Material(given, sample, known._asdict(), known.lag, stream)
    which = {"lag": given["lag"], "history": given["history"], "count": count, "denoise": denoise}
    pairs, gaps, lag = as_pairs(before, after, parameters, fields, **which)
    return Material(given, pairs, {"fill": gaps.fill, "lag": lag}, lag)


def _history(
    params: Mapping[str, Any], data: Dataset | None, before, after, count: int | None
) -> int:
    """How many states a step reads: as many as given, or as the data asks for."""
    check_history(params["history"])
    if params["history"] != "auto":
        return params["history"]
    if after is not None:
        return 1
    given, whole = {**params, "history": 1}, as_dataset(before) if data is None else data
    lagged, _ = with_lag(whole, given["lag"], POLICY.few, given["denoise"])
    if lagged.pair_count < POLICY.few:
        return 1
    sample = make_stream(lagged, lagged.numbers(count)).sample()
    return fitting.history_of(given, sample, None if data is None else whole.told_boundary)

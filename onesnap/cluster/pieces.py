"""The pairs of a dataset in pieces, what a piece teaches, and the model of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from .. import fit as fitting
from ..data.card import card, check_names, check_spacing
from ..data.dataset import Dataset
from ..data.fingerprint import SIZE, fingerprints, join
from ..data.lag import Lag, with_lag
from ..data.pairs import Pairs
from ..data.stream import Stream, make_stream
from ..fit import Fit
from ..network import native
from ..network.accumulator import Accumulator
from ..network.layer import Layer
from ..network.sampler import Sampler
from .prepared import mark

PIECE_BYTES = 2**27  # of states in float64: some seconds of work, and little to do again
MOST_PIECES = 64  # unless more are asked for: each brings an accumulator to the one that adds them up


@dataclass(frozen=True)
class Piece:
    """What a worker has to know: the layer, and which pairs to read from which file."""

    sampler: Sampler
    layer: Layer
    solver: str
    mark: str
    stream: Stream | None  # None to make the sums of nothing

    def zero(self) -> Accumulator:
        """The sums of no pairs."""
        inputs = self.sampler.inputs
        totals = self.layer.start(inputs.outputs, self.solver)
        return Accumulator(totals, np.zeros((0, inputs.channels, SIZE)), 0, self.mark)

    def learn(self, progress: fitting.Progress = None) -> Accumulator:
        """The sums of all its pairs, read a batch at a time."""
        zero = self.zero()
        totals, seen, count = zero.totals, zero.seen, 0
        if self.stream is None:
            return zero
        with one_thread():
            for done, pairs in self.stream.batches():
                totals = self.layer.absorb(totals, self.sampler.rows(pairs))
                seen, count = join(seen, fingerprints(pairs.before)), done
                if progress is not None:
                    progress(done, len(self.stream.numbers))
        return replace(zero, totals=totals, seen=seen, pairs=count)


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for each piece: there are others beside, and the same sums in the same order."""
    token = native.THREADS.set(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        native.THREADS.reset(token)


class Known(NamedTuple):
    """What a dataset tells a model that is prepared with a sample of it; see `fit.prepare`."""

    boundary: Any
    kinds: Any
    fill: np.ndarray | None
    card: dict[str, Any]
    count: int
    lag: Lag


def sample_of(
    data: Dataset, given: Mapping[str, Any], count: int | None = None, denoise: bool = False
) -> tuple[Stream, Pairs, Known]:
    """All pairs of a dataset or `count` of them, a sample to choose settings from, what is known."""
    data, lag = with_lag(data, given["lag"], given["history"], denoise)
    stream = make_stream(data, data.numbers(count))
    known = data.told_boundary, data.kinds, stream.fill, card(data), len(stream.numbers), lag
    return stream, stream.sample(), Known(*known)


def with_sample(prepared: Fit, sample: Pairs) -> Fit:
    """A prepared fit that knows the last pair of the sample it was prepared with, and its states."""
    assert prepared.training is not None
    training = replace(prepared.training, last=sample.last)
    return replace(prepared, seen=fingerprints(sample.before), training=training)


def stream_like(fit: Fit, data: Dataset, part: tuple[int, int] | None = None) -> Stream:
    """All pairs of a dataset, or one of so many parts of them, read as a prepared model reads them.

    A part of the data must not decide anew which parameters vary, or which cells have no value.
    """
    if (known := fit.card) is not None:
        data = replace(data, lag=fit.plan.lag, older=fit.plan.history - 1)
        dt = None if data.dt is None else data.lag * data.dt
        check_spacing(known, data.path, dt, data.dx, data.time_units)
        still = check_names(known, data, "was prepared")
        learned = tuple(data.parameters.index(name) for name in still)
        data = replace(data, learned=learned)
    gaps = fitting.known_gaps(fit)
    if gaps.mask is not None and gaps.mask.shape != data.space:
        raise ValueError(
            f"{data.path}: expected the grid {gaps.mask.shape} of the mask that the model was "
            f"prepared with, got {data.space}"
        )
    numbers = data.numbers()
    if part is not None:
        if len(part) != 2 or not all(isinstance(one, int | np.integer) for one in part):
            raise ValueError(f"part: expected two integers, (1, 16) for 1 of 16, got {part!r}")
        number, count = part
        if not 1 <= number <= count:
            raise ValueError(f"part: expected 1 to {count} of {count}, got {number}")
        numbers = np.array_split(numbers, count)[number - 1]
    stream = Stream(replace(data, mask=gaps.mask), numbers, gaps.fill)
    if len(numbers):
        fitting.check_batch(fit, stream.complete(stream.dataset.pairs(numbers=numbers[:1])))
    return stream


def make_piece(fit: Fit, stream: Stream | None, name: str | None = None) -> Piece:
    """What a worker has to know to learn all pairs of a stream."""
    training = fit.training
    if training is None:
        raise fitting.NotFittedError(
            "accumulate: a model from a file has forgotten its training rows; prepare one anew"
        )
    parts, solver = training.settled.parts, training.given["solver"]
    return Piece(parts.sampler, parts.layer, solver, name or mark(fit), stream)


def cut(fit: Fit, stream: Stream, pieces: int | None) -> list[Piece]:
    """A stream in pieces; how many depends on the data alone, so that any workers give one model."""
    if pieces is None:
        size = 16 * int(np.prod(stream.dataset.shape)) * len(stream.numbers)
        pieces = int(np.clip(-(-size // PIECE_BYTES), 1, MOST_PIECES))
    name = mark(fit)
    parts = split(stream, min(pieces, len(stream.numbers)))
    return [make_piece(fit, replace(stream, numbers=part), name) for part in parts]


def split(stream: Stream, count: int) -> list[np.ndarray]:
    """The numbers of the pairs in so many parts, each of neighbours."""
    return np.array_split(stream.numbers, count)


def checked(accumulators: Iterable[Any]) -> Iterator[Accumulator]:
    """The same, one at a time, for each may be large, after a look at what they are."""
    for one in accumulators:
        if not isinstance(one, Accumulator):
            raise ValueError(
                "accumulators: expected what accumulate or Accumulator.load gives, got a "
                f"{type(one).__name__}"
            )
        yield one


def combine(fit: Fit, total: Accumulator) -> Fit:
    """The model of all that was accumulated."""
    training = fit.training
    assert training is not None
    if total.mark != mark(fit):
        raise ValueError(
            "accumulators: these were made with other settings or another random layer than those "
            "of this model; combine them with the prepared model that they were made with"
        )
    if not total.pairs:
        raise ValueError("accumulators: expected sums of one pair or more, got those of none")
    sampler = training.settled.parts.sampler
    windows = sampler.count(training.sample) // len(training.sample)
    seen = total.seen if fit.seen is None else join(fit.seen, total.seen)
    # As it was prepared: a fit that has learned already begins anew.
    last = training.last or training.sample.last
    parts = training.settled.parts
    training = replace(training, parts=parts, totals=total.totals, last=last, shape=None)
    left_out = windows * total.pairs - total.totals[0].rows
    plan = training.settled.plan
    return fitting.solve(replace(fit, plan=plan, seen=seen, left_out=left_out, training=training))

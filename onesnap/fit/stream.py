"""Pairs are added a batch at a time; a fit that was interrupted goes on from its checkpoint."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..data.checkpoint import load_checkpoint, save_checkpoint
from ..data.fingerprint import Fingerprints
from ..data.pairs import Pairs
from ..data.stream import Stream
from ..network.layer import Totals
from .readout import solve
from .record import Fit, Progress, Training, seen_with, training_of

CHECKPOINT_SECONDS = 30.0


def learn_stream(
    fit: Fit, stream: Stream, sample: Pairs, checkpoint: str | Path | None, progress: Progress
) -> Fit:
    """Add all pairs of a stream, a batch at a time, and solve."""
    training = training_of(fit)
    sampler, layer, totals, done = training.parts.sampler, training.parts.layer, training.totals, 0
    mark = _fingerprint(training, stream, sample)
    saved, seen = time.monotonic(), seen_with(fit.seen, sample)
    if checkpoint is not None:
        totals, seen, done = _resume(checkpoint, totals, seen, mark)
    try:
        for number, pairs in stream.batches(done):
            totals = layer.absorb(totals, sampler.rows(pairs))
            done, seen = number, seen_with(seen, pairs)
            if progress is not None:
                progress(done, len(stream.numbers))
            if checkpoint is not None and time.monotonic() - saved > CHECKPOINT_SECONDS:
                _keep(checkpoint, totals, seen, done, mark)
                saved = time.monotonic()
    finally:
        if checkpoint is not None:
            _keep(checkpoint, totals, seen, done, mark)
    left_out = sampler.count(sample) // len(sample) * len(stream.numbers) - totals[0].rows
    training = replace(training, totals=totals, last=sample.last)
    return solve(replace(fit, seen=seen, left_out=left_out, training=training))


def _fingerprint(training: Training, stream: Stream, sample: Pairs) -> str:
    """What must not have changed for a checkpoint to be of use."""
    sampler, features = training.parts.sampler, training.parts.layer.features
    inputs = sampler.inputs
    geometry = [inputs.extent, inputs.stride, inputs.boundary, inputs.surroundings, sampler.group]
    reading = [
        inputs.scaling.mean,
        inputs.scaling.margin,
        inputs.context.position,
        features.activation,
    ]
    choice = [sampler.windows, sampler.share, sampler.orbits, sampler.noise, sampler.seed]
    layer = training.parts.layer
    known = [*geometry, *reading, *choice, layer.noise_form, layer.linear is None]
    known += [training.given["solver"], *inputs.edges.offsets[1:]]  # of blocks at open ends
    total = hashlib.sha256(repr(known).encode())
    arrays = [features.weights, features.bias, inputs.scaling.low, inputs.scaling.high]
    arrays += [inputs.context.low, inputs.context.high, sample.fields]
    for array in (*arrays, stream.numbers, sample.before, sample.after, sample.parameters):
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _keep(path: str | Path, totals: Totals, seen: Fingerprints, done: int, mark: str) -> None:
    tensors = {"seen": seen}
    for number, moments in enumerate(totals):
        tensors |= {f"factor {number}": moments.factor, f"slopes {number}": moments.slopes}
    save_checkpoint(path, tensors, done, [moments.rows for moments in totals], mark)


def _resume(
    path: str | Path, empty: Totals, seen: Fingerprints, mark: str
) -> tuple[Totals, Fingerprints, int]:
    """What an interrupted fit had learned, and from how many pairs; nothing if there is no file."""
    shapes: dict[str, tuple[int, ...]] = {"seen": (-1, *seen.shape[1:])}
    for number, moments in enumerate(empty):
        shapes |= {f"factor {number}": moments.factor.shape, f"slopes {number}": moments.slopes.shape}
    kept = load_checkpoint(path, shapes, mark)
    if kept is None:
        return empty, seen, 0
    arrays, header = kept
    totals = tuple(
        replace(
            moments,
            rows=header["rows"][number],
            factor=arrays[f"factor {number}"],
            slopes=arrays[f"slopes {number}"],
        )
        for number, moments in enumerate(empty)
    )
    return totals, arrays["seen"], header["done"]

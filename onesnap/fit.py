"""The record of a fit: everything that a model has learned, whole and frozen.

It grows by pure functions: `prepare` settles the settings, `learn` adds pairs, `solve` makes the
stepper. `Surrogate` holds the latest one.
"""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from .data.checkpoint import load_checkpoint, save_checkpoint
from .data.fingerprint import Fingerprints, fingerprints, join
from .data.gaps import Gaps
from .data.lag import PAIRED, Lag
from .data.pairs import Pairs
from .data.stream import Stream
from .evaluate.calibration import calibrate
from .evaluate.ensemble import draw_members
from .grid.boundary import both_sides
from .model.plan import Plan
from .model.stepper import Stepper, average
from .network import lstsq
from .network.layer import Totals
from .search.build import Parts
from .search.checks import bad_pairs, check_sizes, far_outside, torn_axes
from .search.folds import ordered, spread
from .search.history import find_history
from .search.policy import POLICY
from .search.problem import Problem, check_settings
from .search.search import Noise, Settled, settle
from .search.stability import UNTRIED, Stability, log_error, most_useful, try_stability
from .search.unlike import first_divergence, superposed

CHECKPOINT_SECONDS = 30.0
CALIBRATION_PAIRS = 20  # kept to calibrate members on, and to start trial forecasts from
# Where the noise is given, trial forecasts choose nothing, and may cost a tenth.
GIVEN = replace(POLICY, trial_work=POLICY.cheap * POLICY.trial_work)

Progress = Callable[[int, int], object] | None


class NotFittedError(ValueError, AttributeError):
    """Raised when a model is asked for something before it has learned anything.

    >>> snap.Surrogate().predict(truth[0])
    Traceback (most recent call last):
    onesnap.fit.NotFittedError: fit_: the model has not learned yet; call fit(before, after)
    """


class Shape(NamedTuple):
    """The form of members, None where none can be drawn, and the noise it was calibrated with."""

    noise: Noise
    matrix: np.ndarray | None


@dataclass(frozen=True)
class Training:
    """What a model needs to learn on; one from a file has it no more."""

    given: Mapping[str, Any]  # arguments of the Surrogate when it was prepared
    parts: Parts
    totals: Totals
    settled: Settled  # as the search left it: the reasons, and noises until a trial is steady
    sample: Pairs  # some of the first pairs, on which members are calibrated
    last: Pairs | None = None  # the last pair learned from
    plain: Stepper | None = None  # the stepper before averaging
    shape: Shape | None = None  # of members


@dataclass(frozen=True)
class Fit:
    """A plan, the stepper that came of it, and what is needed to go on."""

    plan: Plan
    stepper: Stepper | None = None  # None before the first pair was learned
    card: dict[str, Any] | None = None  # of the data that was learned from
    members: np.ndarray | None = None  # deviations from the readout, once they were asked for
    seen: Fingerprints | None = None  # of the states that were learned from
    left_out: int = 0  # windows that touch missing values or reach over an edge
    training: Training | None = None


def prepare(
    given: Mapping[str, Any],
    pairs: Pairs,
    boundary: Any = None,
    kinds: Any = "auto",
    fill: np.ndarray | None = None,
    card: dict[str, Any] | None = None,
    count: int | None = None,
    lag: Lag = PAIRED,
) -> Fit:
    """Choose the settings and draw the random layer, without learning yet.

    A `boundary` of None is not known, and looked for in the data. The pairs may be a sample of
    `count` ones to come.
    """
    check_settings(given)
    check_sizes(pairs)
    sides = both_sides(_boundary(given, pairs, boundary), len(pairs.space))
    settled = settle(Problem(given, pairs, sides, kinds, fill, count, lag))
    for words in settled.warnings:
        warnings.warn(words, stacklevel=3)
    parts = settled.parts
    totals = parts.layer.start(parts.sampler.inputs.outputs, given["solver"])
    sample = ordered(pairs)[spread(len(pairs), CALIBRATION_PAIRS)]
    training = Training(given, parts, totals, settled, sample)
    return Fit(settled.plan, card=card, training=training)


def history_of(given: Mapping[str, Any], pairs: Pairs, known: Any = None) -> int:
    """How many states a step should read, of those that pairs have before them.

    A boundary that is `known` is what they are judged on, as in `prepare`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `prepare` gives them
        sides = both_sides(_boundary(given, pairs, known), len(pairs.space))
    return find_history(Problem(given, pairs, sides), POLICY.few)


def _boundary(given: Mapping[str, Any], pairs: Pairs, known: Any = None) -> Any:
    """The boundary that is given, or else the known one, or else what the data looks like."""
    if not (isinstance(given["boundary"], str) and given["boundary"] == "auto"):
        return given["boundary"]
    return _find_boundary(pairs) if known is None else known


def _find_boundary(pairs: Pairs) -> tuple[str, ...]:
    """Periodic, but for axes whose ends are no neighbours."""
    torn = torn_axes(pairs)
    if torn:
        warnings.warn(
            f"boundary: the two ends of axis {' and '.join(map(str, torn))} differ by more than "
            "neighbouring cells do, so that they are taken as open; give boundary='periodic', 'wall' "
            "or a value that is held there if that is wrong",
            stacklevel=5,
        )
    return tuple("open" if axis in torn else "periodic" for axis in range(len(pairs.space)))


def without_bad(pairs: Pairs) -> Pairs:
    """The pairs that can be learned from; others are named in a warning."""
    bad = bad_pairs(pairs)
    if not bad:
        return pairs
    listed = "; ".join(f"{number}: {why}" for number, why in list(bad.items())[:10])
    more = f" and {len(bad) - 10} more" if len(bad) > 10 else ""
    warnings.warn(f"left out {len(bad)} of {len(pairs)} pairs ({listed}{more})", stacklevel=3)
    return pairs[[number for number in range(len(pairs)) if number not in bad]]


def known_gaps(fit: Fit) -> Gaps:
    """The cells that have no value in all that a model was prepared with."""
    inputs = _training(fit).parts.sampler.inputs
    if inputs.fill is None:
        return Gaps()
    return Gaps(np.asarray(inputs.context.fields[-1]) > 0.5, np.asarray(inputs.fill))


def known_boundary(fit: Fit) -> Any:
    """What lies beyond both ends of each axis."""
    return _training(fit).parts.sampler.inputs.boundary


def check_batch(fit: Fit, pairs: Pairs) -> None:
    """Raise unless the pairs look like those that the model was prepared with."""
    inputs = _training(fit).parts.sampler.inputs
    expected = inputs.channels, len(inputs.stride), inputs.context.low.shape[0]
    beside = pairs.parameters.shape[1] + pairs.fields.shape[1]
    if fit.plan.potential:
        beside += pairs.before.shape[1] * len(pairs.space)
    got = pairs.before.shape[1], len(pairs.space), beside
    if expected != got:
        raise ValueError(
            "before: expected (channels, spatial axes, context values) as in the first batch, "
            f"{expected}, got {got}"
        )
    inputs.check_grid(pairs.space)
    if words := far_outside(inputs.scaling, pairs.before):
        warnings.warn(words, stacklevel=3)


def learn(fit: Fit, pairs: Pairs, progress: Progress = None) -> Fit:
    """Add pairs, and solve."""
    training = _training(fit)
    sampler, layer, totals = training.parts.sampler, training.parts.layer, training.totals
    count, before = sampler.count(pairs), totals[0].rows
    # In an order of their own: sums of numbers in another order differ by round-off.
    for rows in sampler.rows(ordered(pairs)):
        totals = layer.absorb(totals, [rows])
        if progress is not None:
            progress(totals[0].rows - before, count)
    if progress is not None:  # also where windows were left out
        progress(count, count)
    left_out = fit.left_out + count - (totals[0].rows - before)
    training = replace(training, totals=totals, last=pairs.last)
    return solve(replace(fit, seen=_seen(fit.seen, pairs), left_out=left_out, training=training))


def learn_stream(
    fit: Fit, stream: Stream, sample: Pairs, checkpoint: str | Path | None, progress: Progress
) -> Fit:
    """Add all pairs of a stream, a batch at a time, and solve."""
    training = _training(fit)
    sampler, layer, totals, done = training.parts.sampler, training.parts.layer, training.totals, 0
    mark = _fingerprint(training, stream, sample)
    saved, seen = time.monotonic(), _seen(fit.seen, sample)
    if checkpoint is not None:
        totals, seen, done = _resume(checkpoint, totals, seen, mark)
    try:
        for number, pairs in stream.batches(done):
            totals = layer.absorb(totals, sampler.rows(pairs))
            done, seen = number, _seen(seen, pairs)
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


def _seen(known: Fingerprints | None, pairs: Pairs) -> Fingerprints:
    """Fingerprints of what was learned, with those of further pairs."""
    new = fingerprints(pairs.before)
    return new if known is None else join(known, new)


def merge(fit: Fit, other: Fit) -> Fit:
    """Add what a model prepared with the same layer has learned from other pairs."""
    mine, theirs = _training(fit), _training(other)
    same = [
        # Parameters and fields are those of the last pair, and may differ.
        (one.parts.layer.features, one.parts.sampler.inputs.bind(np.zeros(0), np.zeros(0)))
        for one in (mine, theirs)
    ]
    if not eqx.tree_equal(*same):
        raise ValueError(
            "other: expected a model with the same random layer and inputs; "
            "prepare one model, copy it with copy.copy, and train the copies apart"
        )
    if mine.last is None and theirs.last is None:
        raise NotFittedError("other: neither model has learned yet; call partial_fit first")
    totals = tuple(map(lstsq.merge, mine.totals, theirs.totals))
    seen = fit.seen if other.seen is None else other.seen
    if fit.seen is not None and other.seen is not None:
        seen = join(fit.seen, other.seen)
    training = replace(mine, totals=totals, last=mine.last or theirs.last)
    left_out = fit.left_out + other.left_out
    return solve(replace(fit, seen=seen, left_out=left_out, training=training))


def solve(fit: Fit) -> Fit:
    """Solve for the readout; noise that was not given grows until trial forecasts are steady."""
    training = _training(fit)
    given, last = training.given, training.last
    assert last is not None
    if training.settled.readout is not None:  # nothing is learned
        stepper = training.parts.stepper(training.settled.readout, last)
        return _done(fit, training.parts, stepper, fit.plan)
    auto = given["noise"] == "auto" and given["noise_form"] != "sampled"
    noises, tried = training.settled.noises, list[Tried]()
    for noise in noises:
        layer = replace(training.parts.layer, noise_form=noise.form)
        parts = replace(training.parts, layer=layer)
        readout = layer.solve(training.totals, noise.size, fit.plan.shrinkage)
        candidate = parts.stepper(readout, last)
        stability = UNTRIED
        if auto:
            stability = try_stability(candidate, training.sample, fit.plan.symmetry, given["dtype"])
        tried.append(Tried(noise, parts, candidate, stability))
        as_long = 0 < training.settled.lasted <= POLICY.much * stability.lasted
        if stability.steady or as_long or not auto:
            break
    chosen, parts, stepper, best = _most_useful(tried, training.sample)
    if not auto:
        best = try_stability(stepper, training.sample, fit.plan.symmetry, given["dtype"], GIVEN)
    if not best.steady:
        did = "no noise kept" if auto else "the noise given does not keep"
        _warn_unsteady(f"{did} trial forecasts", best)
    elif words := _doubts(best, stepper, training, fit.plan):
        warnings.warn(words, stacklevel=4)
    reasons = dict(training.settled.plan.reasons)
    if auto and not best.steady:
        reasons["noise"] = best.reason
    elif chosen != noises[0]:
        form, size = noises[0]
        reasons["noise"] = f"fits to fewer windows needed {size:g} ({form}), this one more"
    plan = replace(fit.plan, noise_form=chosen.form, noise=chosen.size, reasons=reasons)
    return _done(fit, parts, stepper, plan)


class Tried(NamedTuple):
    """A stepper with one of the noises, and how its trial forecasts went."""

    noise: Noise
    parts: Parts
    stepper: Stepper
    stability: Stability


def _most_useful(tried: list[Tried], pairs: Pairs) -> Tried:
    """Noise that keeps forecasts steady by flattening what was learned is of no use."""
    if len(tried) == 1:
        return tried[0]
    errors = [log_error(each.stepper, pairs) for each in tried]
    return tried[most_useful([(t.stability, error) for t, error in zip(tried, errors, strict=True)])]


def _warn_unsteady(what: str, stability: Stability) -> None:
    warnings.warn(
        f"{what} within the training range: of {stability.asked} steps the shortest lasted "
        f"{stability.lasted}; give more pairs spread over time, a larger extent, or a smaller step",
        stacklevel=5,
    )


def _doubts(steady: Stability, stepper: Stepper, training: Training, plan: Plan) -> str:
    """Words of warning where trial forecasts are steady only as long as all is as in the data."""
    advice = "give more pairs, spread over time"
    if steady.left is not None:
        return (
            f"trial forecasts leave the range of the data from step {steady.left} on, and diverge "
            f"later: the data says nothing of what comes then; {advice}"
        )
    starts = superposed(stepper, training.sample)
    if training.given["noise"] != "auto" or starts is None:
        return ""
    sample, *about = training.sample, plan.symmetry, training.given["dtype"]
    unlike = try_stability(stepper, sample, *about, starts=starts)
    ends = unlike.left if unlike.steady else unlike.left or unlike.lasted
    if ends is None:
        ends = first_divergence(stepper, sample, *about)
    if ends is None:
        return ""
    return (
        "forecasts from states unlike those given may diverge: from sums of two of them the shortest "
        f"trial lasted {ends} of {unlike.asked} steps; {advice}"
    )


def _done(fit: Fit, parts: Parts, stepper: Stepper | None, plan: Plan) -> Fit:
    """The fit with a stepper."""
    training = _training(fit)
    group = training.given["averaging"]
    return replace(
        fit,
        plan=plan,
        stepper=stepper if group is None or stepper is None else average(stepper, group),
        members=None,
        training=replace(training, parts=parts, plain=stepper),
    )


def with_members(fit: Fit) -> Fit:
    """The fit with members, which are drawn when they are first asked for."""
    training = fit.training
    if fit.members is not None or training is None or training.plain is None:
        return fit
    plan, sampler, layer = fit.plan, training.parts.sampler, training.parts.layer
    shape, noise = training.shape, Noise(plan.noise_form, plan.noise)
    if shape is None or shape.noise != noise:
        matrix = calibrate(training.plain, sampler, layer, plan, training.sample)
        shape = Shape(noise, matrix)
    group = training.given["averaging"]
    averaging = None if group is None else sampler.inputs.stencil(group)
    known = plan.noise, plan.shrinkage, shape.matrix, plan.seed, averaging
    members = draw_members(layer, training.totals, *known)
    return replace(fit, members=members, training=replace(training, shape=shape))


def _training(fit: Fit) -> Training:
    if fit.training is None:
        raise NotFittedError(
            "partial_fit: a model from a file has forgotten its training rows; fit it anew"
        )
    return fit.training


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

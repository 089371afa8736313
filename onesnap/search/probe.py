"""Probes: small quick models, fitted to a part of the windows, judged by windows they have not seen.

What depends on the equation is found by them: a few dozen, whatever the grid.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..grid.scaling import make_scaling
from ..grid.windows import per_axis, window_sides
from ..network.features import Features, draw_features
from ..network.inputs import Inputs, make_inputs
from ..network.layer import Layer, evaluate
from ..network.sampler import Rows, Sampler, join, principal
from ..symmetry import Element, Group, trivial
from .folds import Split, split_windows
from .policy import POLICY
from .problem import Problem


@dataclass(frozen=True)
class Reading:
    """How windows of any extent are read: blocks, the mean, and what is told beside the state."""

    stride: tuple[int, ...]
    mean: str
    position: tuple[int, ...] = ()
    potential: bool = False


class Ranked(NamedTuple):
    """An extent and the held-out error of a probe that has it."""

    extent: tuple[int, ...]
    error: float


@dataclass(frozen=True)
class Probe:
    """Fits small models to the windows of a split."""

    problem: Problem
    split: Split
    errors: dict[tuple, float] = field(default_factory=dict)  # known so far, by what windows see
    others: dict[int, Probe] = field(default_factory=dict)  # made so far, by axis

    def along(self, axis: int) -> Probe:
        """A probe of the same pairs that is judged by the far end of an axis."""
        if axis not in self.others:
            self.others[axis] = Probe(self.problem, split_windows(self.problem.pairs, 0, axis))
        return self.others[axis]

    @property
    def change(self) -> float:
        """Root mean square of what a step changes, by which errors are measured."""
        pairs = self.problem.pairs
        return float(np.sqrt(np.mean((pairs.after - pairs.before) ** 2)))

    def sampler(self, extent, reading: Reading, group: Group | None = None) -> Sampler:
        """A sampler with the ranges of the pairs, as the group moves them."""
        problem = self.problem
        group = trivial(problem.dimension, ("scalar",) * problem.channels) if group is None else group
        scaling = make_scaling(problem.pairs.before, reading.mean, group)
        inputs = make_inputs(
            problem.pairs, scaling, extent, reading.stride, reading.position, reading.potential,
            problem.boundary, problem.fill,
        )  # fmt: skip
        return Sampler(inputs, group)

    def error(self, extent, reading: Reading) -> float:
        """The error of the small model on held-out windows; of the same windows it is fitted once."""
        position = reading.position if any(reading.position) else ()
        key = extent, reading.stride, reading.mean, position, reading.potential
        if key not in self.errors:
            self.errors[key] = self.fit(self.sampler(extent, reading)).error()
        return self.errors[key]

    def fit(self, sampler: Sampler, shifted: bool = False, among: Group | None = None) -> Fitted:
        """Fit the small model; `shifted` takes the mean of each window out of it first.

        The windows are dealt out `among` the elements of a group, and moved by them.
        """
        elements = among.elements if among else sampler.group.elements[:1]
        rows = join(
            [
                sampler.cut(self.problem.pairs, part.pair, hand, element)
                for part in self.split.train
                for element, hand in zip(
                    elements, np.array_split(part.cells, len(elements)), strict=True
                )
            ]
        )
        rows = _shift(rows, sampler.inputs) if shifted else rows
        hidden = min(POLICY.probe_hidden, max(10, len(rows.cells) // 3))
        features = draw_features(
            rows.cells.shape[1], rows.context.shape[1], hidden, "squareplus", seed=0
        )
        layer = Layer(features, *principal([rows]))
        totals = layer.absorb(layer.start(rows.targets.shape[1]), [rows])
        return Fitted(self, sampler, features, layer.solve(totals, POLICY.probe_noise), shifted)


@dataclass(frozen=True)
class Fitted:
    """A probe that has learned."""

    probe: Probe
    sampler: Sampler
    features: Features
    readout: np.ndarray
    shifted: bool

    def error(self, element: Element | None = None) -> float:
        """Root mean square error on the held-out windows, moved by a group element."""
        sampler, pairs = self.sampler, self.probe.problem.pairs
        element = sampler.group.elements[0] if element is None else element
        rows = join(
            [sampler.cut(pairs, part.pair, part.cells, element) for part in self.probe.split.test]
        )
        rows = _shift(rows, sampler.inputs) if self.shifted else rows
        values, _ = evaluate(self.features, rows.cells, rows.context, slopes=False)
        return float(np.sqrt(np.mean((values @ self.readout - rows.targets) ** 2)))


def make_probe(problem: Problem) -> Probe:
    return Probe(problem, split_windows(problem.pairs, problem.given["seed"]))


def rank_extents(probe: Probe, reading: Reading, extents: Iterable = ()) -> list[Ranked]:
    """Held-out errors of those extents that are worth a trial, least first.

    Too small a window does not hold what a time step reaches; too large a one spends the random
    features on cells that do not matter.
    """
    dimension, space = probe.problem.dimension, probe.problem.pairs.space
    known = [
        per_axis("extent", extent, dimension, 0) for extent in extents or POLICY.extents[dimension]
    ]
    fitting = [
        extent
        for extent in known
        if all(side <= n for side, n in zip(window_sides(extent, reading.stride), space, strict=True))
    ]
    errors = [probe.error(extent, reading) for extent in fitting]
    best = min(errors, default=0.0)
    order = sorted((error, extent) for error, extent in zip(errors, fitting, strict=True))
    near = [Ranked(extent, error) for error, extent in order if error <= POLICY.near * best]
    return near or [Ranked((0,) * dimension, 0.0)]


def _shift(rows: Rows, inputs: Inputs) -> Rows:
    """Subtract from each window, and from what it becomes, the mean of each of its channels."""
    cells, context, targets = rows
    scaling, count, channels = inputs.scaling, len(cells), inputs.channels
    # Context fields stand behind the channels of the state and keep their means.
    inside = math.prod(window_sides(inputs.extent, inputs.stride)) * channels
    state = cells[:, :inside].reshape(count, channels, -1)
    mean = state.mean(axis=2, keepdims=True)
    width = (scaling.high - scaling.low)[:, None]
    outputs = targets.reshape(count, channels, -1) - mean * width
    cells = np.concatenate([(state - mean).reshape(count, -1), cells[:, inside:]], axis=1)
    return Rows(cells, context, outputs.reshape(targets.shape))

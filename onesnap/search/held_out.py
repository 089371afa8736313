"""Held-out errors of plans: sums are kept for each fold, so that one pass serves every setting.

Leaving a fold out is a merge of the sums of all windows that do not touch it. From what is left the
readout for any noise and any shrinkage follows, and with it an error on windows not learned from.
Blocks off the middle, which windows at open ends predict, are harder, and few: they do not judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from ..model.plan import Plan
from ..network import lstsq
from ..network.inputs import Inputs
from ..network.layer import Totals
from ..network.sampler import Rows, join
from .build import Parts, make_parts
from .folds import Folds, spread
from .policy import POLICY, Policy
from .problem import Problem
from .rule import Errors

LEAST_ERROR = 1e-9  # of what a step changes: what is below differs by round-off only
BLOCKS = POLICY.few  # of the windows that judge in a fold, whose errors are averaged apart


class Setting(NamedTuple):
    """What can be changed without another pass over the windows."""

    noise: float
    shrinkage: float | None
    form: str = "isotropic"  # of the noise


class Held(NamedTuple):
    """Windows that judge a fit, as its readout sees them, and what they become."""

    values: np.ndarray  # in the precision of forecasts: round-off of large readouts is an error
    targets: np.ndarray
    states: np.ndarray


@dataclass(frozen=True, eq=False)
class Trial:
    """A plan, fitted to some of the windows, and to those of all folds but one."""

    plan: Plan
    parts: Parts
    whole: Totals
    left: dict[int, Totals]  # without a fold
    held: dict[int, Held]  # of that fold
    change: Float[np.ndarray, " C"]
    folds: int
    known: dict[Setting, Errors] = field(default_factory=dict)  # nothing is solved for twice
    units: dict[int, list] = field(default_factory=dict)  # penalties of a noise of one, by the sums

    def errors(self, settings: Sequence[Setting]) -> list[Errors]:
        """Logarithms of the errors of held-out windows, for each setting."""
        new = [setting for setting in settings if setting not in self.known]
        errors = {setting: np.full((self.folds, BLOCKS), np.nan) for setting in new}
        for fold, totals in self.left.items() if new else ():
            for setting, readout in zip(new, self.readouts(totals, new), strict=True):
                errors[setting][fold] = self._judge(self.held[fold], readout)
        self.known.update(errors)
        return [self.known[setting] for setting in settings]

    def judge(self, readout: np.ndarray) -> Errors:
        """The same of one readout, whatever it was made of."""
        errors = np.full((self.folds, BLOCKS), np.nan)
        for fold, held in self.held.items():
            errors[fold] = self._judge(held, readout)
        return errors

    def readouts(self, totals: Totals, settings: Sequence[Setting]) -> list[np.ndarray]:
        """The readout for each setting; shrinkages of one noise share a decomposition."""
        solved = dict[Setting, np.ndarray]()
        if id(totals) not in self.units:
            plain = replace(self.parts.layer, noise_form="isotropic")
            self.units[id(totals)] = plain.noise_penalties(totals, 1.0)
        unit = self.units[id(totals)]
        for noise, form in dict.fromkeys((setting.noise, setting.form) for setting in settings):
            layer = replace(self.parts.layer, noise_form=form)
            alike = [s for s in settings if (s.noise, s.form) == (noise, form)]
            numbers = [s.shrinkage for s in alike if s.shrinkage is not None]
            if len(numbers) < 3:  # from there on one decomposition is quicker than as many solutions
                solved |= {s: layer.solve(totals, noise, s.shrinkage, unit) for s in alike}
            else:
                path = layer.solve_path(totals, noise, numbers, unit)
                solved |= dict(zip(alike, path, strict=True))
        return [solved[setting] for setting in settings]

    def _judge(self, held: Held, readout: np.ndarray) -> Float[np.ndarray, " blocks"]:
        """Each channel in units of its own change, so that no unit hides another."""
        with np.errstate(over="ignore", invalid="ignore"):
            said = held.values @ readout.astype(held.values.dtype)
            wrong = self.parts.layer.levelled(said - held.targets, held.states) ** 2
            wrong = wrong.reshape(len(wrong), len(self.change), -1).mean(axis=2)
            starts = np.arange(BLOCKS) * len(wrong) // BLOCKS
            means = np.stack([part.mean(axis=0) for part in np.split(wrong, starts[1:])])
            ratios = np.sqrt(means) / self.change
        ratios = np.where(np.isfinite(ratios), ratios, 1e300)
        return np.log(np.maximum(ratios, LEAST_ERROR)).mean(axis=1)


@dataclass(frozen=True)
class Judge:
    """Makes trials of plans, none of them twice."""

    problem: Problem
    folds: Folds
    policy: Policy
    known: dict[Any, Trial | None] = field(default_factory=dict)

    def trial(self, plan: Plan, shifted: bool = False) -> Trial | None:
        """None where a plan cannot be judged: windows leave nothing to learn from, or to judge."""
        return self._once(plan, shifted, lambda: self._trial(plan, shifted))

    def whole(self, trial: Trial) -> Trial:
        """The trial as a forecast needs it: with all blocks that windows at open ends predict."""
        plan, inputs = trial.plan, trial.parts.sampler.inputs
        if len(replace(inputs, inward=True).edges.offsets) == 1:
            return trial
        known = self._once(plan, "whole", lambda: self._whole(plan, trial))
        assert known is not None
        return known

    def _once(self, plan: Plan, kind: Any, make: Callable[[], Trial | None]) -> Trial | None:
        names = (name for name in plan.__dataclass_fields__ if name != "reasons")
        key = (*(getattr(plan, name) for name in names), kind)
        if key not in self.known:
            self.known[key] = make()
        return self.known[key]

    def _whole(self, plan: Plan, trial: Trial) -> Trial:
        parts = make_parts(plan, self.problem)
        empty = parts.layer.start(parts.sampler.inputs.outputs)
        groups, _ = self._rows(parts, plan, self._wanted(parts))
        rows = join([part for group in groups.values() for part in group])
        whole = parts.layer.absorb(empty, [rows])
        return replace(trial, parts=parts, whole=whole, left={}, held={}, known={}, units={})

    def _trial(self, plan: Plan, shifted: bool) -> Trial | None:
        parts = make_parts(plan, self.problem, edges=False)
        sampler, layer = parts.sampler, parts.layer
        empty = layer.start(sampler.inputs.outputs)
        groups, tests = self._rows(parts, plan, self._wanted(parts))
        shift = (lambda rows: _shifted(rows, sampler.inputs)) if shifted else (lambda rows: rows)
        able = [
            fold
            for fold, rows in enumerate(tests)
            if sum(len(part.cells) for part in rows) >= BLOCKS
            and any(not mask >> fold & 1 for mask in groups)
        ]
        if not able:
            return None
        # Large trials leave out two, or they would cost more than what they are for.
        affordable = POLICY.columns**3 / POLICY.few
        judged = int(np.clip(affordable / layer.work, 2, self.folds.count))
        able = [able[number] for number in spread(len(able), judged)]
        # Windows that touch the same of the folds left out go together.
        seen, together = sum(1 << fold for fold in able), dict[int, list[Rows]]()
        for mask, rows in groups.items():
            together.setdefault(mask & seen, []).extend(rows)
        sums = {mask: layer.absorb(empty, [shift(join(rows))]) for mask, rows in together.items()}
        left = leave_out(sums, able, empty)
        held = {}
        for fold in able:
            rows = shift(join(tests[fold]))
            values = layer.values(rows).astype(self.problem.given["dtype"])
            held[fold] = Held(values, rows.targets, rows.states)
        whole, change = merge_all(empty, sums.values()), self.problem.change
        left = dict(zip(able, left, strict=True))
        return Trial(plan, parts, whole, left, held, change, self.folds.count)

    def _wanted(self, parts: Parts) -> int:
        """Windows to learn from: plenty of them, if the largest trials have as many.

        Fewer would do for few columns, but the fit will have all: what looks no better with a few
        windows may be with many.
        """
        policy, columns = self.policy, parts.layer.columns
        return min(policy.plenty * columns, policy.rows * max(columns, policy.columns))

    def _rows(
        self, parts: Parts, plan: Plan, wanted: int
    ) -> tuple[dict[int, list[Rows]], list[list[Rows]]]:
        """Windows to learn from, by the folds they touch, and windows that judge, by their fold."""
        pairs, sampler = self.problem.pairs, parts.sampler
        identity = plan.symmetry.elements[0]
        used = spread(len(pairs), max(1, min(len(pairs), wanted // self.policy.reading)))
        share = min(pairs.cells, -(-wanted // len(used)))
        judges = max(1, self.policy.judges * self.folds.count // len(used))
        if self.folds.pairs is None:
            judges = max(1, self.policy.judges // len(used))
        groups, tests = dict[int, list[Rows]](), [list[Rows]() for _ in range(self.folds.count)]
        for number in used:
            random = np.random.default_rng([0, number])
            pair = int(number)

            def draw(cells: np.ndarray, most: int, pair: int = pair, random=random) -> np.ndarray:
                cells = sampler.usable(pairs, pair, cells, identity)
                few = random.choice(cells, min(most, len(cells)), replace=False)
                return np.sort(few)

            cells = draw(np.arange(pairs.cells), share)
            judging = [draw(there, judges) for there in self.folds.judging(pair, plan.stride)]
            # All at once: to read a state costs more than to cut windows out of it.
            rows = sampler.cut(pairs, pair, np.concatenate([cells, *judging]), identity)
            touched = self.folds.touched(pair, cells, plan.extent, plan.stride)
            for mask in np.unique(touched):
                groups.setdefault(int(mask), []).append(_take(rows, np.flatnonzero(touched == mask)))
            ends = len(cells) + np.cumsum([0, *map(len, judging)])
            for fold, (start, end) in enumerate(pairwise(ends)):
                if end > start:
                    tests[fold].append(_take(rows, slice(start, end)))
        return groups, tests


def _take(rows: Rows, numbers) -> Rows:
    return Rows(*(column[numbers] for column in rows))


def merge_all(start: Totals, sums) -> Totals:
    for totals in sums:
        start = tuple(map(lstsq.merge, start, totals))
    return start


def leave_out(sums: dict[int, Totals], folds: list[int], start: Totals) -> list[Totals]:
    """For each of the folds, the sums of all windows that do not touch it.

    Halves of the folds share what touches neither: a few merges for each sum instead of one a fold.
    """
    bits = sum(1 << fold for fold in folds)
    start = merge_all(start, (sums[mask] for mask in sums if not mask & bits))
    if len(folds) == 1:
        return [start]
    rest = {mask: totals for mask, totals in sums.items() if mask & bits}
    middle = len(folds) // 2
    return [*leave_out(rest, folds[:middle], start), *leave_out(rest, folds[middle:], start)]


def _shifted(rows: Rows, inputs: Inputs) -> Rows:
    """Subtract from each window, and from what it becomes, the mean of each of its channels."""
    cells, targets = rows.cells, rows.targets
    scaling, count, channels = inputs.scaling, len(cells), inputs.channels
    # Context fields stand behind the channels of the state and keep their means.
    inside = inputs.window_cells * channels
    state = cells[:, :inside].reshape(count, channels, -1)
    mean = state.mean(axis=2, keepdims=True)
    width = (scaling.high - scaling.low)[:, None]
    outputs = targets.reshape(count, channels, -1) - mean * width
    if older := inputs.context.older:  # states before this one lose the same mean
        end = inside + older * inputs.window_cells
        past = cells[:, inside:end].reshape(count, -1, channels, inputs.window_cells)
        past = past - mean[:, None] + 0.5
        cells = np.concatenate([cells[:, :inside], past.reshape(count, -1), cells[:, end:]], axis=1)
    # To the middle of the range, far from the margin.
    cells = np.concatenate([(state - mean + 0.5).reshape(count, -1), cells[:, inside:]], axis=1)
    return rows._replace(cells=cells, targets=outputs.reshape(targets.shape))

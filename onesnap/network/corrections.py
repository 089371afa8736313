"""Corrections at open ends: what happens there beside the equation that holds everywhere.

An inflow is no part of the equation, and the readouts at open ends are learned from all windows.
What they miss at the end itself, R = Y - ΦΘ, is regressed on the leading window directions and a
constant, L, over those windows alone that lie at that end, with a ridge towards no correction,

    B = (LᵀL + λ diag LᵀL)⁻¹ LᵀR,   LᵀR = LᵀY - LᵀΦ Θ,

so that LᵀL, LᵀY and LᵀΦ are all that has to be kept. They are kept for each of some folds of the
pairs: λ is the largest that is as good, on pairs held out, as the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from ..data.pairs import Pairs
from ..symmetry import Element
from ..symmetry.orbits import invariant, project_linear
from .layer import Layer
from .linear import cell_ranges
from .sampler import Rows, Sampler

DIRECTIONS = 40  # of windows, that a correction is linear in
FOLDS = 5  # of the pairs
MOST = 256  # windows of a pair at an end, under each element
SHRINKAGES = (np.inf, 1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10)


@dataclass(frozen=True)
class EdgeSums:
    """Sums over windows at open ends, for each fold and each kind of end."""

    gram: Float[np.ndarray, "folds kinds columns columns"]  # LᵀL
    targets: Float[np.ndarray, "folds kinds columns outputs"]  # LᵀY
    values: Float[np.ndarray, "folds kinds columns units"]  # LᵀΦ

    def __add__(self, other: EdgeSums) -> EdgeSums:
        return EdgeSums(*(a + b for a, b in zip(self.arrays, other.arrays, strict=True)))

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        return self.gram, self.targets, self.values


@dataclass(frozen=True)
class Corrector:
    """Learns corrections for the windows of a sampler and the features of a layer."""

    sampler: Sampler
    layer: Layer
    bounds: Float[np.ndarray, " bounds"]  # between folds, of what `_size` gives

    @cached_property
    def kinds(self) -> list[tuple[int, ...]]:
        """Ends, edges and corners: for each axis -1 at its low end, 1 at its high end, or 0."""
        kinds = {tuple(np.sign(offset).tolist()) for offset in self.sampler.inputs.edges.offsets}
        return sorted(kind for kind in kinds if any(kind))

    @cached_property
    def basis(self) -> Float[np.ndarray, "cells rank"]:
        leading = self.layer.directions[:, :DIRECTIONS]
        return leading if self.layer.stencil is None else invariant(leading, self.layer.stencil)

    @cached_property
    def offset(self) -> Float[np.ndarray, " cells"]:
        low, width = cell_ranges(self.sampler.inputs)
        return low / width

    def start(self) -> EdgeSums:
        """Sums of no windows at all."""
        linear = self.layer.linear
        units = self.layer.features.hidden + (0 if linear is None else linear.size)
        columns = self.basis.shape[1] + 1 if self.kinds else 0
        sizes = columns, self.sampler.inputs.outputs, units
        return EdgeSums(*(np.zeros((FOLDS, len(self.kinds), columns, size)) for size in sizes))

    def absorb(self, sums: EdgeSums, pairs: Pairs) -> EdgeSums:
        """Add the windows of pairs.

        The size of a state decides its fold, whatever the order of the pairs: states that follow
        each other have about the same, and would tell of each other what none tells of the rest.
        """
        if not self.kinds:
            return sums
        grown = EdgeSums(*(array.copy() for array in sums.arrays))
        sampler = self.sampler
        for index in range(len(pairs)):
            fold = int(np.searchsorted(self.bounds, _size(pairs.before[index])))
            for element in sampler.group.elements:
                rows, ends = self._rows(pairs, index, element)
                columns, values = self._columns(rows), self.layer.values(rows)
                for number, part in enumerate(ends):
                    grown.gram[fold, number] += columns[part].T @ columns[part]
                    grown.targets[fold, number] += columns[part].T @ rows.targets[part]
                    grown.values[fold, number] += columns[part].T @ values[part]
        return grown

    def _rows(self, pairs: Pairs, index: int, element: Element) -> tuple[Rows, list[slice]]:
        """The windows of a pair at all ends, and which of them are at each."""
        space = tuple(pairs.space[axis] for axis in element.axes)
        cells = [
            self.sampler.complete(pairs, index, self._at(space, kind), element) for kind in self.kinds
        ]
        stops = np.cumsum([len(part) for part in cells])
        ends = [slice(stop - len(part), stop) for stop, part in zip(stops, cells, strict=True)]
        return self.sampler.cut(pairs, index, np.concatenate(cells), element), ends

    def _at(self, space: tuple[int, ...], kind: tuple[int, ...]) -> Int[np.ndarray, " windows"]:
        """Where blocks start whose windows lie at this end; some of them, where they are many."""
        starts = self.sampler.inputs.edges.starts(space)
        chosen = [
            np.array(along) if not side else np.array(along)[[0 if side < 0 else -1]]
            for along, side in zip(starts, kind, strict=True)
        ]
        cells = np.ravel_multi_index(np.ix_(*chosen), space).ravel()
        return cells[np.unique(np.linspace(0, len(cells) - 1, MOST).round().astype(int))]

    def _columns(self, rows: Rows) -> Float[np.ndarray, "rows columns"]:
        leading = (rows.cells + self.offset) @ self.basis
        return np.concatenate([leading, np.ones((len(leading), 1))], axis=1)

    def solve(
        self, sums: EdgeSums, readout: Float[np.ndarray, "units outputs"]
    ) -> Float[np.ndarray, "inputs outputs"] | None:
        """A linear readout of cells and a constant, to be added at open ends; None for nothing."""
        if not self.kinds:
            return None
        inputs = self.sampler.inputs
        outputs = inputs.channels, len(inputs.edges.offsets), int(np.prod(inputs.stride))
        total = np.zeros((len(self.offset) + 1, *outputs))
        widths = np.asarray(inputs.scaling.high - inputs.scaling.low)
        signs = np.sign(inputs.edges.offsets)
        for number, kind in enumerate(self.kinds):
            mine = np.flatnonzero((signs == kind).all(axis=1))
            gram = sums.gram[:, number]
            missed = sums.targets[:, number] - sums.values[:, number] @ readout
            missed = missed.reshape(*missed.shape[:2], *outputs)[:, :, :, mine]
            scaled = (missed / widths[:, None, None]).reshape(*missed.shape[:2], -1)
            shrinkage = choose_shrinkage(gram, scaled)
            (found,) = _ridges(gram.sum(axis=0), scaled.sum(axis=0), (shrinkage,))
            found = found.reshape(missed.shape[1:]) * widths[:, None, None]
            cells = np.tensordot(self.basis, found[:-1], 1)
            total[:, :, mine] = np.concatenate([cells, found[-1:]])
        total = total.reshape(len(total), -1)
        if not total.any():
            return None
        if self.layer.stencil is not None:
            total = project_linear(total, self.layer.stencil)
        total[-1] += self.offset @ total[:-1]
        return total


def make_corrector(sampler: Sampler, layer: Layer, sample: Pairs) -> Corrector:
    """A corrector whose folds hold about as many pairs of a sample each."""
    sizes = [_size(state) for state in sample.before]
    return Corrector(sampler, layer, np.quantile(sizes, np.arange(1, FOLDS) / FOLDS))


def _size(state: Float[np.ndarray, "C ..."]) -> float:
    """The deviation of the first channel over space, which changes slowly with time."""
    return float(np.std(state[0]))


def choose_shrinkage(
    gram: Float[np.ndarray, "folds columns columns"],
    missed: Float[np.ndarray, "folds columns outputs"],
) -> float:
    """The largest ridge that is no worse, but for the standard error over folds, than the best."""
    folds = [fold for fold in range(len(gram)) if gram[fold].any()]
    if len(folds) < 2:
        return np.inf
    gains = np.zeros((len(SHRINKAGES), len(folds)))
    for column, fold in enumerate(folds):
        rest = [other for other in folds if other != fold]
        tried = _ridges(gram[rest].sum(axis=0), missed[rest].sum(axis=0), SHRINKAGES)
        for number, found in enumerate(tried):
            # |R - LB|² - |R|² on the windows held out, without these.
            gains[number, column] = np.sum(found * (gram[fold] @ found - 2 * missed[fold]))
    best = int(np.argmin(gains.sum(axis=1)))
    worse = gains - gains[best]
    error = np.std(worse, axis=1, ddof=1) / np.sqrt(len(folds))
    return SHRINKAGES[int(np.argmax(worse.mean(axis=1) <= error))]


def _ridges(gram: np.ndarray, missed: np.ndarray, shrinkages: Sequence[float]) -> list[np.ndarray]:
    """Corrections with ridges in units of the columns; a column of zeros gets none."""
    lengths = np.sqrt(np.diag(gram))
    lengths[lengths == 0] = np.inf
    values, vectors = np.linalg.eigh(gram / np.outer(lengths, lengths))
    kept = values > len(gram) * np.finfo(float).eps * values[-1]
    values, back = values[kept], vectors[:, kept] / lengths[:, None]
    along = back.T @ missed
    return [(back / (values + shrinkage)) @ along for shrinkage in shrinkages]

"""The linear part of a model: columns of least squares that come before the random ones.

They are the cells of a window, its context values and a constant. With them first, what random units
add beyond their own linear part stands apart in the triangular factor, and can be shrunk by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from ..grid.windows import window_sides
from ..symmetry.orbits import project_linear
from ..symmetry.representations import (
    analyse,
    irreducible,
    linear_columns,
    restricted,
    synthesise_linear,
)
from ..symmetry.stencil import Stencil
from .features import Features
from .inputs import Inputs


@dataclass(frozen=True)
class Linear:
    """Linear columns for each irreducible representation ρ of a group, of which there may be one.

    Cells are taken without the offset of their range: signs act on the field, not on its scaled
    values. What is the same for a window and all its images belongs to the trivial ρ alone.
    """

    columns: tuple[Float[np.ndarray, "_ cells _"], ...]
    offset: Float[np.ndarray, " cells"]
    values: int  # of the context
    trivial: int  # the number of the trivial ρ
    stencil: Stencil | None

    @property
    def size(self) -> int:
        """Rows of the readout that belong to this part."""
        return len(self.offset) + self.values + 1

    @property
    def leads(self) -> list[int]:
        """How many columns there are for each ρ."""
        return [
            part.shape[2] + (self.values + 1) * (number == self.trivial)
            for number, part in enumerate(self.columns)
        ]

    @property
    def _copies(self) -> int:
        return 1 if self.stencil is None else len(self.stencil.group)

    def rows(self, cells: np.ndarray, context: np.ndarray) -> list[np.ndarray]:
        """The columns of rows, `(i · row, column)` for each ρ."""
        centred = cells + self.offset
        parts = [np.concatenate(list(centred @ part)) for part in self.columns]
        constant = np.ones((len(cells), 1))
        alike = np.sqrt(self._copies) * np.concatenate([context, constant], axis=1)
        parts[self.trivial] = np.concatenate([parts[self.trivial], alike], axis=1)
        return parts

    def combine(self, readouts: list[np.ndarray]) -> Float[np.ndarray, "inputs outputs"]:
        """The readout of cells, context values and a constant, from one for each ρ."""
        inside = [part.shape[2] for part in self.columns]
        parts = [readout[:count] for readout, count in zip(readouts, inside, strict=True)]
        cells = (
            self.columns[0][0] @ parts[0]
            if self.stencil is None
            else synthesise_linear(parts, self.columns, self.stencil.group)
        )
        readout = np.concatenate([cells, readouts[self.trivial][inside[self.trivial] :]])
        if self.stencil is not None:
            # Equivariant but for round-off, which may be large where random units cancel it: both
            # have to be projected.
            readout = project_linear(readout, self.stencil)
        readout[-1] += self.offset @ readout[: len(self.offset)]
        return readout

    def noise(self, covariance: np.ndarray, windows: int) -> list[np.ndarray]:
        """What noise on the inputs of so many windows costs among these columns, for each ρ."""
        cells = len(self.offset)
        inside, beside = covariance[:cells, :cells], covariance[cells:, cells:]
        costs = [
            windows * np.einsum("ick,cd,idl->kl", part, inside, part, optimize=True)
            for part in self.columns
        ]
        count = len(costs[self.trivial])
        alike = np.pad(costs[self.trivial], (0, self.values + 1))
        alike[count:-1, count:-1] = windows * self._copies * beside
        costs[self.trivial] = alike
        return costs

    def shared_noise(
        self, features: Features, covariance: np.ndarray, slopes: np.ndarray
    ) -> list[np.ndarray]:
        """The same between these columns and those of random units.

        `slopes` are sums over all windows, one a unit, averaged over its images.
        """
        cells, weights = len(self.offset), features.cell_weights()
        moved = [weights[None, :cells]]
        if self.stencil is not None:
            group = self.stencil.group
            sizes = [part.shape[1] for part in irreducible(group)]
            spectra = analyse(weights[:cells], group)
            moved = [part.reshape(size, cells, -1) for part, size in zip(spectra, sizes, strict=True)]
        costs = []
        for columns, mixed in zip(self.columns, moved, strict=True):
            towards = np.einsum("ick,cd->ikd", columns, covariance[:cells, :cells])
            steep = np.tile(slopes, mixed.shape[2] // len(slopes))
            costs.append(np.einsum("ikd,ids->ks", towards, mixed) * steep)
        beside = covariance[cells:, cells:] @ weights[cells:, : len(slopes)]
        beside = np.concatenate([self._copies * beside * slopes, np.zeros((1, len(slopes)))])
        costs[self.trivial] = np.concatenate([costs[self.trivial], beside])
        return costs


def make_linear(inputs: Inputs, stencil: Stencil | None, basis: np.ndarray | None) -> Linear:
    """The linear part of a layer; with a stencil its units come in whole orbits of the group."""
    low, width = _cell_ranges(inputs)
    offset, context = low / width, inputs.context
    values = sum(context.position) + context.parameters.shape[0]
    if stencil is None:
        columns = (np.eye(len(offset))[None] if basis is None else np.asarray(basis)[None],)
        return Linear(columns, offset, values, 0, None)
    columns = linear_columns(stencil)
    if basis is not None:
        columns = tuple(restricted(part, np.asarray(basis)) for part in columns)
    same = [bool(np.allclose(part, 1.0)) for part in irreducible(stencil.group)]
    return Linear(columns, offset, values, same.index(True), stencil)


def rescaled(
    readout: Float[np.ndarray, "inputs outputs"], before: Inputs | None, after: Inputs | None
) -> Float[np.ndarray, "inputs outputs"]:
    """The same linear readout for inputs of another scaling; None stands for the user's units."""
    readout = readout.copy()
    for inputs, back in ((before, True), (after, False)):
        if inputs is None:
            continue
        low, width = _cell_ranges(inputs)
        cells = len(low)
        if back:
            readout[-1] -= (low / width) @ readout[:cells]
            readout[:cells] /= width[:, None]
        else:
            readout[-1] += low @ readout[:cells]
            readout[:cells] *= width[:, None]
    return readout


def _cell_ranges(inputs: Inputs) -> tuple[np.ndarray, np.ndarray]:
    """The low end and the width of the range of every cell; fields beside the state have none."""
    scaling, context = inputs.scaling, inputs.context
    fields = context.low.shape[0] - context.parameters.shape[0]
    low = np.concatenate([scaling.low, np.zeros(fields)])
    width = np.concatenate([scaling.high - scaling.low, np.ones(fields)])
    sides = int(np.prod(window_sides(inputs.extent, inputs.stride)))
    return np.repeat(low, sides), np.repeat(width, sides)

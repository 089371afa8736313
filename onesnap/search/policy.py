"""Every number that the search was tuned with, and the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


def _by_dimension(*values) -> Mapping[int, Any]:
    return MappingProxyType(dict(enumerate(values, start=1)))


@dataclass(frozen=True)
class Policy:
    """Sizes of trials, and the ratios of held-out errors by which choices are made."""

    # Held-out windows.
    few_pairs: int = 4  # from which on whole pairs are held out, below it parts of space
    probe_pairs: int = 24  # that a probe looks at, at most
    probe_rows: int = 12_000  # that a probe learns from, at most
    judge_rows: int = 1_000  # that a probe is judged by, at most

    # Probes: small quick models that what depends on the equation is found by.
    probe_hidden: int = 400
    probe_noise: float = 1e-5
    telling: float = 0.3  # a larger error, relative to what a step changes, proves nothing
    obeys: float = 1.5  # times the error, below which a model has to be that obeys a symmetry
    moved: float = 3.0  # times the error, up to which windows may be mispredicted when moved
    meanless: float = 1.5  # times the error, up to which the mean may be left out of windows
    visible: float = 0.02  # of what a step changes: an error that is worth a warning
    wider_helps: float = 0.5  # of the error that a wider window leaves, below which to warn
    local: float = 0.1  # of what a step changes: a smaller error shows that what happens is local
    helps: float = 0.5  # of the error, below which position or potentials bring it to be used
    conserved: float = 1e-6  # of the deviation of states: a mean that changes by less is conserved

    # Windows.
    extents: Mapping[int, tuple] = field(
        default_factory=lambda: _by_dimension((2, 4, 6, 8, 10, 13, 16, 20), (1, 2, 3, 4, 6), (1, 2))
    )
    strides: Mapping[int, int] = field(default_factory=lambda: _by_dimension(4, 4, 2))
    near: float = 4.0  # an extent with more than so many times the least error is not tried
    roomy: int = 24  # points an axis, from which on a stride need not divide the grid
    cosines: int = 4  # along an axis, where position matters

    # Hidden units.
    hidden: int = 600  # that a single pair along a line can feed
    fed: float = 0.6  # units for each window and element, at most, of what a pair can feed
    least_hidden: int = 20
    most_hidden: int = 4_800
    plenty: int = 8  # windows for each unit, from which on symmetric copies teach little more
    # Rows times squared units, at most: a minute of least squares, in the plane half of it.
    fit_work: Mapping[int, float] = field(default_factory=lambda: _by_dimension(6e11, 1.8e11, 1.8e11))
    step_work: float = 1.3e7  # blocks of a state times units, at most: ten milliseconds a step
    gains: Mapping[int, tuple] = field(
        default_factory=lambda: _by_dimension((1.0, 4.0), (1.0,), (1.0,))
    )
    pays: float = 0.8  # of the error that twice the units have to reach, fewer accordingly less

    # Noise, in units of the range; trials in the plane and in space cost more.
    floors: Mapping[int, tuple] = field(
        default_factory=lambda: _by_dimension(
            (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2),
            (1e-4, 3e-4, 1e-3, 1e-2, 3e-2),
            (1e-4, 1e-3, 1e-2, 3e-2),
        )
    )
    isotropic: tuple[float, ...] = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3)
    error_noise: float = 1e-5  # from which on isotropic noise is as large as the errors of a step
    safe_floor: float = 1e-3  # keeps nearly all forecasts steady, at a price
    paper_noise: float = 1e-4
    still: float = 0.01  # of what a step changes: directions that vary by less are left out
    clearly: float = 0.9  # of the error with all directions that fewer have to reach
    above: float = 1.5  # times the deviation of the last direction kept, at least, has noise to be

    # Trials: fits to a part of the windows, and forecasts with them.
    first_drafts: Mapping[int, int] = field(default_factory=lambda: _by_dimension(6, 6, 3))
    trial_rows: int = 8_000
    trial_rows_a_unit: int = 6
    trial_hidden: int = 600  # units that a trial starts with
    sound: float = 20.0  # times the least error that a trial may have to be chosen

    # Stability of trial forecasts.
    trial_cells: int = 8_000_000  # cells times steps of a forecast, within the steps below
    trial_steps: tuple[int, int] = (200, 2000)
    trial_side: Mapping[int, int] = field(default_factory=lambda: _by_dimension(0, 96, 32))
    kick: float = 3e-3  # of the range, on every cell of the state that a forecast starts from
    left_range: float = 0.3  # ranges by which a forecast may leave the training range, if rough
    far: float = 1.0  # by how many in any case
    rougher: float = 1.2  # times what roughness had fallen to: growth at the scale of the grid
    ragged: float = 3.0  # times the roughness of the kicked state, wherever its values are
    lasts_after: int = 30  # steps for which a forecast has to last after it has left the range


POLICY = Policy()

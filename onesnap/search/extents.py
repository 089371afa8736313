"""The size of windows: strides and extents worth a trial, and a warning if a step reaches farther."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..grid.windows import window_sides
from .policy import POLICY
from .probe import Probe, Ranked, Reading


class Chosen(NamedTuple):
    """A value, and the reason for it in words."""

    value: object
    reason: str


class WindowSize(NamedTuple):
    """Cells on either side of a block, and how many directions of the window are kept."""

    extent: int
    rank: int | None


def find_stride(space: tuple[int, ...], exact: bool = False) -> Chosen:
    """The largest small stride that divides the grid: more cells predicted at a time.

    Where none does, cells beyond the end are predicted and dropped, unless that is not `exact`.
    """
    most = POLICY.strides[len(space)]
    dividing = [s for s in range(most, 0, -1) if all(points % s == 0 for points in space)]
    if dividing[0] == 1 < most and not exact and min(space) >= POLICY.roomy:
        reason = "none divides the grid; what its blocks predict beyond it is cut"
        return Chosen((most,) * len(space), reason)
    return Chosen((dividing[0],) * len(space), f"the largest up to {most} that divides the grid")


def list_windows(
    space: tuple[int, ...], stride: tuple[int, ...], channels: int, near: list[Ranked]
) -> list[WindowSize]:
    """Windows worth a trial; `near` are the extents whose probes did best.

    Along a line all cells of the window are best. In a square or a cube most random features would
    be spent on directions that hardly vary: there as many directions are kept as a polynomial has
    terms, fewer of a wide window than of a narrow one, and all cells only of narrow ones.
    """
    dimension, best = len(space), [ranked.extent[0] for ranked in near]

    def terms(degree: int) -> int:
        return channels * math.comb(dimension + degree, dimension)

    if dimension == 1:
        # A probe has few features, which favours narrow windows.
        wider = [extent for extent in POLICY.extents[1] if extent > best[0]]
        listed = [(extent, None) for extent in dict.fromkeys([*best[:2], *wider])]
    elif dimension == 2:
        listed = [(6, terms(5)), (4, terms(5)), (3, terms(8)), (2, terms(7))]
        listed += [(extent, None) for extent in best[:2]]
    else:
        listed = [(2, terms(6)), (2, terms(4)), (1, terms(4))]
    fitting = [
        WindowSize(extent, rank)
        for extent, rank in listed
        if all(2 * extent + s <= n for n, s in zip(space, stride, strict=True))
    ]
    return fitting or [WindowSize(best[0], None)]


def check_window(probe: Probe, extent: tuple[int, ...], reading: Reading) -> str | None:
    """Words of warning if a time step reaches beyond the window."""
    wider = tuple(reach + 2 for reach in extent)
    sides = window_sides(wider, reading.stride)
    if any(side > n for side, n in zip(sides, probe.problem.pairs.space, strict=True)):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        error, change = probe.error(extent, reading), probe.change
        # Written with "not" so that a NaN says nothing.
        if not error > POLICY.visible * change:
            return None
        less = probe.error(wider, reading)
    if not less < min(POLICY.wider_helps * error, POLICY.telling * change):
        return None
    return (
        f"the window is too small for the step: two cells more on each side bring a small model to "
        f"{less / error:.2g} of its error; give an extent larger than "
        f"{'×'.join(map(str, extent))}, or a smaller step"
    )

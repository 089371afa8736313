"""What names and points of axes tell: which way they run, how far apart, whether around a circle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..grid.states import check_step

LONGITUDES = ("x", "lon", "longitude", "easting")
LATITUDES = ("y", "lat", "latitude", "northing")
DEPTHS = ("depth", "deptht", "pressure", "plev", "isobaric")  # more of it is farther down
HEIGHTS = ("z", "height", "altitude", "lev", "level", *DEPTHS)
# No world is periodic along these.
BOUNDED = {*LATITUDES, *HEIGHTS, "elevation", "sigma"} - {"y", "z", "northing"}


def falls(axis: str) -> bool:
    """Whether an axis of this name runs downwards where its numbers rise."""
    return axis.lower() in DEPTHS


def bounded_axes(axes: Sequence[str], sides: Sequence[tuple]) -> list[str]:
    """Words of warning if axes whose `sides` are periodic cannot be so."""
    periodic = [axis for axis, ends in zip(axes, sides, strict=True) if "periodic" in ends]
    if not (wrong := [axis for axis in periodic if axis.lower() in BOUNDED]):
        return []
    return [
        f"boundary: {' and '.join(wrong)} is taken as periodic, which it hardly is; give "
        "boundary, as in boundary='open' or 'open,periodic'"
    ]


def is_irregular(coordinate) -> bool:
    """Whether points are there, but their distances vary."""
    points = np.asarray(coordinate)
    if points.dtype.kind not in "fiu" or points.ndim != 1 or len(points) < 3:
        return False
    steps = np.diff(points.astype(np.float64))
    return not np.allclose(steps, steps.mean(), rtol=1e-2, atol=0)


def is_falling(coordinate) -> bool:
    """Whether points come in falling order."""
    points = np.asarray(coordinate)
    several = points.dtype.kind in "fiu" and points.ndim == 1 and len(points) > 1
    return several and bool(points[-1] < points[0])


def spacing(coordinate) -> float | None:
    """The distance of neighbouring points, None where there are fewer than two or they vary."""
    points = np.asarray(coordinate, np.float64).ravel()
    steps = np.diff(points)
    if not len(steps) or not np.isfinite(steps).all() or steps[0] == 0:
        return None
    even = np.allclose(steps, steps.mean(), rtol=1e-2, atol=0)
    return abs(float(steps.mean())) if even else None


def steps_along(dx, dimension: int) -> tuple[float, ...]:
    """The width of a cell along each axis; one number is that along all."""
    steps = (float(dx),) * dimension if np.ndim(dx) == 0 else tuple(map(float, dx))
    if len(steps) != dimension:
        raise ValueError(f"dx: expected a number, or {dimension} of them, got {dx!r}")
    return tuple(check_step("dx", step) for step in steps)


class Axes(NamedTuple):
    """What the points of all axes come to, in the words of a Dataset."""

    dx: tuple[float | None, ...]
    dt: float | None
    irregular: tuple[str, ...]
    falling: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def known(self) -> dict[str, Any]:
        """All but the notes, as arguments of a Dataset."""
        return {name: value for name, value in self._asdict().items() if name != "notes"}


def look_along(points: Mapping[str, Any]) -> Axes:
    """What the points of axes come to, those of "time" among them; None where there are none."""
    known = {name: along for name, along in points.items() if along is not None}
    steps = {name: spacing(along) for name, along in known.items()}
    irregular = tuple(name for name, along in known.items() if is_irregular(along))
    return Axes(
        dx=tuple(steps.get(name) for name in points if name != "time"),
        dt=steps.get("time"),
        irregular=irregular,
        falling=tuple(n for n, along in known.items() if n != "time" and is_falling(along)),
        notes=tuple(
            f"axis {name}: its points are not evenly spaced; they are taken as if they were"
            for name in irregular
        ),
    )

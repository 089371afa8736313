"""What names and points of axes tell: which way they run, how far apart, whether around a circle."""

from __future__ import annotations

import numpy as np

LONGITUDES = ("x", "lon", "longitude", "easting")
LATITUDES = ("y", "lat", "latitude", "northing")
DEPTHS = ("depth", "deptht", "pressure", "plev", "isobaric")  # more of it is farther down
HEIGHTS = ("z", "height", "altitude", "lev", "level", *DEPTHS)
# No world is periodic along these.
BOUNDED = {*LATITUDES, *HEIGHTS, "elevation", "sigma"} - {"y", "z", "northing"}


def falls(axis: str) -> bool:
    """Whether an axis of this name runs downwards where its numbers rise."""
    return axis.lower() in DEPTHS


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

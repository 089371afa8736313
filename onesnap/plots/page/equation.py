"""The equation behind the data, for the solver of the page: the truth then goes on from strokes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .lift import lifted
from .pack import encode

ROUND_OFF = 1e-6  # of a number of steps


def pack_terms(system: Any, space: Sequence[int], dt: float | None) -> dict[str, Any]:
    """The terms of a System on its grid, in as many steps as make one of the model, a time `dt`."""
    if system.shape[1:] != tuple(space):
        raise ValueError(
            f"system: expected a grid of {tuple(space)} as the states have, {system.name} has "
            f"{system.shape[1:]}; give system.replace(points=..., length=...)"
        )
    steps = 1.0 if dt is None else dt / system.dt
    if round(steps) < 1 or not math.isclose(steps, round(steps), rel_tol=ROUND_OFF):
        raise ValueError(
            f"dt: expected a multiple of {system.dt:g}, the time step of {system.name}, got {dt!r}; "
            "give system.replace(dt=...)"
        )
    terms = system.terms()
    return {
        "dx": terms.dx,
        "dt": terms.dt,
        "substeps": terms.substeps * round(steps),
        "cutoff": terms.cutoff,
        "linear": [[[factor, _operator(by)] for factor, by in row] for row in terms.linear],
        "products": [
            {
                "into": product.into,
                "factor": product.factor,
                "by": _operator(product.by),
                "of": [[channel, *_operator(by)] for channel, by in product.of],
            }
            for product in terms.products
        ],
        "forcing": None if terms.forcing is None else encode(terms.forcing),
    }


def _operator(powers: Sequence[int]) -> list[int]:
    """Powers of ∂ along three axes, and of Δ."""
    return [*lifted(powers[:-1], 0), powers[-1]]

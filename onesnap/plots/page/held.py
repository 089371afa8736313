"""Inputs that change in time, held for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...data.pairs import as_floats
from ...model.stepper import Stepper


def hold_still(
    parameters, fields, stepper: Stepper, names: Sequence[str] | None
) -> tuple[Any, dict[str, Any]]:
    """The mean of parameters that change in time, and the names of those, in a word for the page."""
    if fields is not None and np.ndim(fields) > 1 + stepper.dimension:
        raise ValueError(
            "fields: a page cannot run fields that change in time; give constant ones, (F, *space)"
        )
    if parameters is None or np.ndim(parameters) < 2:
        return parameters, {}
    rows = as_floats(parameters)
    count = rows.shape[-1]
    names = [f"parameter {number}" for number in range(count)] if names is None else names
    moving = np.ptp(rows, axis=0) > 0 if len(rows) else np.zeros(count, bool)
    held = [name for name, moves in zip(names, moving, strict=False) if moves]
    return rows.mean(axis=0), {"held": held}

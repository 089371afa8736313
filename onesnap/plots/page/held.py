"""What a model tells of itself on a page; inputs that change in time are held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...data.pairs import as_floats
from ...model.drive import bind_inputs
from ...model.stepper import Stepper


def describe(
    stepper: Stepper, card: Mapping[str, Any] | None, parameters, fields, about: Mapping[str, Any]
) -> tuple[Stepper, dict[str, Any]]:
    """A stepper for the inputs of a page, and what is said `about` it there.

    The rest of it is what the model remembers of its data.
    """
    card = card or {}
    known = {name: card[name] for name in ("dx", "axes", "time_units") if name in card}
    known |= {"inputs": card.get("parameters")}
    parameters, held = _hold_still(parameters, fields, stepper, known["inputs"])
    known |= {**held, **about}
    known["dt"] = card.get("dt") if known.get("dt") is None else known["dt"]
    return bind_inputs(stepper, parameters, fields), known


def _hold_still(
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

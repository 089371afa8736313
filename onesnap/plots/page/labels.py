"""What things are called on the page, and in which units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...grid.states import check_step
from ...model.stepper import Stepper


def pack_labels(
    stepper: Stepper,
    dt: float | None = None,
    time_units: str = "",
    names: Sequence[str] | None = None,
    dx: Sequence[float | None] | None = None,
    axes: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    held: Sequence[str] = (),
) -> dict[str, Any]:
    """The time of a step, names of channels, axes and parameters, the width of a cell along axes.

    Those of the parameters that are `held` change in time elsewhere.
    """
    channels, dimension = stepper.channels, stepper.dimension
    if dt is not None:
        check_step("dt", dt)
    if names is None:
        names = ["u"] if channels == 1 else [f"channel {number}" for number in range(channels)]
    _check_count("names", names, channels, "channels")
    axes = list("xyz"[:dimension] if axes is None else axes)
    _check_count("axes", axes, dimension, "axes")
    count = len(stepper.inputs.context.parameters)
    inputs = [f"parameter {number}" for number in range(count)] if inputs is None else inputs
    _check_count("inputs", inputs, count, "parameters")
    if dx is not None:
        _check_count("dx", dx, dimension, "axes")
        dx = None if None in dx else [check_step("dx", width) for width in dx]
    return {
        "dt": 1.0 if dt is None else float(dt),
        "timeUnits": str(time_units),
        "names": [str(name) for name in names],
        "axes": [str(axis) for axis in axes],
        "dx": dx,
        "inputs": [str(name) for name in inputs],
        "held": [str(name) for name in held],
    }


def _check_count(name: str, values: Sequence[Any], count: int, things: str) -> None:
    if len(values) != count:
        raise ValueError(f"{name}: expected one for each of {count} {things}, got {list(values)!r}")

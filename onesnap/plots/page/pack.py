"""What the page needs of a model, as plain values and base64."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ...grid.boundary import both_sides
from ...model.rollout import MARGIN, STRAIGHT_MARGIN
from ...model.stepper import FADING, Stepper
from ...network.assemble import Network
from ...network.edges import middle
from ...network.inputs import Inputs
from .lift import lifted


def encode(array: Any) -> dict[str, Any]:
    """An array of float32 or int32 as the page reads it."""
    array = np.asarray(array)
    kind = "int32" if array.dtype.kind in "iu" else "float32"
    content = np.ascontiguousarray(array, "<i4" if kind == "int32" else "<f4").tobytes()
    return {"type": kind, "shape": list(array.shape), "data": base64.b64encode(content).decode()}


def why_not(stepper: Stepper) -> str | None:
    """What a model has that the page cannot run, and what to do; None if there is nothing."""
    inputs = stepper.inputs
    if stepper.dimension > 2:
        return "three axes of space; forecast it with `onesnap rollout`"
    if inputs.context.potential or stepper.amplitudes is not None:
        return "potentials; fit it with potential=False, or forecast it with `onesnap rollout`"
    if inputs.fill is not None:
        return "cells that never have a value; forecast it with `onesnap rollout`"
    if stepper.history > 1:
        return "a history; forecast it with `onesnap rollout`"
    return None


def check_can_run(stepper: Stepper) -> None:
    """Raise if a model has something that the page cannot run."""
    reason = why_not(stepper)
    if reason is not None:
        raise ValueError(f"model: a page cannot run a model with {reason}")


def pack_model(stepper: Stepper, space: Sequence[int]) -> dict[str, Any]:
    """The numbers of a model on a grid, its parameters folded into the constants."""
    inputs, network, scaling = stepper.inputs, stepper.network, stepper.scaling
    inputs.check_grid(space)
    features, context, dimension = network.features, inputs.context, stepper.dimension
    known = context.fields.shape[0]
    if known and context.fields.shape[1:] != tuple(space):
        raise ValueError(
            f"data: the model knows fields on {context.fields.shape[1:]} cells, these states have "
            f"{tuple(space)}; give states on the grid that was learned from"
        )
    fields = context.beside(np.zeros((inputs.channels, *space))) if known else None
    parameters, cells = context.parameters.shape[0], inputs.window_cells * (inputs.channels + known)
    centre = _centre(inputs, cells)
    with jax.enable_x64(True):
        arguments = features.arguments(centre[:cells], centre[cells:])
    weights = np.asarray(features.weights)
    return {
        "dimension": dimension,
        "space": lifted(space, 1),
        "channels": inputs.channels,
        "extent": lifted(inputs.extent, 0),
        "stride": lifted(inputs.stride, 1),
        "boundary": lifted(_ends(stepper), ("periodic", "periodic")),
        "low": encode(scaling.low),
        "width": encode(scaling.high - scaling.low),
        "mean": scaling.mean,
        "margin": scaling.margin,
        "activation": features.activation,
        "hidden": features.hidden,
        "rank": 0 if features.basis is None else features.basis.shape[1],
        "twice": _twice(stepper),
        "fading": FADING if network.lead and features.hidden and not network.straight else 0,
        "farthest": STRAIGHT_MARGIN if network.straight else MARGIN,
        "surroundings": [int(width) for width in inputs.surroundings],
        "position": lifted(context.position or (0,) * dimension, 0),
        "known": known,
        "fields": None if fields is None else encode(fields),
        "windowCells": cells,
        "inputs": cells + inputs.values - parameters,
        "weights": encode(weights[: len(weights) - parameters]),
        "basis": None if features.basis is None else encode(features.basis),
        "centres": encode(arguments),
        **_readout(stepper, middle(network, inputs), centre),
        "patch": _patch(stepper, space, centre),
    }


def _ends(stepper: Stepper) -> list[list[str | float]]:
    """What lies beyond the ends of each axis, in words or as a plain number."""
    sides = both_sides(stepper.inputs.boundary, stepper.dimension)
    return [[end if isinstance(end, str) else float(end) for end in ends] for ends in sides]


def _twice(stepper: Stepper) -> bool:
    """Whether a linear part reads inputs that are not limited, beside random units that do."""
    network = stepper.network
    limited = stepper.scaling.margin is not None and network.features.hidden > 0
    return limited and network.straight and network.lead > 0


def _centre(inputs: Inputs, cells: int) -> np.ndarray:
    """The middle of the range of all inputs; parameters as they are."""
    boxes, parameters = math.prod(inputs.boxes), np.asarray(inputs.context.scaled_parameters)
    place = np.zeros(inputs.values - boxes - len(parameters))
    return np.concatenate([np.full(cells + boxes, 0.5), place, parameters])


def _readout(stepper: Stepper, network: Network, centre: np.ndarray) -> dict[str, Any]:
    """Rows of what random units have beyond their tangents, then of inputs, and the constant.

    A unit is act(b + d) = act(b) + act'(b) d + the rest; all but the rest is linear.
    """
    features, lead = network.features, network.lead
    cells = len(centre) - stepper.inputs.values
    with jax.enable_x64(True):
        values, slopes = map(np.asarray, features.with_slopes(centre[:cells], centre[cells:]))
    readout = np.asarray(network.readout)
    linear = readout[: lead - 1] if lead else np.zeros((len(centre), readout.shape[1]))
    random = readout[lead:]
    count = len(centre) - stepper.inputs.context.parameters.shape[0]
    constant = centre @ linear + values @ random + (readout[lead - 1] if lead else 0.0)
    tangents = ((features.cell_weights() * slopes) @ random)[:count]
    rows = [tangents, linear[:count]] if _twice(stepper) else [tangents + linear[:count]]
    return {"readout": encode(np.concatenate([random, *rows])), "constant": encode(constant)}


def _patch(stepper: Stepper, space: Sequence[int], centre: np.ndarray) -> dict[str, Any] | None:
    """Windows near open ends, and where their answers go."""
    edges = stepper.inputs.edges
    if len(edges.offsets) == 1:
        return None
    patch = edges.patch(tuple(space))
    rows = np.zeros_like(patch.windows[:1])
    windows = patch.windows if stepper.dimension == 2 else np.concatenate([rows, patch.windows])
    return {
        "windows": encode(windows),
        "cells": encode(patch.cells),
        "sources": encode(patch.sources),
        **_readout(stepper, stepper.network, centre),
    }

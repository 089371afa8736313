"""What the page needs of a model, as plain values and base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...grid.boundary import both_sides
from ...model.rollout import MARGIN, STRAIGHT_MARGIN
from ...model.stepper import FADING, Stepper, with_readout
from ...network.assemble import Network
from ...network.context import Context
from ...network.edges import middle
from .lift import AXES, lifted

MEMBERS = 4  # that run beside a forecast: each costs as much as it does


def encode(array: Any) -> dict[str, Any]:
    """An array as the page reads it: float64, or what it is of int32 and float32."""
    array = np.asarray(array)
    kind = "int32" if array.dtype.kind in "iu" else "float32" if array.dtype == "f4" else "float64"
    content = np.ascontiguousarray(array, np.dtype(kind).newbyteorder("<")).tobytes()
    return {"type": kind, "shape": list(array.shape), "data": base64.b64encode(content).decode()}


def pack_model(
    stepper: Stepper, space: Sequence[int], members: np.ndarray | None = None
) -> dict[str, Any]:
    """The numbers of a model on a grid, its parameters folded into the constants.

    `members` are deviations from its readout, of which the page takes a few.
    """
    if stepper.history > 1:
        raise ValueError("model: a page cannot run one with a history; use `onesnap rollout`")
    inputs, network, scaling = stepper.inputs, stepper.network, stepper.scaling
    inputs.check_grid(space)
    features, context, dimension = network.features, inputs.context, stepper.dimension
    known = context.fields.shape[0]
    if known and context.fields.shape[1:] != tuple(space):
        raise ValueError(
            f"data: the model knows fields on {context.fields.shape[1:]} cells, these states have "
            f"{tuple(space)}; give states on the grid that was learned from"
        )
    parameters = context.parameters.shape[0]
    slopes = stepper.dimension * inputs.channels if context.potential else 0
    cells = inputs.window_cells * (inputs.channels + known + slopes)
    weights, given = np.asarray(features.weights), np.asarray(context.scaled_parameters)
    seen = len(weights) - parameters
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
        "linear": network.lead > 0,
        "twice": _twice(stepper),
        "fading": FADING if network.lead and features.hidden and not network.straight else 0,
        "farthest": STRAIGHT_MARGIN if network.straight else MARGIN,
        "surroundings": [int(width) for width in inputs.surroundings],
        "position": lifted(context.position or (0,) * dimension, 0),
        "known": known,
        **_beside(stepper, space),
        "windowCells": cells,
        "inputs": cells + inputs.values - parameters,
        "weights": encode(weights[:seen]),
        "basis": None if features.basis is None else encode(features.basis),
        "bias": encode(features.bias + given @ weights[seen:]),
        "parameters": _parameters(context, weights[seen:]),
        "versions": [_version(version) for version in _versions(stepper, members)],
        "patch": _patch(stepper, space),
    }


def _parameters(context: Context, weights: np.ndarray) -> dict[str, Any] | None:
    """The values that are folded in, their ranges, and what units gain by one more of each."""
    if not (count := len(context.parameters)):
        return None
    low, high = (np.asarray(end)[:count] for end in (context.low, context.high))
    given = np.asarray(context.parameters)
    return {
        "given": given.tolist(),
        "low": np.minimum(low, given).tolist(),
        "high": np.maximum(high, given).tolist(),
        "slopes": encode(weights / (high - low)[:, None]),
    }


def _versions(stepper: Stepper, members: np.ndarray | None) -> list[Stepper]:
    """The model, and the members beside it."""
    readout = np.asarray(stepper.network.readout)
    beside = [] if members is None else [readout + member for member in members[:MEMBERS]]
    return [stepper, *(with_readout(stepper, each) for each in beside)]


def _beside(stepper: Stepper, space: Sequence[int]) -> dict[str, Any]:
    """What windows read beside the state, and what is done to a field as a whole."""
    inputs, context = stepper.inputs, stepper.inputs.context
    known, parameters = context.fields.shape[0], context.parameters.shape[0]
    scaled = context.beside(np.zeros((inputs.channels, *space)))[:known]
    low, width = (part[parameters + known :] for part in (context.low, context.high - context.low))
    mask = None if inputs.fill is None else (np.asarray(context.fields[-1]) > 0.5).astype(int)
    return {
        "fields": encode(scaled) if known else None,
        "gradients": {"low": encode(low), "width": encode(width)} if context.potential else None,
        "amplitudes": None if stepper.amplitudes is None else encode(stepper.amplitudes),
        "mask": None if mask is None else encode(mask),
        "fill": None if inputs.fill is None else encode(inputs.fill),
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


def _version(stepper: Stepper) -> dict[str, Any]:
    """What turns hidden units into answers: those of the middle block and, at open ends, of all."""
    several = len(stepper.inputs.edges.offsets) > 1
    return {
        **_readout(stepper, middle(stepper.network, stepper.inputs)),
        "patch": _readout(stepper, stepper.network) if several else None,
    }


def _readout(stepper: Stepper, network: Network) -> dict[str, Any]:
    """Rows of random units, then those of inputs, and the constant with what parameters add to it."""
    readout, lead = np.asarray(network.readout), network.lead
    linear, random = readout[:lead], readout[lead:]
    context = stepper.inputs.context
    parameters = np.asarray(context.scaled_parameters)
    count, width = max(0, lead - 1 - len(parameters)), (context.high - context.low)[: len(parameters)]
    constant = parameters @ linear[count:-1] + linear[-1] if lead else np.zeros(readout.shape[1])
    slopes = linear[count:-1] / width[:, None] if lead else np.zeros((len(width), readout.shape[1]))
    return {
        "readout": encode(np.concatenate([random, linear[:count]])),
        "constant": encode(constant),
        "slopes": encode(slopes),
    }


def _patch(stepper: Stepper, space: Sequence[int]) -> dict[str, Any] | None:
    """Windows near open ends, and where their answers go."""
    edges = stepper.inputs.edges
    if len(edges.offsets) == 1:
        return None
    patch = edges.patch(tuple(space))
    missing = np.zeros((AXES - stepper.dimension, *patch.windows.shape[1:]), patch.windows.dtype)
    return {
        "windows": encode(np.concatenate([missing, patch.windows])),
        "cells": encode(patch.cells),
        "sources": encode(patch.sources),
    }

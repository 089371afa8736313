"""Model files: safetensors for the arrays, JSON in its header for the settings.

Nothing in them is executed. Weights are stored, never drawn again from a seed, so a model forecasts
the same bits after a round trip. Writing is atomic: a file is there whole or not at all.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.fingerprint import SIZE as PRINT_SIZE
from ..data.sealed import UNREADABLE, check_version, read_sealed, write_sealed
from ..grid.boundary import both_sides
from ..grid.scaling import Scaling
from ..grid.windows import AnyArray, per_axis, window_sides
from ..network.assemble import make_network
from ..network.context import Context
from ..network.features import Features
from ..network.inputs import Inputs
from ..symmetry import Group
from .plan import Plan
from .stepper import Stepper
from .validation import check_card, check_settings, check_window, make_group

VERSION = 1
KEY = "onesnap"  # the entry of the header that holds the settings, and a digest of it all
REQUIRED = {  # name -> number of axes, None where it depends on the grid
    "scaling.low": 1,
    "scaling.high": 1,
    "features.weights": 2,
    "features.bias": 1,
    "readout": 2,
    "context.parameters": 1,
    "context.fields": None,
    "context.low": 1,
    "context.high": 1,
}
OPTIONAL = {"features.basis": 2, "fill": 1, "loudest": 2, "members": 3, "seen": 3}


class Stored(NamedTuple):
    """What a model file holds."""

    stepper: Stepper
    params: dict[str, Any]  # arguments of the Surrogate
    plan: Plan
    card: dict[str, Any] | None = None  # of the data that the model was made from
    members: np.ndarray | None = None  # deviations from the readout, `(member, hidden, outputs)`
    seen: np.ndarray | None = None  # fingerprints of the states learned from


def save(path, stored: Stored, *, force: bool = False) -> None:
    """Write a model file."""
    tensors, settings = pack(stored)
    write_sealed(path, KEY, tensors, encode(settings), force=force)


def pack(stored: Stored) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays of a model file, and its settings."""
    inputs, features = stored.stepper.inputs, stored.stepper.network.features
    scaling, context, plan = inputs.scaling, inputs.context, stored.plan
    arrays = {
        "scaling.low": scaling.low,
        "scaling.high": scaling.high,
        "features.basis": features.basis,
        "features.weights": features.weights,
        "features.bias": features.bias,
        "readout": stored.stepper.network.readout,
        "context.parameters": context.parameters,
        "context.fields": context.fields,
        "context.low": context.low,
        "context.high": context.high,
        "fill": inputs.fill,
        "loudest": stored.stepper.amplitudes,  # the name that files of this version have
        "members": stored.members,
        "seen": stored.seen,
    }
    settings = {
        "version": VERSION,
        "activation": features.activation,
        "mean": scaling.mean,
        "margin": scaling.margin,
        "position": context.position,
        "potential": context.potential,
        "extent": inputs.extent,
        "stride": inputs.stride,
        "surroundings": inputs.surroundings,
        "boundary": inputs.boundary,
        "params": stored.params,
        "data": stored.card,
        "plan": {f.name: getattr(plan, f.name) for f in dataclasses.fields(plan)},
    }
    tensors = {
        name: np.ascontiguousarray(array, np.float64)
        for name, array in arrays.items()
        if array is not None
    }
    return tensors, settings


def encode(settings: dict[str, Any]) -> str:
    """Settings as the text of a file."""
    return json.dumps(settings, default=_encode, sort_keys=True)


def decode(text: str) -> dict[str, Any]:
    """Settings out of the text of a file; one of another version is refused."""
    settings = json.loads(text, object_hook=_decode)
    check_version(settings, VERSION)
    return settings


def load(path) -> Stored:
    """Read a model file; anything that is not one is a ValueError that says so."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        sealed = read_sealed(path, KEY)
        if sealed is None:
            raise ValueError("it is a safetensors file of another program")
        settings = decode(sealed.text)
        check_tensors(sealed.tensors)
        sealed.check()
        return assemble(settings, sealed.tensors)
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else error
        raise ValueError(f"{path}: not a onesnap model file that can be read: {reason}") from error


def _encode(value: Any) -> Any:
    """JSON for what json does not know."""
    if isinstance(value, Group):
        elements = [[list(e.axes), list(e.flips), e.sign] for e in value.elements]
        return {"group": {"fields": list(value.fields), "elements": elements}}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"cannot store a {type(value).__name__} in a model file")


def _decode(value: dict) -> Any:
    if set(value) != {"group"}:
        return value
    return make_group(value["group"])


def check_tensors(tensors: dict[str, np.ndarray]) -> None:
    expected = REQUIRED | OPTIONAL
    missing, extra = set(REQUIRED) - set(tensors), set(tensors) - set(expected)
    if missing or extra:
        raise ValueError(f"arrays missing {sorted(missing)}, unknown {sorted(extra)}")
    for name, array in tensors.items():
        if array.dtype != np.float64 or expected[name] not in (None, array.ndim):
            raise ValueError(f"{name} has dtype {array.dtype} and {array.ndim} axes")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds values that are not finite")


def assemble(settings: dict, tensors: dict[str, np.ndarray]) -> Stored:
    """Build the parts, after checking every value, and that sizes fit together."""
    check_settings(settings)
    check_window(settings, tensors)
    dimension = len(settings["stride"])
    context = Context(
        per_axis("position", settings["position"], dimension, 0),
        *(tensors[f"context.{name}"] for name in ("parameters", "fields", "low", "high")),
        potential=settings.get("potential", False) is True,
        older=(settings["plan"].get("history", 1) - 1) * len(tensors["scaling.low"]),
    )
    ends = tensors["scaling.low"], tensors["scaling.high"]
    inputs = Inputs(
        Scaling(*ends, settings["mean"], settings["margin"]),
        context,
        per_axis("extent", settings["extent"], dimension, 0),
        per_axis("stride", settings["stride"], dimension, 1),
        both_sides(settings["boundary"], dimension),
        tensors.get("fill"),
        _widths(settings),
    )
    if tensors["readout"].shape[1] != inputs.outputs:  # before windows were kept inside open ends
        inputs = dataclasses.replace(inputs, inward=False)
    _check_sizes(inputs, settings["plan"]["symmetry"], tensors)
    features = Features(
        tensors.get("features.basis"),
        tensors["features.weights"],
        tensors["features.bias"],
        settings["activation"],
    )
    plan = settings["plan"]
    along = {
        name: per_axis(name, plan[name], dimension, 0) for name in ("extent", "stride", "context")
    }
    plan = Plan(**plan | along | {"surroundings": _widths(plan)})
    # A stepper that was averaged over another group has more units than its plan.
    orbits = plan.equivariant and features.hidden == plan.hidden
    stencil = inputs.stencil(plan.symmetry)
    network = make_network(features, tensors["readout"], stencil, orbits, plan.shrinkage)
    stepper = Stepper(inputs, network, tensors.get("loudest"))
    check_card(settings.get("data"), inputs.channels, dimension, context)
    params = dict(settings["params"])
    if isinstance(params.get("surroundings"), list):  # JSON knows no tuples
        params["surroundings"] = _widths(params)
    beside = tensors.get("members"), tensors.get("seen")
    return Stored(stepper, params, plan, settings.get("data"), *beside)


def _widths(settings: dict) -> tuple[int, ...]:
    """The widths of surroundings; the first model files know of none."""
    widths = settings.get("surroundings", [])
    return per_axis("surroundings", widths, len(widths), 1)


def _check_sizes(inputs: Inputs, symmetry: Group, tensors: dict[str, np.ndarray]) -> None:
    """Raise unless the arrays of a network fit its inputs, and each other."""
    context, scaling, channels = inputs.context, inputs.scaling, inputs.channels
    dimension, shapes = len(inputs.stride), {name: array.shape for name, array in tensors.items()}
    fields = context.fields.shape[0] + context.potential * channels * dimension
    cells = math.prod(window_sides(inputs.extent, inputs.stride)) * (channels + fields)
    seen, rank = shapes.get("features.basis", (cells, cells))
    beside = inputs.values
    hidden, known = shapes["features.weights"][1], context.parameters.shape[0] + fields
    stacked = hidden + cells + beside + 1  # with a linear part
    fits = {
        "features.basis": seen == cells,
        "features.weights": shapes["features.weights"][0] == rank + beside,
        "features.bias": shapes["features.bias"] == (hidden,),
        "readout": shapes["readout"] in ((units, inputs.outputs) for units in (hidden, stacked)),
        "scaling.high": _are_ranges(scaling.low, scaling.high),
        "context.fields": (context.fields.ndim == 1 + dimension or context.fields.size == 0)
        and context.older <= context.fields.shape[0],
        "fill": "fill" not in shapes or (context.fields.size and shapes["fill"] == (channels,)),
        "loudest": "loudest" not in shapes or _are_limits(tensors["loudest"], channels),
        "members": shapes.get("members", (0, *shapes["readout"]))[1:] == shapes["readout"],
        "seen": shapes.get("seen", (0, channels, PRINT_SIZE))[1:] == (channels, PRINT_SIZE),
        "context.low": context.low.shape == (known,) and _are_ranges(context.low, context.high),
        "symmetry": (symmetry.dimension, symmetry.channels) == (dimension, channels),
    }
    wrong = [name for name, fine in fits.items() if not fine]
    if wrong:
        raise ValueError(f"the sizes of {wrong} do not fit the rest")
    if context.fields.shape[0] > context.older:
        inputs.check_grid(context.fields.shape[1:])


def _are_ranges(low: AnyArray, high: AnyArray) -> bool:
    """Whether these are the ends of ranges that one can divide by."""
    if low.shape != high.shape:
        return False
    with np.errstate(over="ignore"):
        return bool(np.all(low < high) and np.isfinite(high - low).all())


def _are_limits(amplitudes: np.ndarray, channels: int) -> bool:
    rows, bands = amplitudes.shape
    return rows == channels and bands >= 2 and bool(np.all(amplitudes >= 0))

"""Model files: safetensors for the arrays, JSON in its header for the settings.

Nothing in them is executed. Weights are stored, never drawn again from a seed, so a model forecasts
the same bits after a round trip. Writing is atomic: a file is there whole or not at all.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from .features import ACTIVATIONS, Context, Features
from .folding import make_fold
from .planning import Plan
from .scaling import Scaling
from .stepper import Stepper
from .symmetry import Element, Group
from .windows import both_sides, per_axis, window_sides

VERSION = 1
PER_AXIS = ("extent", "stride", "context")  # settings of a plan
MOST_HEADER = 2**24  # bytes; groups and reasons take some thousands
UNREADABLE = (
    SafetensorError, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError,
    RecursionError,
)  # fmt: skip
KEY = "onesnap"  # the entry of the header that holds the settings, and a digest of it all
TENSORS = {  # name -> number of axes, None where it depends on the grid
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


def write_atomically(path: str | os.PathLike, content: bytes, *, force: bool = False) -> None:
    """Write a whole file or nothing; an existing file is kept unless `force`."""
    path = Path(path)
    if path.exists() and not force:
        raise FileExistsError(f"{path}: exists already; choose another name, or say force")
    path.parent.mkdir(parents=True, exist_ok=True)
    # Named before it is there: an interrupt at any moment finds the name to remove.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with temporary.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            words = f"cannot be written, nothing was changed: {error.strerror or error}"
            raise OSError(error.errno, words, str(path)) from error
        raise


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
    elements = tuple(
        Element(tuple(axes), tuple(map(bool, flips)), sign)
        for axes, flips, sign in value["group"]["elements"]
    )
    return Group(elements, tuple(value["group"]["fields"]))


def save(
    path,
    stepper: Stepper,
    params: dict,
    plan: Plan,
    data: dict | None = None,
    members: np.ndarray | None = None,
    *,
    force: bool = False,
) -> None:
    """Write a model file; `members` are deviations from the readout, `(member, hidden, outputs)`."""
    tensors = {name: _attribute(stepper, name) for name in TENSORS}
    optional = {
        "features.basis": stepper.features.basis,
        "fill": stepper.fill,
        "loudest": stepper.loudest,
        "members": members,
    }
    tensors |= {name: array for name, array in optional.items() if array is not None}
    settings = {
        "version": VERSION,
        "activation": stepper.features.activation,
        "mean": stepper.scaling.mean,
        "margin": stepper.scaling.margin,
        "position": stepper.context.position,
        "potential": stepper.context.potential,
        "extent": stepper.extent,
        "stride": stepper.stride,
        "boundary": stepper.boundary,
        "params": params,
        "data": data,
        "plan": {f.name: getattr(plan, f.name) for f in dataclasses.fields(plan)},
    }
    tensors = {name: np.ascontiguousarray(array, np.float64) for name, array in tensors.items()}
    text = json.dumps(settings, default=_encode, sort_keys=True)
    # One entry: the library writes several in any order, and the same model should be the same bytes.
    header = {KEY: json.dumps({"settings": text, "digest": _digest(tensors, text)})}
    write_atomically(path, to_bytes(tensors, metadata=header), force=force)


def _digest(tensors: dict[str, np.ndarray], settings: str) -> str:
    """A fingerprint of everything in the file, so that no flipped bit goes unnoticed."""
    total = hashlib.sha256(settings.encode())
    for name in sorted(tensors):
        total.update(f"{name} {tensors[name].shape} {tensors[name].dtype}".encode())
        total.update(tensors[name].tobytes())
    return total.hexdigest()


def _attribute(stepper: Stepper, name: str):
    value: Any = stepper
    for part in name.split("."):
        value = getattr(value, part)
    return value


def load(path) -> tuple[Stepper, dict, Plan, dict | None, np.ndarray | None]:
    """Read a model file; anything that is not one is a ValueError that says so."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such model file")
    try:
        _check_size(path)
        with safe_open(path, framework="numpy") as stream:
            header = (stream.metadata() or {}).get(KEY)
            if header is None:
                raise ValueError("it is a safetensors file of another program")
            tensors = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
        header = json.loads(header)
        settings = json.loads(header["settings"], object_hook=_decode)
        if settings.get("version") != VERSION:
            raise ValueError(
                f"it has format version {settings.get('version')!r}, this onesnap reads {VERSION}; "
                "upgrade onesnap"
            )
        _check_tensors(tensors)
        if header["digest"] != _digest(tensors, header["settings"]):
            raise ValueError("it is damaged: its content does not match its digest")
        return _assemble(settings, tensors)
    except UNREADABLE as error:
        reason = f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else error
        raise ValueError(f"{path}: not a onesnap model file that can be read: {reason}") from error


def _check_card(card: dict | None) -> dict | None:
    """What the model remembers of its data, after a look at its form."""
    if card is None:
        return None
    listed = [card[key] for key in ("axes", "dx", "parameters", "context", "fields")]
    fine = all(isinstance(value, list) for value in listed)
    for name, kind, channels, units in card["fields"]:
        fine = fine and all(isinstance(word, str) for word in (name, kind, units))
        fine = fine and isinstance(channels, int) and 1 <= channels <= 1000
    if not fine or not isinstance(card["dt"], float | int | None) or "masked" not in card:
        raise ValueError("what it says of its data makes no sense")
    return card


def _check_size(path: Path) -> None:
    """Look at the length of the header before anything is made of it."""
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
    if not 2 <= length <= min(MOST_HEADER, path.stat().st_size - 8):
        raise ValueError(f"its header would have {length} bytes")


def _check_tensors(tensors: dict[str, np.ndarray]) -> None:
    expected = TENSORS | {"features.basis": 2, "fill": 1, "loudest": 2, "members": 3}
    missing, extra = set(TENSORS) - set(tensors), set(tensors) - set(expected)
    if missing or extra:
        raise ValueError(f"arrays missing {sorted(missing)}, unknown {sorted(extra)}")
    for name, array in tensors.items():
        if array.dtype != np.float64 or expected[name] not in (None, array.ndim):
            raise ValueError(f"{name} has dtype {array.dtype} and {array.ndim} axes")
        if not np.isfinite(array).all():
            raise ValueError(f"{name} holds values that are not finite")


def _assemble(settings: dict, tensors: dict[str, np.ndarray]):
    """Build the parts, after checking that their sizes fit together."""
    basis, weights = tensors.get("features.basis"), tensors["features.weights"]
    ends = tensors["scaling.low"], tensors["scaling.high"]
    scaling = Scaling(*ends, settings["mean"], settings["margin"])
    dimension = len(settings["stride"])
    context = Context(
        per_axis("position", settings["position"], dimension, 0),
        *(tensors[f"context.{name}"] for name in ("parameters", "fields", "low", "high")),
        potential=settings.get("potential", False) is True,
    )
    extent = per_axis("extent", settings["extent"], dimension, 0)
    stride = per_axis("stride", settings["stride"], dimension, 1)
    channels, cells = scaling.low.shape[0], 1
    fields = context.fields.shape[0] + context.potential * channels * dimension
    for reach, step in zip(extent, stride, strict=True):
        cells *= 2 * reach + step
    cells *= channels + fields
    beside = sum(context.position) + context.parameters.shape[0]
    inputs = (cells if basis is None else basis.shape[1]) + beside
    outputs = channels * int(np.prod(stride))
    hidden = weights.shape[1]
    known = context.parameters.shape[0] + fields
    sizes = {
        "features.basis": (basis is None or basis.shape[0] == cells),
        "features.weights": weights.shape[0] == inputs,
        "features.bias": tensors["features.bias"].shape == (hidden,),
        "readout": tensors["readout"].shape == (hidden, outputs),
        "scaling.high": scaling.high.shape == scaling.low.shape and bool((ends[0] < ends[1]).all()),
        "context.fields": tensors["context.fields"].ndim in (1, 1 + dimension),
        "fill": "fill" not in tensors
        or (context.fields.size and tensors["fill"].shape == scaling.low.shape),
        "loudest": "loudest" not in tensors or tensors["loudest"].shape[0] == channels,
        "members": "members" not in tensors or tensors["members"].shape[1:] == (hidden, outputs),
        "context.low": context.low.shape == context.high.shape == (known,),
    }
    wrong = [name for name, fine in sizes.items() if not fine]
    if wrong or settings["activation"] not in ACTIVATIONS:
        raise ValueError(f"the sizes of {wrong or 'activation'} do not fit the rest")
    features = Features(basis, weights, tensors["features.bias"], settings["activation"])
    boundary = both_sides(settings["boundary"], len(stride))
    plan = settings["plan"]
    plan = Plan(**plan | {name: per_axis(name, plan[name], dimension, 0) for name in PER_AXIS})
    how = None
    if plan.equivariant and hidden == plan.hidden:  # not averaged over another group
        extras = context.types(plan.symmetry.fields)
        how = make_fold(features, plan.symmetry, window_sides(extent, stride), extras)
    stepper = Stepper(
        scaling,
        features,
        tensors["readout"],
        context,
        extent,
        stride,
        boundary,
        tensors.get("fill"),
        how,
        tensors.get("loudest"),
    )
    card = _check_card(settings.get("data"))
    return stepper, dict(settings["params"]), plan, card, tensors.get("members")

"""A prepared model as a file: all that workers need to learn with one layer, and what solving needs.

It is a model file whose readout is not known yet, and beside it the parts of the layer that a
forecast does not need, the noises to try, and the pairs that trial forecasts start from. Weights are
stored, not drawn again: the same seed need not give the same bits on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.pairs import Pairs
from ..data.sealed import UNREADABLE, digest, read_sealed, write_sealed
from ..fit import Fit, Training
from ..model import file
from ..network.layer import NOISE_FORMS, Layer
from ..network.linear import Linear
from ..network.sampler import Sampler
from ..search.build import Parts
from ..search.search import Noise, Settled

KEY = "onesnap prepared"
PREFIX = "training."
SAMPLER = ("windows", "share", "orbits", "noise", "seed", "edges")
# What another pair may change, and what is of no matter to sums.
APART = ("context.parameters", "context.fields", "readout", "seen", "loudest")


def save_prepared(path, fit: Fit, params: Mapping[str, Any], *, force: bool = False) -> None:
    """Write a model that is prepared and has learned nothing yet."""
    tensors, settings = _pack(fit, params)
    write_sealed(path, KEY, tensors, file.encode(settings), force=force)


def mark(fit: Fit) -> str:
    """A digest of all that sums depend on: layer, inputs, and the choice of windows."""
    training = _training(fit)
    tensors, settings = _pack(fit, {})
    kept = {
        name: array
        for name, array in tensors.items()
        if name not in APART and not name.startswith((f"{PREFIX}sample.", f"{PREFIX}last."))
    }
    geometry = {name: settings[name] for name in ("mean", "margin", "position", "potential")}
    geometry |= {name: settings[name] for name in ("extent", "stride", "surroundings", "boundary")}
    choice = {name: settings["training"][name] for name in ("sampler", "linear", "orbits")}
    group, solver = training.parts.sampler.group, training.given["solver"]
    text = file.encode({"group": group, "solver": solver, **geometry, **choice})
    return digest(kept, text)


def _pack(fit: Fit, params: Mapping[str, Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    training = _training(fit)
    parts, settled, last = training.parts, training.settled, training.last or training.sample.last
    layer, sampler, linear = parts.layer, parts.sampler, parts.layer.linear
    rows = layer.features.hidden + (0 if linear is None else linear.size)
    stepper = parts.stepper(np.zeros((rows, sampler.inputs.outputs)), last)
    stored = file.Stored(stepper, dict(params), fit.plan, fit.card, None, fit.seen)
    tensors, settings = file.pack(stored)
    arrays = {"variances": layer.variances, "directions": layer.directions}
    if settled.readout is not None:
        arrays["readout"] = settled.readout
    if linear is not None:
        arrays["offset"] = linear.offset
        arrays |= {f"columns.{number}": part for number, part in enumerate(linear.columns)}
    for name, pairs in ("sample", training.sample), ("last", last):
        arrays |= {f"{name}.{key}": array for key, array in _arrays(pairs).items()}
    settings["training"] = {
        "sampler": {name: getattr(sampler, name) for name in SAMPLER},
        "form": layer.noise_form,
        "noises": [list(noise) for noise in settled.noises],
        "lasted": settled.lasted,
        "driven": training.sample.driven,
        "orbits": layer.stencil is not None,
        "linear": None if linear is None else [len(linear.columns), linear.values, linear.trivial],
    }
    more = {f"{PREFIX}{name}": np.asarray(array, np.float64) for name, array in arrays.items()}
    return tensors | more, settings


def _arrays(pairs: Pairs) -> dict[str, np.ndarray]:
    arrays = {"before": pairs.before, "after": pairs.after}
    arrays |= {"parameters": pairs.parameters, "fields": pairs.fields}
    return arrays if pairs.missing is None else arrays | {"missing": pairs.missing}


def load_prepared(path) -> tuple[dict[str, Any], Fit] | None:
    """The arguments of the Surrogate and the fit; None if the file is one of another kind."""
    path = Path(path)
    if not path.is_file():
        return None
    try:
        sealed = read_sealed(path, KEY)
    except UNREADABLE:
        return None  # whoever reads it as a model file says what is wrong
    if sealed is None:
        return None
    try:
        settings = file.decode(sealed.text)
        sealed.check()
        return _unpack(settings, sealed.tensors)
    except UNREADABLE as error:
        raise ValueError(f"{path}: not a prepared model that can be read: {error}") from error


def _unpack(settings: dict[str, Any], tensors: dict[str, np.ndarray]) -> tuple[dict[str, Any], Fit]:
    extra = {name: array for name, array in tensors.items() if name.startswith(PREFIX)}
    model = {name: array for name, array in tensors.items() if name not in extra}
    file.check_tensors(model)
    stored = file.assemble(settings, model)
    arrays = {name.removeprefix(PREFIX): array for name, array in extra.items()}
    if not all(a.dtype == np.float64 and np.isfinite(a).all() for a in arrays.values()):
        raise ValueError("it holds values that are not finite")
    known, plan, inputs = settings["training"], stored.plan, stored.stepper.inputs
    noises = tuple(Noise(form, float(size)) for form, size in known["noises"])
    if not noises or not {*(n.form for n in noises), known["form"]} <= set(NOISE_FORMS):
        raise ValueError(f"training: expected noises of {NOISE_FORMS}, got {known['noises']}")
    stencil = inputs.stencil(plan.symmetry) if known["orbits"] else None
    linear = None
    if known["linear"] is not None:
        count, values, trivial = known["linear"]
        columns = tuple(arrays[f"columns.{number}"] for number in range(count))
        linear = Linear(columns, arrays["offset"], values, trivial, stencil)
    features = stored.stepper.network.features
    about = arrays["variances"], arrays["directions"]
    layer = Layer(features, *about, known["form"], stencil, linear, inputs)
    sampler = Sampler(inputs, plan.symmetry, **{name: known["sampler"][name] for name in SAMPLER})
    parts = Parts(sampler, layer, tensors.get("loudest"), plan.shrinkage)
    if type(known["lasted"]) is not int or known["lasted"] < 0:
        raise ValueError(f"training: expected steps of 0 or more, got {known['lasted']!r}")
    settled = Settled(plan, parts, noises, known["lasted"], arrays.get("readout"))
    if type(driven := known.get("driven", False)) is not bool:  # files of old do not say
        raise ValueError(f"training: expected driven to be true or false, got {driven!r}")
    sample, last = (replace(_pairs(arrays, name), driven=driven) for name in ("sample", "last"))
    _check(layer, inputs.outputs, stored.stepper.network.readout, [sample, last])
    totals = layer.start(inputs.outputs, stored.params["solver"])
    training = Training(stored.params, parts, totals, settled, sample, last)
    return stored.params, Fit(plan, card=stored.card, seen=stored.seen, training=training)


def _pairs(arrays: Mapping[str, np.ndarray], name: str) -> Pairs:
    missing = arrays.get(f"{name}.missing")
    before, after, parameters, fields = (
        arrays[f"{name}.{key}"] for key in ("before", "after", "parameters", "fields")
    )
    return Pairs(before, after, parameters, fields, None if missing is None else missing > 0.5)


def _check(layer: Layer, outputs: int, readout: Any, samples: list[Pairs]) -> None:
    """Raise unless the parts fit together."""
    cells, linear, inputs = len(layer.variances), layer.linear, layer.inputs
    assert inputs is not None
    rows = layer.features.hidden
    weights = layer.features.cell_weights()
    fine = layer.directions.shape == (cells, cells) and len(weights) == cells + inputs.values
    if linear is not None:
        rows += linear.size
        fine &= all(part.ndim == 3 for part in linear.columns)
        fine &= 0 <= linear.trivial < len(linear.columns)
    fine &= readout.shape == (rows, outputs)
    for pairs in samples:
        fine &= len(pairs) > 0 and pairs.before.shape == pairs.after.shape
        fine &= pairs.before.shape[1] == inputs.channels
        fine &= len(pairs.space) == len(inputs.stride)
        fine &= len(pairs.parameters) == len(pairs.fields) == len(pairs)
    if not fine:
        raise ValueError("its arrays do not fit together")


def _training(fit: Fit) -> Training:
    if fit.training is None:
        raise ValueError("model: it comes from a file and cannot learn on; prepare a new one")
    return fit.training

"""The card of a dataset: what a model has to remember of the data it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset


def card(dataset: Dataset) -> dict[str, Any]:
    """Names, units, spacing, parameters and known fields."""
    return {
        "source": Path(dataset.path).name,
        "format": dataset.format,
        "fields": [[f.name, f.kind, f.channels, f.units] for f in dataset.fields],
        "axes": list(dataset.axes),
        "dx": list(dataset.dx),
        "dt": dataset.dt,
        "time_units": dataset.time_units,
        "parameters": [dataset.parameters[index] for index in dataset.varying_parameters()],
        "context": list(dataset.context),
        "masked": dataset.mask is not None,
    }


def context_of(known: dict[str, Any], dataset: Dataset, trajectory: int = 0) -> dict[str, Any]:
    """Parameters and fields of one trajectory, as a model made from such data takes them."""
    missing = set(known["parameters"]) - set(dataset.parameters)
    if missing or list(dataset.context) != known["context"]:
        raise ValueError(
            f"{dataset.path}: expected the parameters {known['parameters']} and the fields "
            f"{known['context']} that the model learned with, found {list(dataset.parameters)} and "
            f"{list(dataset.context)}"
        )
    values = dict(zip(dataset.parameters, dataset.trajectories[trajectory].parameters, strict=True))
    fields = dataset.context_fields(trajectory)
    if known["masked"]:
        mask = np.ones(dataset.space) if dataset.mask is None else dataset.mask
        fields = np.concatenate([fields, mask[None].astype(np.float64)])
    return {
        "parameters": np.array([values[name] for name in known["parameters"]]),
        "fields": fields if len(fields) else None,
    }

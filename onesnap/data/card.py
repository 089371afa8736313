"""The card of a dataset: what a model has to remember of the data it was made from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset

ALIKE = 0.01  # of a spacing: files round theirs


def card(dataset: Dataset) -> dict[str, Any]:
    """Names, units, spacing, parameters and known fields; `dt` is that of a step of the model.

    The `system` is there if the file names one that was simulated.
    """
    system = dataset.attributes.get("system")
    return {
        **({} if system is None else {"system": str(system)}),
        "source": Path(dataset.path).name,
        "format": dataset.format,
        "fields": [[f.name, f.kind, f.channels, f.units] for f in dataset.fields],
        "axes": list(dataset.axes),
        "dx": list(dataset.dx),
        "dt": None if dataset.dt is None else dataset.lag * dataset.dt,
        "time_units": dataset.time_units,
        "parameters": [dataset.parameters[index] for index in dataset.varying_parameters()],
        "context": list(dataset.context),
        "masked": dataset.mask is not None,
    }


def check_spacing(known: Mapping[str, Any], path, dt, dx, time_units: str = "") -> None:
    """Raise if data has another step in time or space than a model learned with.

    Where either does not say, nothing is compared.
    """

    def differ(one, other) -> bool:
        return one is not None and other is not None and abs(one - other) > ALIKE * abs(other)

    clocks = {
        units.split(" since ")[0].strip() for units in (time_units, known["time_units"]) if units
    }
    if len(clocks) < 2 and differ(dt, known["dt"]):
        raise ValueError(
            f"{path}: dt: the model learned steps of {known['dt']:g}, these states are {dt:g} apart; "
            "choose states as far apart, or give dt if the file is wrong"
        )
    if len(dx) != len(known["dx"]):
        return  # another number of axes, which is said elsewhere
    for axis, one, other in zip(known["axes"], dx, known["dx"], strict=True):
        if differ(one, other):
            raise ValueError(
                f"{path}: dx: the model learned on cells of {other:g} along {axis}, these are "
                f"{one:g} wide; put the states on the grid that was learned from"
            )


def in_steps(known: Mapping[str, Any] | None, dataset: Dataset, lag: int) -> int:
    """How many states of a dataset a step of a model spans, if it learned pairs a `lag` apart.

    As many, unless the dataset says that its states are that far apart already.
    """
    if lag == 1 or known is None or known["dt"] is None or dataset.dt is None:
        return lag
    return 1 if abs(dataset.dt - known["dt"]) <= ALIKE * known["dt"] else lag


def context_of(known: dict[str, Any], dataset: Dataset, trajectory: int = 0) -> dict[str, Any]:
    """Parameters and fields of one trajectory, as a model made from such data takes them."""
    check_spacing(known, dataset.path, dataset.dt, dataset.dx, dataset.time_units)
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

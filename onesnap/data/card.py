"""The card of a dataset: what a model has to remember of the data it was made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .dataset import Dataset

ALIKE = 0.01  # of a spacing: files round theirs


def card(dataset: Dataset) -> dict[str, Any]:
    """Names, units, spacing, parameters and known fields; `dt` is that of a step of the model.

    The `system` is there if the file names one that was simulated.
    """
    system, inputs = dataset.attributes.get("system"), dataset.inputs
    still = [dataset.parameters[index] for index in dataset.varying_parameters()]
    return {
        **({} if system is None else {"system": str(system)}),
        **({} if inputs is None else {"inputs": list(inputs)}),
        "source": Path(dataset.path).name,
        "format": dataset.format,
        "fields": [[f.name, f.kind, f.channels, f.units] for f in dataset.fields],
        "axes": list(dataset.axes),
        "dx": list(dataset.dx),
        "dt": None if dataset.dt is None else dataset.lag * dataset.dt,
        "time_units": dataset.time_units,
        "parameters": [*still, *dataset.series],
        "context": [*dataset.context, *dataset.moving],
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


def check_names(known: Mapping[str, Any], dataset: Dataset, did: str) -> list[str]:
    """Raise unless data has the parameters and fields of a model; those parameters that stay."""
    here = [*dataset.parameters, *dataset.series], [*dataset.context, *dataset.moving]
    still = [name for name in known["parameters"] if name not in dataset.series]
    fits = [*still, *dataset.series] == known["parameters"] and here[1] == known["context"]
    if not fits or not set(still) <= set(dataset.parameters):
        raise ValueError(
            f"{dataset.path}: expected the parameters {known['parameters']} and the fields "
            f"{known['context']} that the model {did} with, found {here[0]} and {here[1]}; choose "
            "with inputs"
        )
    return still


def context_of(
    known: dict[str, Any], dataset: Dataset, trajectory: int = 0, rows: Sequence[int] | None = None
) -> dict[str, Any]:
    """Parameters and fields of one trajectory, as a model made from such data takes them.

    Where any change in time there is a row for each of the states with the numbers `rows`, at which
    steps begin.
    """
    check_spacing(known, dataset.path, dataset.dt, dataset.dx, dataset.time_units)
    still = check_names(known, dataset, "learned")
    values = dict(zip(dataset.parameters, dataset.trajectories[trajectory].parameters, strict=True))
    parameters = np.array([values[name] for name in still])
    fields, cells = dataset.context_fields(trajectory), np.zeros((0, *dataset.space))
    if known["masked"]:
        mask = np.ones(dataset.space) if dataset.mask is None else dataset.mask
        cells = mask[None].astype(np.float64)
    if not dataset.changing:
        fields = np.concatenate([fields, cells])
        return {"parameters": parameters, "fields": fields if len(fields) else None}
    series, moving = _rows(dataset, trajectory, rows)
    parameters = np.broadcast_to(parameters, (len(series), len(parameters)))
    parts = [np.broadcast_to(one, (len(series), *one.shape)) for one in (fields, cells)]
    fields = np.concatenate([parts[0], moving, parts[1]], axis=1)
    return {
        "parameters": np.concatenate([parameters, series], axis=1),
        "fields": fields if fields.shape[1] else None,
    }


def _rows(
    dataset: Dataset, trajectory: int, rows: Sequence[int] | None
) -> tuple[np.ndarray, np.ndarray]:
    """The inputs that change in time, at the states with these numbers."""
    names, steps = ", ".join(dataset.changing), dataset.trajectories[trajectory].steps
    if rows is None or not len(rows):
        raise ValueError(f"{dataset.path}: expected constant inputs, and {names} change in time")
    first, last = int(min(rows)), int(max(rows))
    if last >= steps:
        raise ValueError(
            f"steps: {dataset.path} has {names} for {steps - first} steps from state {first} on, and "
            f"{last + 1 - first} were asked for; forecast as many, start earlier, or call rollout "
            "with inputs of your own"
        )
    read = dataset.inputs_at(trajectory, first, last + 1)
    chosen = np.asarray(rows) - first
    return read[0][chosen], read[1][chosen]

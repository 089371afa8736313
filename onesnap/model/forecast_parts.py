"""Forecasts of many processes into one Zarr store: each writes the parts that its devices hold."""

from __future__ import annotations

from collections.abc import Callable

import jax
import numpy as np
from jax.experimental import multihost_utils

from ..data import Dataset
from ..data.card import card, context_of, in_steps
from ..data.parts import Parts
from ..data.writing import check_name
from .devices import gathered, place, trajectories
from .forecast_file import PIECE, initial, origin, status_of, times_of
from .forecaster import Forecaster
from .mesh import make_mesh
from .rollout import finish


def forecast_by_parts(
    model: Forecaster,
    model_path,
    dataset: Dataset,
    out,
    *,
    steps: int,
    devices: int,
    start: int = -1,
    trajectory: int = 0,
    every: int = 1,
    dtype: str = "float64",
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int | None]:
    """Forecast from a state of a dataset; all processes of `jax.distributed` call it alike.

    Returns the number of states, and where it diverged. No process ever holds all of the states.
    """
    out = check_name(out, force)
    if out.suffix != ".zarr":
        raise ValueError(f"out: many processes write one .zarr each its part, got {str(out)!r}")
    if model.plan_.history > 1:
        raise ValueError("history: models that read several states forecast in one process")
    known, lag = model.data_ or card(dataset), in_steps(model.data_, dataset, model.plan_.lag)
    (first,), index = initial(model, dataset, trajectory, start, lag)
    if dataset.changing:
        raise ValueError(
            f"inputs: {', '.join(dataset.changing)} change in time, and many processes forecast with "
            "constant inputs only; forecast in one process"
        )
    context = context_of(known, dataset.thinned(lag), trajectory) if model.data_ else {}
    stepper = model.stepper_.bind(**context)
    states = np.asarray(stepper.inputs.cover(first), dtype)[None]
    mesh = make_mesh(devices, stepper, states.shape[2:])
    kept, good, parts = 1 + steps // every, 0, Parts(out)
    outside = np.zeros(0)
    part = [n // mesh.shape[a] for n, a in zip(states.shape[2:], mesh.axis_names[1:], strict=True)]
    times = times_of(known, dataset, lag, index, kept, every)
    if jax.process_index() == 0:
        parts.create((kept, *first.shape), part, {**known, "dx": dataset.dx}, times, dtype)
    multihost_utils.sync_global_devices("the store is there")
    piece = int(np.clip(PIECE // states.nbytes, 1, 100))
    with jax.enable_x64(dtype == "float64"):
        last = place(states, mesh)
        _write(parts, last[:, None], 0)
        for done in range(0, kept - 1, piece):
            count = min(piece, kept - 1 - done)
            some, far, fine = trajectories(stepper, last, mesh, count, every)
            last, fine = some[:, -1], int(gathered(fine)[0])
            _write(parts, some, 1 + done)
            good, outside = good + fine, np.append(outside, gathered(far)[0])
            if progress is not None:
                progress(1 + done + count, kept)
            if fine < count * every:
                break
    status = finish(np.zeros((kept, 0)), outside, good, (kept - 1) * every, every)
    multihost_utils.sync_global_devices("all parts are written")
    about = origin(model, model_path, dataset, trajectory, index, every * lag)
    if jax.process_index() == 0:
        parts.finish(len(status.states), about | status_of(status, lag), force)
    multihost_utils.sync_global_devices("the store has its name")
    return len(status.states), status.diverged_at


def _write(parts: Parts, states: jax.Array, start: int) -> None:
    """Write what this process holds of states `(1, time, channel, *space)`."""
    for shard in states.addressable_shards:
        if shard.replica_id == 0:
            for number, state in enumerate(np.asarray(shard.data)[0]):
                parts.write(start + number, shard.index[3:], state)

"""Long forecasts into files: a piece at a time, and on from where a stopped run was."""

from __future__ import annotations

import hashlib
import importlib.metadata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .data import Dataset, Field
from .data.writing import Partial, check_name, write
from .streaming import card, context_of
from .surrogate import Surrogate

PIECE = 2**24  # bytes of states between two writes


def forecast_to_file(
    model: Surrogate,
    model_path,
    dataset: Dataset,
    out,
    *,
    steps: int,
    start: int = -1,
    trajectory: int = 0,
    every: int = 1,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> tuple[int, int | None]:
    """Forecast from a state of a dataset; returns the number of states, and where it diverged.

    The file says where it comes from: the digest of the model, the name of the data, the state.
    """
    out = check_name(out, force)
    first, index = _initial(model, dataset, trajectory, start)
    known = model.data_ or card(dataset)
    digest = hashlib.sha256(Path(model_path).read_bytes()).hexdigest()
    about: dict[str, Any] = {
        "version": importlib.metadata.version("onesnap"),
        "model": Path(model_path).name,
        "model_sha256": digest,
        "source": Path(dataset.path).name,
        "trajectory": trajectory,
        "start": index,
        "every": every,
        "boundary": model.stepper_.boundary,
        "fields": known["fields"],
        "channels": [n for f in known["fields"] for n in Field(*f).channel_names(dataset.axes)],
    }
    mark = {**about, "state": hashlib.sha256(first.tobytes()).hexdigest()}
    partial = Partial(out, first.shape, mark)
    if not partial.done:
        partial.append(first[None])
    told = context_of(known, dataset, trajectory) if model.data_ else {}
    kept, diverged = 1 + steps // every, None
    piece = int(np.clip(PIECE // (8 * first.size), 1, 100))
    while partial.done < kept and diverged is None:
        done = partial.done
        count = min(piece, kept - done)
        result = model.rollout(partial.states()[-1], count * every, every, **told)
        if result.diverged_at is not None:
            diverged = (done - 1) * every + result.diverged_at
        partial.append(result.states[1:])
        if progress is not None:
            progress(min(kept, done + count), kept)
    states = partial.states()[:kept]
    about["diverged_at"] = diverged
    step = dataset.dt or known["dt"] or 1.0
    times = (index + np.arange(len(states)) * every) * step
    write(out, states, times, {**known, "dx": dataset.dx, "axes": dataset.axes}, about)
    partial.remove()
    return len(states), diverged


def _initial(model: Surrogate, dataset: Dataset, trajectory: int, start: int):
    """The state to start from, and its index."""
    if not 0 <= trajectory < len(dataset.trajectories):
        raise ValueError(
            f"trajectory: expected 0 to {len(dataset.trajectories) - 1}, got {trajectory}"
        )
    steps = dataset.trajectories[trajectory].steps
    index = start + steps if start < 0 else start
    if not 0 <= index < steps:
        raise ValueError(f"start: {dataset.path} has {steps} states, got {start}")
    return dataset.states(trajectory, index, index + 1)[0], index

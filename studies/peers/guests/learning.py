"""What guests that learn have in common: the request, the files, the clock."""

from collections.abc import Callable

import numpy as np
from serve import Clock, serve  # pyright: ignore[reportMissingImports]

FAR = 1e3  # times the largest value learned from, beyond which a forecast has diverged

Learn = Callable[[np.ndarray, dict], tuple[Callable, int]]


def answer(learn: Learn) -> None:
    """Serve requests to learn from trajectories and forecast from starts.

        {"do": "forecast", "train": path, "starts": path, "steps": 200, "settings": {}, "out": path}

    Trajectories are `(trajectory, time, channel, x)`, starts `(start, time, channel, x)`: as many
    true states as are known, the last of which is where forecasts begin. `learn(trajectories,
    settings)` gives `forecast(starts, steps)` and the number of fitted parameters. What diverges
    is NaN.
    """

    def forecast(tell, train: str, starts: str, steps: int, settings: dict, out: str) -> dict:
        trajectories = np.load(train).astype(float)
        clock = Clock()
        forecast, parameters = learn(trajectories, settings)
        spent = clock.read()
        given = np.load(starts).astype(float)
        clock = Clock()
        with np.errstate(all="ignore"):
            states = forecast(given, steps)
        taken = clock.read()["seconds"]
        np.save(out, without_diverged(states, FAR * np.abs(trajectories).max()))
        ms = 1e3 * taken / len(given) / steps
        return {**spent, "parameters": parameters, "ms a step": ms}

    serve({"forecast": forecast})


def without_diverged(states: np.ndarray, limit: float) -> np.ndarray:
    """NaN from the first state of a forecast on that is beyond the limit, or no number."""
    with np.errstate(invalid="ignore"):
        fine = (np.abs(states) <= limit).all(axis=tuple(range(2, states.ndim)))
    fine = np.logical_and.accumulate(fine, axis=1)
    return np.where(fine.reshape(*fine.shape, *(1,) * (states.ndim - 2)), states, np.nan)

"""An analysis in a file, as a forecast is, with the uncertainty of its states beside them."""

from __future__ import annotations

import numpy as np

from ..data import Dataset
from ..data.card import card
from ..data.writing import check_name, write
from .forecast_file import origin, times_of
from .forecaster import Forecaster


def write_analysis(
    model: Forecaster,
    model_path,
    dataset: Dataset,
    out,
    states: np.ndarray,
    deviation: np.ndarray | None = None,
    *,
    trajectory: int,
    start: int,
    lag: int,
    force: bool = False,
) -> None:
    """Write states that begin at one of a dataset, each `lag` of its states after the one before."""
    out, known = check_name(out, force), model.data_ or card(dataset)
    about = origin(model, model_path, dataset, trajectory, start, lag)
    about |= {"diverged_at": None, "left_range_at": None}
    times = times_of(known, dataset, lag, start, len(states), 1)
    labels = {**known, "dx": dataset.dx, "axes": dataset.axes}
    beside = {} if deviation is None else {"deviation": deviation}
    write(out, states, times, labels, about, beside)

"""Two dimensions from a single pair: Cahn-Hilliard, and Kuramoto-Sivashinsky without its mean."""

from __future__ import annotations

import numpy as np

from onesnap.equations.simulate import simulate
from onesnap.grid.means import spatial_mean

from . import maps
from .shelf import Shelf
from .study import COLUMNS, Data, Result, Scale, Study, describe, follow, mean, row

STEP = 2.5  # time between two kept states
CH_MOMENTS, KS_MOMENTS = (0.0, 5.0, 10.0, 15.0), (0.0, 7.5, 15.0, 22.5)
CH_START, CH_PAIR = 0.5, 4.5  # times since the random initial state
KS_GAP = 1.0  # time from the pair to the forecast's start


def make_ch(scale: Scale) -> Data:
    """The pair is early, and the forecast starts even earlier, when domains are still small."""
    system = scale.system("ch-2d")
    every = round(STEP / system.dt)
    start = simulate(system, spin_up=CH_START, steps=0, seed=0)[0]
    later = simulate(system, start=start, steps=1, every=round((CH_PAIR - CH_START) / system.dt))[1]
    pair = simulate(system, start=later, steps=1)
    truth = simulate(system, start=start, steps=round(CH_MOMENTS[-1] / STEP), every=every)
    return Data(system, pair[:1], pair[1:], truth, every)


def make_ks(scale: Scale) -> Data:
    system = scale.system("ks-2d")
    every = round(STEP / system.dt)
    pair = simulate(system, steps=1, seed=0)
    start = simulate(system, start=pair[1], steps=1, every=round(KS_GAP / system.dt))[1]
    truth = simulate(system, start=start, steps=round(KS_MOMENTS[-1] / STEP), every=every)
    return Data(system, pair[:1], pair[1:], truth, every)


def run(data: Data, scale: Scale, shelf: Shelf) -> Result:
    name = data.system.name
    study, wanted = (CH, CH_MOMENTS) if name == "ch-2d" else (KS, KS_MOMENTS)
    shelf.expect(len(COLUMNS) * scale.layers)
    index = [data.at(moment) for moment in wanted]

    def measure(column: str, seed: int):
        part = follow(data, column, seed, states=True)
        states = part.pop("states")
        if seed == 0:
            part["states"] = np.stack([_shown(data, states[i]) for i in index if i < len(states)])
        return part

    parts = {
        column: [
            shelf.get(f"{column}-{seed}", lambda column=column, seed=seed: measure(column, seed))
            for seed in range(scale.layers)
        ]
        for column in COLUMNS
    }
    curves = {c: np.stack([part["rse"] for part in models]) for c, models in parts.items()}
    result = Result(settings=[*describe(data.system), ("training", "one pair")])
    for moment, at in zip(wanted[1:], index[1:], strict=True):
        values = {column: curve[:, at] for column, curve in curves.items()}
        result.rows.append(row(study.name, f"RSE at t = {moment:g}", "%", values))
    used = {column: [part["windows"] for part in models] for column, models in parts.items()}
    result.rows.append(row(study.name, "windows used", "", used))
    result.numbers = {"times": data.times, "rse": curves}
    result.figures["forecast"] = (
        maps.forecasts(
            np.stack([_shown(data, data.truth[i]) for i in index])[:, 0],
            {column: parts[column][0]["states"][:, 0] for column in COLUMNS},
            {column: parts[column][0]["rse"][index] for column in COLUMNS},
            wanted,
            (_shown(data, data.before[0])[0], _shown(data, data.after[0])[0]),
            data.system.length,
            name="u − mean" if data.system.mean == "drifting" else "u",
        ),
        "Simulation, forecasts and differences; on the right the one pair that was learned from.",
    )
    if data.system.mean == "drifting":
        result.words.append(
            "The mean of this equation drifts and changes nothing else. It is removed before a step "
            "and added back after it; the pictures leave it out, the errors count it."
        )
    result.words.append(_meaning(data, curves, index))
    return result


def _shown(data: Data, state: np.ndarray) -> np.ndarray:
    return state - spatial_mean(state) if data.system.mean == "drifting" else state


def _meaning(data: Data, curves, index) -> str:
    first = {column: mean(curve[:, index[1]]) for column, curve in curves.items()}
    words = (
        f"At the first of these times the mean error is {first[COLUMNS[0]]:.2g} % as published and "
        f"{first[COLUMNS[1]]:.2g} % with all windows. "
    )
    if data.system.name == "ch-2d":
        return words + (
            "More windows hardly help here. The error is that of the noise on the inputs, which "
            "flattens every step a little, and of a window that is small for this step. Less noise "
            "gives smaller errors at first, but then the forecast diverges."
        )
    return words + "What remains with all windows is set by the number of hidden units."


CH = Study(
    "ch-2d",
    "Cahn-Hilliard, 2-D, from a single pair",
    "Is one pair of early states enough to forecast states that look different?",
    make_ch,
    run,
)
KS = Study(
    "ks-2d",
    "Kuramoto-Sivashinsky, 2-D, from a single pair",
    "Is one pair enough for a chaotic field in the plane whose mean drifts?",
    make_ks,
    run,
)

"""Homogeneous 1-D Kuramoto-Sivashinsky: one forecast, and the errors of many models."""

from __future__ import annotations

import numpy as np

from onesnap.data.pairs import pairs
from onesnap.equations.simulate import simulate

from . import figures
from .shelf import Shelf
from .study import COLUMNS, Data, Result, Scale, Study, describe, follow, mean, row

SNAPSHOTS, EVERY, GAP = 20, 10, 200  # steps between the last training state and the forecast
MOMENTS = (20.0, 35.0, 60.0, 80.0)


def make_data(scale: Scale) -> Data:
    system = scale.system("ks-1d")
    seen = simulate(system, steps=SNAPSHOTS - 1, seed=0)
    start = simulate(system, start=seen[-1], steps=1, every=GAP)[-1]
    count = round(scale.horizon / (EVERY * system.dt))
    truth = simulate(system, start=start, steps=count, every=EVERY)
    return Data(system, *pairs(seen), truth, EVERY)


def run(data: Data, scale: Scale, shelf: Shelf) -> Result:
    shelf.expect(len(COLUMNS) * scale.models)
    parts = {
        column: [
            shelf.get(
                f"{column}-{seed}",
                lambda column=column, seed=seed: follow(data, column, seed, states=seed == 0),
            )
            for seed in range(scale.models)
        ]
        for column in COLUMNS
    }
    curves = {c: np.stack([part["rse"] for part in models]) for c, models in parts.items()}
    result = Result(settings=[*describe(data.system), ("training", f"{SNAPSHOTS} snapshots")])
    for moment in MOMENTS:
        if moment <= data.times[-1]:
            at = {column: curve[:, data.at(moment)] for column, curve in curves.items()}
            result.rows.append(row(STUDY.name, f"RSE at t = {moment:g}", "%", at))
    for key, label in (("valid", "valid time"), ("windows", "windows used")):
        values = {column: [part[key] for part in models] for column, models in parts.items()}
        result.rows.append(row(STUDY.name, label, "", values))
    result.numbers = {"times": data.times, "rse": curves}
    result.figures["forecast"] = (
        figures.lines(
            data.truth[:, 0],
            {column: parts[column][0]["states"][:, 0] for column in COLUMNS},
            {column: parts[column][0]["rse"] for column in COLUMNS},
            data.times,
            data.system.length,
        ),
        "Simulation, forecasts of one model each and their differences over time and space, and "
        "the error of these forecasts.",
    )
    result.figures["statistics"] = (
        figures.statistics(data.times, curves),
        f"Error of {scale.models} models with different random layers: every curve, the mean, and "
        "1.5 standard deviations to either side.",
    )
    valid = {column: mean([part["valid"] for part in parts[column]]) for column in COLUMNS}
    result.words = [
        "The stopping rule ends training after a few hundred windows, about four for each hidden "
        "unit. The errors grow as the published ones do, and saturate near 200 %, which is what "
        "two unrelated states of the attractor differ by.",
        f"With every window the same network is valid for {valid[COLUMNS[1]]:.3g} time units instead "
        f"of {valid[COLUMNS[0]]:.3g}: what limits the published curves is how few windows were "
        "averaged, not the network.",
    ]
    return result


STUDY = Study(
    "ks-1d",
    "Homogeneous Kuramoto-Sivashinsky, 1-D",
    "How long does a forecast last, and how much does it depend on the random layer?",
    make_data,
    run,
)

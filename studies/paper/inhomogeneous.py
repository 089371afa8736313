"""Forced 1-D Kuramoto-Sivashinsky: with and without being told the position."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from onesnap.data.pairs import pairs
from onesnap.equations.simulate import simulate
from onesnap.evaluate.metrics import moments
from onesnap.paper import paper

from . import figures
from .shelf import Arrays, Shelf
from .study import COLUMNS, Data, Result, Scale, Study, describe, follow, mean, row

SNAPSHOTS, EVERY, GAP = 200, 10, 200
WAVELENGTH = 50.0  # of the forcing
Parts = dict[tuple[str, str], list[Arrays]]  # of each column and encoding, one a model
ENCODINGS = {"with encoding": paper["ks-1d-inhomogeneous"]["context"], "without encoding": 0}


def make_data(scale: Scale) -> Data:
    system = scale.system("ks-1d-inhomogeneous")
    seen = simulate(system, steps=SNAPSHOTS - 1, seed=0)
    start = simulate(system, start=seen[-1], steps=1, every=GAP)[-1]
    count = round(1.5 * scale.horizon / (EVERY * system.dt))
    truth = simulate(system, start=start, steps=count, every=EVERY)
    return Data(system, *pairs(seen), truth, EVERY)


def pattern(states: np.ndarray, length: float) -> complex:
    """Amplitude and phase of the forcing's wavelength in the mean over time of `(time, x)`."""
    mode = np.fft.rfft(states.mean(axis=0)) / states.shape[1]
    return complex(mode[round(length / WAVELENGTH)])


def kept(states: np.ndarray, truth: np.ndarray, length: float) -> float:
    """How much of the truth's pattern the later half of a forecast keeps in place: 1 is all."""
    late, end = len(states) // 2, len(states)
    own, real = pattern(states[late:], length), pattern(truth[late:end], length)
    return float((own * real.conjugate()).real / abs(real) ** 2)


def run(data: Data, scale: Scale, shelf: Shelf) -> Result:
    shelf.expect(len(COLUMNS) * len(ENCODINGS) * scale.forced)
    parts: Parts = {
        (column, label): [
            shelf.get(
                f"{column}-{label}-{seed}",
                lambda column=column, seed=seed, context=context: _measure(
                    data, column, seed, context
                ),
            )
            for seed in range(scale.forced)
        ]
        for column in COLUMNS
        for label, context in ENCODINGS.items()
    }
    result = Result(settings=[*describe(data.system), ("training", f"{SNAPSHOTS} snapshots")])
    result.settings.append(
        ("encoding", f"{ENCODINGS['with encoding']} cosines cos(2ʲπx/L) at the window's centre")
    )
    named = {"valid": "valid time", "kept": "pattern kept", "windows": "windows used"}
    for key, words in named.items():
        for label in ENCODINGS:
            values = {c: [part[key] for part in parts[c, label]] for c in COLUMNS}
            result.rows.append(row(STUDY.name, f"{words} {label}", "", values))
    result.figures |= _draw(data, parts, scale)
    result.numbers = {
        "times": data.times,
        "rse": {f"{c}, {n}": np.stack([p["rse"] for p in v]) for (c, n), v in parts.items()},
    }
    informed, blind = (
        100 * mean([part["kept"] for part in parts[COLUMNS[0], label]]) for label in ENCODINGS
    )
    result.words = [
        "The forcing μ cos(2πx/λ) pins a pattern to the grid. A network that is not told where it "
        "is cannot know of it: the average push is all it can learn, so its forecast drifts off, "
        "the pattern washes out, and what builds up instead may leave the range of all it has seen.",
        f"In the later half of the forecast {informed:.0f} % of the pattern's amplitude is in "
        f"place with the encoding, {blind:.0f} % without. More windows help the network that "
        "is told the position, and hardly the other one.",
    ]
    return result


def _measure(data: Data, column: str, seed: int, context: int) -> dict[str, Any]:
    """One model: what `follow` gives, the pattern it keeps, its moments; the states of the first."""
    part = follow(data, column, seed, states=True, context=context)
    states = part.pop("states")
    part["kept"] = kept(states[:, 0], data.truth[:, 0], data.system.length)
    part["moments"] = moments(states)[:, 0]
    return part | ({"states": states} if seed == 0 else {})


def _draw(data: Data, parts: Parts, scale: Scale) -> dict[str, tuple[Figure, str]]:
    length = data.system.length
    first = {column: {name: parts[column, name][0] for name in ENCODINGS} for column in COLUMNS}
    averaged = {
        column: {
            name: np.mean([part["moments"] for part in parts[column, name]], axis=0)
            for name in ENCODINGS
        }
        for column in COLUMNS
    }
    return {
        "forecast": (
            figures.encodings(data.truth[:, 0], first, data.times, length),
            "Simulation, forecasts with and without positional encoding, their differences and "
            "errors.",
        ),
        "moments": (
            figures.raw_moments(moments(data.truth)[:, 0], averaged, length),
            f"First three raw moments over time at each place, averaged over {scale.forced} models. "
            "The forcing has four periods, and so have the moments of the simulation.",
        ),
    }


STUDY = Study(
    "ks-1d-inhomogeneous",
    "Kuramoto-Sivashinsky with forcing in space, 1-D",
    "Does a network that is told its position keep a pattern that depends on the place?",
    make_data,
    run,
)

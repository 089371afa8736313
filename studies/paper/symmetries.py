"""The square's eight symmetries in 2-D Kuramoto-Sivashinsky: in training, and in prediction."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from onesnap.data.pairs import make_pairs
from onesnap.equations.simulate import simulate
from onesnap.evaluate.metrics import rse
from onesnap.grid.boundary import pad
from onesnap.grid.windows import every
from onesnap.model.rollout import forecast
from onesnap.model.stepper import Stepper, average
from onesnap.network import lstsq
from onesnap.network.layer import evaluate
from onesnap.paper import paper
from onesnap.surrogate import Surrogate
from onesnap.symmetry.groups import full

from . import figures, maps
from .planes import KS_GAP
from .published import prepare, random_windows
from .shelf import Arrays, Shelf
from .study import COLUMNS, Data, Result, Scale, Study, describe, learn, row

# The published experiment had a smaller network and less noise than the table's.
CHANGES = {"hidden": 400, "noise": 1e-5}
GROUP = full(2)
FEWEST, MANIEST = 10, 1600  # training windows
SETTLED = 2.0  # times the final error, below which a curve has to stay


def make_data(scale: Scale) -> Data:
    """The truth is one step, from a state later than the pair."""
    system = scale.system("ks-2d")
    pair = simulate(system, steps=1, seed=0)
    start = simulate(system, start=pair[1], steps=1, every=round(KS_GAP / system.dt))[1]
    return Data(system, pair[:1], pair[1:], simulate(system, start=start, steps=1), 1)


def run(data: Data, scale: Scale, shelf: Shelf) -> Result:
    sizes, counts = range(1, len(GROUP) + 1), _counts(scale.counts)
    shelf.expect(scale.layers * (len(sizes) + len(COLUMNS)))
    curves = _train_all(data, scale, shelf, counts)
    predicted = _predict_all(data, scale, shelf)
    errors = {column: np.stack([p["rse"] for p in parts]) for column, parts in predicted.items()}
    settled = np.array([[_settled(counts, curve) for curve in layers] for layers in curves])
    result = Result(settings=describe(data.system, rule="symmetries", **CHANGES))
    for size in sizes:
        label = f"windows until settled, {size} symmetr{'y' if size == 1 else 'ies'}"
        result.rows.append(row(STUDY.name, label, "", {COLUMNS[0]: settled[size - 1]}))
    for size in sizes[1:]:
        ratios = {column: error[:, size - 1] / error[:, 0] for column, error in errors.items()}
        label = f"error predicting with {size}, relative to 1"
        result.rows.append(row(STUDY.name, label, "", ratios))
    result.numbers = {
        "windows": counts,
        "rse training with 1 to 8": curves,
        "rse predicting with 1 to 8": errors,
        "settled": settled,
    }
    result.figures["symmetries"] = (
        figures.symmetries(counts, np.median(curves, axis=1), settled.mean(axis=1), errors),
        f"Left: error of one step against the number of training windows, each shown under 1 to 8 "
        f"elements, median over {scale.layers} layers; a dot marks where a curve settles. Right: "
        "error of one step of models that were trained without symmetry and predict with 1 to 8 "
        "elements, relative to that with 1.",
    )
    result.figures["schemes"] = (
        maps.schemes({key: predicted[COLUMNS[1]][0][key] for key in SCHEME}),
        "Real windows of the simulation. Above: a window and the block that it becomes, under the "
        "eight elements; every column is a valid training pair. Below: averaging. The window is "
        "moved by each element, the network predicts each, the blocks are moved back and averaged.",
    )
    result.words = _meaning(settled, errors)
    return result


def _train_all(data: Data, scale: Scale, shelf: Shelf, counts: np.ndarray) -> np.ndarray:
    """Errors after each number of windows `(symmetries, layer, count)`."""
    return np.array(
        [
            [
                shelf.get(
                    f"training-{size}-{seed}",
                    lambda size=size, seed=seed: {"rse": _learn_slowly(data, size, seed, counts)},
                )["rse"]
                for seed in range(scale.layers)
            ]
            for size in range(1, len(GROUP) + 1)
        ]
    )


def _predict_all(data: Data, scale: Scale, shelf: Shelf) -> dict[str, list[Arrays]]:
    """What `_predict` gives for each layer of each column."""
    return {
        column: [
            shelf.get(
                f"predicting-{column}-{seed}",
                lambda column=column, seed=seed: _predict(data, column, seed, seed == 0),
            )
            for seed in range(scale.layers)
        ]
        for column in COLUMNS
    }


def _meaning(settled: np.ndarray, errors: dict[str, np.ndarray]) -> list[str]:
    left = [100 * (error[:, -1] / error[:, 0]).mean() for error in errors.values()]
    return [
        "As many rows as hidden units are needed before the least squares are determined; there "
        "the error peaks and then settles. A window under eight elements gives eight rows, so fewer "
        f"windows do: {settled[-1].mean():.0f} instead of {settled[0].mean():.0f}.",
        "A model that never saw a symmetry errs in its own way under each. Averaging over all eight "
        f"leaves {left[0]:.0f} % of the error of one step as published and {left[1]:.0f} % with all "
        "windows, at eight times the cost. What averaging removes is chance; with all windows "
        "less of the error is chance.",
    ]


def _counts(number: int) -> np.ndarray:
    return np.unique(np.geomspace(FEWEST, MANIEST, number).round().astype(int))


def _one_step(stepper: Stepper, data: Data) -> float:
    states = forecast(stepper, data.truth[:1], 1)[0].states
    return float(rse(states, data.truth)[-1]) if len(states) > 1 else np.nan


def _learn_slowly(data: Data, size: int, seed: int, counts: np.ndarray) -> np.ndarray:
    """The error of a step after each number of windows, shown under the first `size` elements."""
    settings = {**paper["ks-2d"], **CHANGES, "symmetry": GROUP.subset(size), "seed": seed}
    training = prepare(Surrogate(**settings), data.before, data.after)
    parts, layer, (moments,) = training.parts, training.parts.layer, training.totals
    pairs = make_pairs(data.before, data.after)
    rows = next(random_windows(parts.sampler, pairs, seed, count=int(counts[-1])))
    errors, done = [], 0
    for count in counts * size:
        cells, context, targets = (each[done:count] for each in rows[:3])
        values, _ = evaluate(layer.features, cells, context, slopes=False)
        moments, done = lstsq.update(moments, values, targets), count
        readout = layer.solve((moments,), settings["noise"])
        errors.append(_one_step(parts.stepper(readout, pairs), data))
    return np.array(errors)


def _settled(counts: np.ndarray, curve: np.ndarray) -> float:
    """The least number of windows from which on the error stays near its final value."""
    final = np.median(curve[-3:])
    above = np.flatnonzero(~(curve <= SETTLED * final))
    return float(counts[0] if not len(above) else counts[min(above[-1] + 1, len(counts) - 1)])


SCHEME = ("windows", "blocks", "predicted", "reverted", "average", "truth")


def _predict(data: Data, column: str, seed: int, scheme: bool) -> dict[str, Any]:
    """Errors of predictions with 1 to 8 elements of a model that was trained without symmetry."""
    stepper = learn(column, data, seed, rule="symmetries", **CHANGES).stepper
    steppers = [stepper] + [average(stepper, GROUP.subset(k)) for k in range(2, len(GROUP) + 1)]
    errors = {"rse": [_one_step(each, data) for each in steppers]}
    return errors | (_scheme(data, stepper) if scheme else {})


def _scheme(data: Data, stepper: Stepper) -> dict[str, np.ndarray]:
    """One window on its way through the group and back, for the drawing."""
    field, mean = stepper.scaling.centre(data.truth[0])
    extent, stride, network = stepper.inputs.extent, stepper.inputs.stride, stepper.network
    padded, _ = stepper.inputs.read(field, mean, (1, 1))
    inputs = every(padded, extent, stride)
    after = pad(data.truth[1] - mean, (0, 0), more=[step - 1 for step in stride])
    outputs = every(after, (0, 0), stride)
    # The window with the most contrast shows best how it is moved.
    place = np.unravel_index(inputs.std(axis=(2, 3, 4)).argmax(), inputs.shape[:2])
    window, truth = inputs[place], outputs[place]
    moved = [GROUP.act(element, window) for element in GROUP.elements]
    with jax.enable_x64(True):
        flat = np.stack([each.ravel() for each in moved])
        answers = np.asarray(network.features(flat, np.zeros((len(flat), 0))) @ network.readout)
    answers = answers.reshape(-1, *truth.shape)
    back = [
        GROUP.act(element.inverse(), each)
        for element, each in zip(GROUP.elements, answers, strict=True)
    ]
    return {
        "windows": np.stack(moved)[:, 0],
        "blocks": np.stack([GROUP.act(element, truth) for element in GROUP.elements])[:, 0],
        "predicted": answers[:, 0],
        "reverted": np.stack(back)[:, 0],
        "average": np.mean(back, axis=0)[0],
        "truth": truth[0],
    }


STUDY = Study(
    "symmetries",
    "Symmetries in training and in prediction",
    "How many windows do the square's symmetries save, and how much error?",
    make_data,
    run,
)

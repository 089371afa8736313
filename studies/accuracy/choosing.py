"""What choosing costs: a fit that chooses everything, beside one plain fit with what was chosen.

Wall and processor seconds, all threads of this process, after a fit of another shape has loaded and
compiled what every fit needs. Meant to be run alone on the machine.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .equations import unseen
from .judging import Pairs
from .output import console, tell
from .store import Store


def line_pairs() -> Pairs:
    return snap.pairs(snap.simulate("ks-1d", steps=19, seed=0))


def repeating_states(points: int) -> np.ndarray:
    """A plane that repeats itself once along y, and so goes on, since no place is special."""
    system = unseen["fitzhugh-nagumo-2d"].replace(points=points, length=float(points))
    start = system.initial(0)[..., 2 * np.arange(points) % points]  # twice as steep, and twice
    return snap.simulate(system, steps=20, start=start, spin_up=system.spin_up)


def oblong_pairs() -> Pairs:
    """100 x 50 cells, two fields: solvers want equal sides, and half of these states is periodic."""
    return snap.pairs(np.ascontiguousarray(repeating_states(100)[..., :50]))


def plane_pairs() -> Pairs:
    return snap.pairs(snap.simulate("swift-hohenberg-2d", steps=20, seed=0))


def many_pairs() -> Pairs:
    """As many as public benchmarks give."""
    system = snap.systems["ks-1d"].replace(points=160, length=62.5)
    return snap.pairs(snap.simulate(system, steps=2500, every=5, seed=0))


CASES: Mapping[str, Callable[[], Pairs]] = {
    "19 pairs of 512 cells": line_pairs,
    "20 pairs of 100 x 50 cells, two fields": oblong_pairs,
    "20 pairs of 128 x 128 cells": plane_pairs,
    "2,500 pairs of 160 cells": many_pairs,
}


def warm_up() -> None:
    """A fit of a shape that no case has."""
    states = snap.simulate(snap.systems["ks-1d"].replace(points=96, length=40.0), steps=3, seed=5)
    fit(snap.pairs(states), {})


def fit(pairs: Pairs, settings: Mapping[str, Any]) -> tuple[Any, float, float]:
    """The model, wall and processor seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wall, processor = time.perf_counter(), time.process_time()
        model = snap.Surrogate(**settings).fit(*pairs)
        return model, time.perf_counter() - wall, time.process_time() - processor


def chosen_settings(model) -> dict[str, Any]:
    """Everything that the plan knows and a Surrogate can be given: nothing is left to choose."""
    return {
        name: getattr(model.plan_, name) for name in model.get_params() if hasattr(model.plan_, name)
    }


def measure(pairs: Pairs, layer: int) -> dict[str, float]:
    """Seconds of the default and of the plain fit."""
    model, wall, processor = fit(pairs, {"seed": layer})
    _, plain_wall, plain_processor = fit(pairs, chosen_settings(model))
    return {
        "seconds": wall,
        "processor seconds": processor,
        "plain seconds": plain_wall,
        "plain processor seconds": plain_processor,
        "ratio": processor / plain_processor,
    }


def choosing(
    layers: int, store: Store | None = None, cases: Mapping[str, Callable[[], Pairs]] = CASES
) -> dict:
    """The mean over layers of the seconds, and of their ratio in processor time."""
    store = store or Store()
    table = Table(
        "fit", "seconds", "processor", "plain, seconds", "processor", "ratio of processor times",
        title="choosing, and one plain fit with what was chosen",
    )  # fmt: skip
    warm, results = False, {}
    for name, make in cases.items():
        rows = []
        for layer in range(layers):
            key = f"{name}, {layer}"
            if not warm and key not in store.rows:
                warm_up()
                warm = True
            rows.append(store.row(key, lambda make=make, layer=layer: measure(make(), layer)))
            tell(name, layer, f"{rows[-1]['seconds']:.3g} s, ratio {rows[-1]['ratio']:.3g}")
        results[name] = {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}
        table.add_row(name, *(f"{value:.3g}" for value in results[name].values()))
    console.print(table)
    return results

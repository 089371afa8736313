"""How good forecasts are: valid times, errors and long runs, over random layers and starts.

    python benchmarks/accuracy.py [NAME ...] [--layers 5] [--seeds 20] [--out results.json]

names: line (1-D KS), steps (longer time steps), forced, planes, long, catalogue; all of them unless
told; or a system of the catalogue. Valid times are until the relative squared error passes 25 %, on a
trajectory that was not learned from; "worst" is the worst random layer's mean over its starts. A line
on standard error tells of each layer as it ends: a whole run takes hours.
"""

from __future__ import annotations

import argparse
import json
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import onesnap as snap

STARTS, GAP = 8, 20.0  # so many time units apart
REFERENCE = Path(__file__).parents[2] / "shared" / "data"  # of the paper's own solver
console, progress = Console(), Console(stderr=True)


def tell(name: str, layer: int, *found) -> None:
    progress.print(f"{name}, layer {layer}:", *found, highlight=False)


def valid_times(model, truth, unit: float, step: float, horizon: float):
    """The valid time from each start; `truth` has a state every `unit` time units."""
    starts = [round(k * GAP / unit) for k in range(STARTS)]
    every, span = round(unit / step), round(horizon / unit)
    forecasts = model.rollout(truth[starts], span * every, every=every)
    times = [
        snap.valid_time(f.states, truth[k : k + span + 1], dt=unit)
        for f, k in zip(forecasts, starts, strict=True)
    ]
    diverged = sum(f.diverged_at is not None for f in forecasts)
    return times, diverged


def compare(
    title: str, cases: dict, truth, unit: float, horizon: float, layers: int, also=lambda *_: None
) -> dict:
    """A table of valid times; cases hold settings, pairs and their time step.

    Each model is also handed to `also(settings, layer, model)`.
    """
    table = Table("learned with", "mean", "worst layer", "shortest", "diverged", title=title)
    results = {}
    for name, (settings, pairs, step) in cases.items():
        found = []
        for layer in range(layers):
            model = snap.Surrogate(**settings, seed=layer).fit(*pairs)
            found.append(valid_times(model, truth, unit, step, horizon))
            tell(name, layer, f"{np.mean(found[-1][0]):.4g}", "diverged", found[-1][1])
            also(settings, layer, model)
        times = np.array([times for times, _ in found])
        results[name] = {
            "mean": times.mean(),
            "worst layer": times.mean(axis=1).min(),
            "shortest": times.min(),
            "diverged": sum(diverged for _, diverged in found),
        }
        table.add_row(name, *(f"{value:.4g}" for value in results[name].values()))
    console.print(table)
    return results


def line(layers: int) -> dict:
    """1-D Kuramoto-Sivashinsky from 1 and from 19 pairs."""
    system = snap.systems["ks-1d"]
    data = snap.simulate(system, steps=1900, seed=0)
    truth = snap.simulate(system, steps=360, every=20, seed=1)
    published = dict(snap.paper["ks-1d"])
    one, nineteen, spread = (data[:1], data[1:2]), snap.pairs(data[:20]), snap.pairs(data, 19)
    cases = {
        "the paper's settings, all windows, 19 consecutive pairs": (published, nineteen, 0.05),
        "the paper's settings, all windows, ONE pair": (published, one, 0.05),
        "Surrogate(), 19 consecutive pairs": ({}, nineteen, 0.05),
        "Surrogate(), 19 pairs spread over 95 time units": ({}, spread, 0.05),
        "Surrogate(), ONE pair": ({}, one, 0.05),
    }
    return compare("valid time, 1-D KS, at most 200", cases, truth, 1.0, 200.0, layers)


def steps(layers: int) -> dict:
    """1-D KS with longer time steps, from 400 pairs each."""
    system = snap.systems["ks-1d"]
    truth = snap.simulate(system, steps=1160, every=20, seed=1)
    cases = {}
    for every in (5, 20):
        states = snap.simulate(system, steps=400, every=every, seed=0)
        step = every * system.dt
        cases[f"Surrogate(), 400 pairs, step {step:g}"] = ({}, snap.pairs(states), step)
    return compare("valid time, 1-D KS, 1000 time units", cases, truth, 1.0, 1000.0, layers)


def forced(layers: int) -> dict:
    """Inhomogeneous 1-D KS from 200 pairs; raw moments at each place over a long run."""
    system = snap.systems["ks-1d-inhomogeneous"]
    data = snap.simulate(system, steps=200, seed=0)
    truth = snap.simulate(system, steps=1160, every=20, seed=1)
    cases = {
        "the paper's settings, all windows, 200 pairs": (
            dict(snap.paper["ks-1d-inhomogeneous"]),
            snap.pairs(data),
            system.dt,
        ),
        "Surrogate(), 200 pairs": ({}, snap.pairs(data), system.dt),
    }
    gaps = []

    def run_long(settings, layer: int, model) -> None:
        if not settings:
            made = model.rollout(truth[0], 20_000, every=20)
            gaps.append(moment_gaps(made.states, truth[:1001]))
            tell("moments", layer, gaps[-1])

    title = "valid time, inhomogeneous 1-D KS, at most 200"
    results = compare(title, cases, truth, 1.0, 200.0, layers, run_long)
    other = snap.simulate(system, steps=1000, every=20, seed=2)
    title = "1000 time units of inhomogeneous 1-D KS"
    results["moments"] = report_gaps(title, gaps, moment_gaps(other, truth[:1001]))
    return results


def moment_gaps(made, truth) -> np.ndarray:
    """How far three raw moments are off, in units of the deviation: over all places, and at each."""
    units = np.std(truth) ** np.arange(1, 4)
    off = (snap.moments(made) - snap.moments(truth)).reshape(3, -1) / units[:, None]
    return np.stack([np.abs(off.mean(axis=1)), np.sqrt(np.mean(off**2, axis=1))])


def report_gaps(title: str, gaps, chance) -> dict:
    """Gaps of several layers, beside that of another run of the simulation: what chance makes."""
    gaps = np.array(gaps)
    table = Table("moment, off by %", "mean", "worst", "two simulations", title=title)
    results = {}
    for where, name in enumerate(("over all places", "at each place")):
        for k in range(3):
            each = gaps[:, where, k]
            row = {"mean": each.mean(), "worst": each.max(), "two simulations": chance[where, k]}
            results[f"{k + 1} {name}"] = row
            table.add_row(f"{k + 1} {name}", *(f"{100 * value:.3g}" for value in row.values()))
    console.print(table)
    return results


PLANES = {  # moments at which the error is told, in steps of 0.05, and what was published
    "ks-2d": ([150, 300, 450], "0.42 / 9.72 / 60"),
    "ch-2d": ([100, 200, 300], "4.22 / 6.56 / 11.6"),
}


def planes(layers: int) -> dict:
    """The paper's two planes from ONE pair: its own data where present, and ours."""
    table = Table("one pair", "published", "mean RSE, %", "worst layer", "mean drift", title="planes")
    results = {}
    for name, (moments, published) in PLANES.items():
        every = moments[0] // 3 if name == "ks-2d" else moments[0]
        kept = [moment // every for moment in moments]
        early = {"spin_up": 4.5} if name == "ch-2d" else {}
        sources = {"our data": simulated(name, moments[-1] // every, every, **early)}
        path = REFERENCE / f"{name.replace('-', '')}.npz"
        if path.exists():
            data = np.load(path)
            pair = data["before"][None, None], data["after"][None, None]
            sources["the paper's data"] = pair, data["start"][None], data["test"][:, None]
        else:
            console.print(f"{path.name}: the paper's own data is not here, left out")
        for source, (pair, start, truth) in sources.items():
            errors, drift = [], 0.0
            for layer in range(layers):
                made = snap.Surrogate(seed=layer).fit(*pair).rollout(start, moments[-1], every=every)
                error = snap.rse(made.states, truth[: len(made.states)])
                errors.append([error[k] if k < len(error) else np.inf for k in kept])
                drift = max(drift, abs(made.states[-1].mean() - made.states[0].mean()))
                tell(f"{name}, {source}", layer, errors[-1])
            errors = np.array(errors)
            found = {"mean": errors.mean(axis=0).tolist(), "worst": errors.max(axis=0).tolist()}
            results[f"{name}, {source}"] = found | {"drift of the mean": drift}
            row = (" / ".join(f"{value:.3g}" for value in found[key]) for key in ("mean", "worst"))
            table.add_row(f"{name}, {source}", published, *row, f"{drift:.1e}")
    console.print(table)
    return results


def simulated(name: str, kept: int, every: int, **early):
    """A pair of one run, and the start and states of another."""
    states = snap.simulate(name, steps=1, seed=0, **early)
    truth = snap.simulate(name, steps=kept, every=every, seed=1, **early)
    return (states[:1], states[1:2]), truth[0], truth


def long(layers: int) -> dict:
    """10,000 time units of 1-D KS from 19 pairs: is the climate right?

    Runs of this length differ in single waves by chance: as many simulations as layers are compared
    with the same truth, and the mean of the layers with the mean of all simulations.
    """
    system = snap.systems["ks-1d"]
    data = snap.simulate(system, steps=1900, seed=0)
    truth = snap.simulate(system, steps=10_000, every=20, seed=1)
    real = snap.spectrum(truth)[0]
    held = real > 1e-6 * real.max()
    gaps, spectra, chances, others = [], [], [], []
    for layer in range(layers):
        other = snap.simulate(system, steps=10_000, every=20, seed=2 + layer)
        chances.append(moment_gaps(other, truth))
        others.append(snap.spectrum(other)[0])
        model = snap.Surrogate(seed=layer).fit(*snap.pairs(data, 19))
        made = model.rollout(truth[0], 200_000, every=20)
        assert made.diverged_at is None, made.diverged_at
        gaps.append(moment_gaps(made.states, truth))
        spectra.append(snap.spectrum(made.states)[0])
        tell("long", layer, gaps[-1], np.abs(spectra[-1] / real - 1)[held].max())
    results = {"moments": report_gaps("10,000 time units of 1-D KS", gaps, np.mean(chances, axis=0))}
    runs, truths = np.array(spectra)[:, held], np.array([real, *others])[:, held]
    climate, deviation = truths.mean(axis=0), truths.std(axis=0, ddof=1)
    chance = np.sqrt(1 / len(runs) + 1 / len(truths)) * deviation / climate
    off = runs.mean(axis=0) / climate - 1
    results["spectrum"] = {
        "each layer": abs(runs / real[held] - 1),
        "each simulation": abs(truths[1:] / real[held] - 1),
        "mean of the layers": abs(off),
        "mean of the layers, in units of what chance makes": abs(off / chance),
    }
    for name, gap in results["spectrum"].items():
        results["spectrum"][name] = {"mean": gap.mean(), "worst": gap.max()}
        console.print(f"spectrum, {name}: off by {gap.mean():.3g}, at the worst wave {gap.max():.3g}")
    return results


def catalogue(seeds: int, names=tuple(snap.systems)) -> dict:
    """Every system from one to five pairs: 2,000 steps must stay bounded."""
    table = Table(
        "1 to 5 pairs", "seeds", "diverged", "valid steps, mean", "worst",
        "skill against persistence, worst", "against a linear window, worst", title="2,000 steps",
    )  # fmt: skip
    results = {}
    for name in names:
        system = snap.systems[name]
        data = snap.pairs(snap.simulate(system, steps=5, seed=0))
        truth = snap.simulate(system, steps=40, every=50, seed=0)
        unseen = snap.pairs(snap.simulate(system, steps=1, seed=1))
        diverged, skills, against, valid = 0, [], [], []
        for layer in range(seeds):
            pairs = [states[: 1 + layer % 5] for states in data]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a fit that is not steady warns
                linear = snap.Surrogate(hidden=0).fit(*pairs).score(*unseen)
                model = snap.Surrogate(seed=layer).fit(*pairs)
                made = model.rollout(truth[0], 2000, every=50)
            diverged += made.diverged_at is not None
            skills.append(model.score(*unseen))
            against.append(1 - (1 - skills[-1]) / (1 - linear))
            valid.append(snap.valid_time(made.states, truth, dt=50))
            found = f"skill {skills[-1]:.4g}, against a linear window {against[-1]:.4g}"
            tell(name, layer, found, f"valid {valid[-1]:g}, diverged at {made.diverged_at}")
        row = {"diverged": diverged, "valid": np.mean(valid), "worst": min(valid)}
        results[name] = row | {"skill": min(skills), "against linear": min(against)}
        table.add_row(name, str(seeds), *(f"{value:.4g}" for value in results[name].values()))
    console.print(table)
    return results


ALL = {part.__name__: part for part in (line, steps, forced, planes, long, catalogue)}
PARTS = tuple(ALL)
ALL |= {name: partial(catalogue, names=(name,)) for name in snap.systems}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PARTS))
    parser.add_argument("--layers", type=int, default=5, help="random layers of each case")
    parser.add_argument("--seeds", type=int, default=20, help="of each system of the catalogue")
    parser.add_argument("--out", type=Path, help="a file for the results, JSON")
    given = parser.parse_args()
    if unknown := set(given.names) - set(ALL):
        parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(ALL)}")
    results = {
        name: ALL[name](given.layers if name in PARTS[:-1] else given.seeds)
        for name in given.names or PARTS
    }
    if given.out:
        given.out.write_text(json.dumps(results, indent=2), encoding="utf-8")

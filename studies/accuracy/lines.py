"""Valid times of forecasts along a line: few pairs, longer time steps, a forcing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from rich.table import Table

import onesnap as snap

from .climate import moment_gaps, report_gaps
from .output import console, tell

STARTS, GAP = 8, 20.0  # so many time units apart
Case = tuple[Mapping[str, Any], tuple[np.ndarray, np.ndarray], float]  # settings, pairs, time step


def valid_times(model, truth, unit: float, step: float, horizon: float) -> tuple[list[float], int]:
    """The valid time from each start, and how many diverged; `truth` has a state every `unit`."""
    starts = [round(k * GAP / unit) for k in range(STARTS)]
    every, span = round(unit / step), round(horizon / unit)
    forecasts = model.rollout(truth[starts], span * every, every=every)
    times = [
        snap.valid_time(f.states, truth[k : k + span + 1], dt=unit)
        for f, k in zip(forecasts, starts, strict=True)
    ]
    return times, sum(f.diverged_at is not None for f in forecasts)


def compare(
    title: str,
    cases: Mapping[str, Case],
    truth,
    unit: float,
    horizon: float,
    layers: int,
    also: Callable[[Mapping[str, Any], int, snap.Surrogate], object] = lambda *_: None,
) -> dict:
    """A table of valid times; each model is also handed to `also(settings, layer, model)`."""
    table = Table("learned with", "mean", "worst layer", "shortest", "diverged", title=title)
    results = {}
    for name, (settings, pairs, step) in cases.items():
        times, diverged = [], 0
        for layer in range(layers):
            model = snap.Surrogate(**settings, seed=layer).fit(*pairs)
            of_layer, ended = valid_times(model, truth, unit, step, horizon)
            times.append(of_layer)
            diverged += ended
            tell(name, layer, f"{np.mean(of_layer):.4g}", "diverged", ended)
            also(settings, layer, model)
        over_layers = np.array(times)
        results[name] = {
            "mean": over_layers.mean(),
            "worst layer": over_layers.mean(axis=1).min(),
            "shortest": over_layers.min(),
            "diverged": diverged,
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
    cases: dict[str, Case] = {
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
    cases: dict[str, Case] = {}
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
    cases: dict[str, Case] = {
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
            forecast = model.rollout(truth[0], 20_000, every=20)
            gaps.append(moment_gaps(forecast.states, truth[:1001]))
            tell("moments", layer, gaps[-1])

    title = "valid time, inhomogeneous 1-D KS, at most 200"
    results = compare(title, cases, truth, 1.0, 200.0, layers, run_long)
    other = snap.simulate(system, steps=1000, every=20, seed=2)
    title = "1000 time units of inhomogeneous 1-D KS"
    results["moments"] = report_gaps(title, gaps, moment_gaps(other, truth[:1001]))
    return results

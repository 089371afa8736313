"""Ours on two public sets made anew: The Well's Gray-Scott and PDEBench's diffusion-reaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import onesnap as snap

from ..accuracy.judging import learn
from . import diffusion_reaction, gray_scott
from .case import Case
from .contest import forecast

# The best published of four networks; steps 13-30 is 7.62, and 1.0 what a mean state has.
WELL = {"one step": 0.1365, "steps 6-12": 0.29, "steps 13-30": 7.62}
PDEBENCH = {"U-Net": 0.097, "FNO": 0.12, "a foundation model": 0.0074, "FNO, tuned anew": 0.0027}
SPANS = {"one step": (1, 1), "steps 6-12": (6, 12), "steps 13-30": (13, 30)}
NRMSE = ("nRMSE", "nRMSE, given frames counted")
FIRST = 3  # frame that forecasts of The Well begin from: its networks are given four
ENOUGH = 1e-7  # of variance: The Well's guard against division by zero
COUNTS = (20, 100)  # pairs a pattern
JOINT = "all patterns"


def vrmse(states: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """√(mean squared error / variance of the truth), of each state; the mean over species."""
    axes = (-2, -1)
    error = ((states - truth) ** 2).mean(axis=axes)
    ratio = np.sqrt(error / (truth.var(axis=axes) + ENOUGH)).mean(axis=-1)
    return np.where(np.isfinite(ratio), ratio, np.inf)


def nrmse(states: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """√(mean squared error / mean square of the truth), of each state; the mean over species."""
    axes = (-2, -1)
    error = ((states - truth) ** 2).mean(axis=axes)
    ratio = np.sqrt(error / (truth**2).mean(axis=axes)).mean(axis=-1)
    return np.where(np.isfinite(ratio), ratio, np.inf)


def _plain(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def pattern_pairs(pattern: str, count: int, scale: gray_scott.Scale):
    """So many pairs of a pattern, one trajectory after the other, more of them early."""
    kept = [gray_scott.trajectory(pattern, n, scale) for n in range(scale.learned)]
    each = np.arange(count)
    which, when = each % len(kept), (each * scale.pairs) // count
    return tuple(
        np.stack([kept[n][f"early {side}"][at] for n, at in zip(which, when, strict=True)])
        for side in ("before", "after")
    )


def judged_trajectories(pattern: str, scale: gray_scott.Scale) -> list[dict[str, np.ndarray]]:
    numbers = range(scale.learned, scale.learned + scale.judged)
    return [gray_scott.trajectory(pattern, number, scale) for number in numbers]


def judge_pattern(model: snap.Surrogate, pattern: str, scale, **more: Any) -> dict:
    """VRMSE of one step over all times, and of forecasts from the beginning."""
    kept = judged_trajectories(pattern, scale)
    single = [vrmse(model.predict(k["even before"], **more), k["even after"]) for k in kept]
    starts = np.stack([k["beginning"][FIRST] for k in kept])
    truth = np.stack([k["beginning"][FIRST + 1 :] for k in kept])
    curve = vrmse(forecast(model, starts, truth.shape[1], **more), truth)  # (start, step)
    spans = {name: span for name, span in SPANS.items() if name != "one step"}
    scores = {name: _plain(curve[:, a - 1 : b].mean()) for name, (a, b) in spans.items()}
    diverged = int((~np.isfinite(curve)).any(axis=1).sum())
    return {"one step": _plain(np.mean(single)), **scores, "diverged": diverged}


def well(patterns: Sequence[str], count: int, seed: int, scale: gray_scott.Scale) -> dict:
    """One model of these patterns; f and k are its parameters where there are several."""
    pairs = [pattern_pairs(pattern, count, scale) for pattern in patterns]
    before, after = (np.concatenate(side) for side in zip(*pairs, strict=True))
    joint = len(patterns) > 1
    constants = {"parameters": np.repeat([gray_scott.PATTERNS[p] for p in patterns], count, axis=0)}
    learned = learn((before, after), {"seed": seed}, **(constants if joint else {}))
    rows = {}
    for pattern in patterns:
        more = {"parameters": np.array(gray_scott.PATTERNS[pattern])} if joint else {}
        rows[pattern] = judge_pattern(learned.model, pattern, scale, **more)
    return {
        **{name: _mean([row[name] for row in rows.values()]) for name in SPANS},
        "diverged": sum(row["diverged"] for row in rows.values()),
        **({"patterns": rows} if joint else {}),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
    }


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def well_cases(
    layers: int, scale: gray_scott.Scale = gray_scott.FULL, counts=COUNTS
) -> Iterator[Case]:
    """The statistics of the set, then each pattern by itself, then all with f and k."""
    every = tuple(gray_scott.PATTERNS)
    yield Case("statistics", lambda progress: statistics(scale, progress))
    for count in counts:
        for seed in range(layers):
            for patterns in (*((one,) for one in every), every):
                name = patterns[0] if len(patterns) == 1 else JOINT
                yield Case(
                    f"{name}, {count} pairs each, layer {seed}",
                    lambda progress, p=patterns, n=count, s=seed: well(p, n, s, scale),
                )


def statistics(scale: gray_scott.Scale, progress) -> dict:
    """Those of the set that was made, beside the published ones; makes what is missing."""
    number, kept = scale.learned + scale.judged, []
    total = number * len(gray_scott.PATTERNS)
    for pattern in gray_scott.PATTERNS:
        for each in range(number):
            progress(len(kept), total)
            kept.append(gray_scott.trajectory(pattern, each, scale))
    return {"made": gray_scott.statistics(kept), "published": gray_scott.PUBLISHED}


def reaction(count: int, seed: int, scale: diffusion_reaction.Scale) -> dict:
    """Between walls: learned from pairs of some trajectories, judged on forecasts of others."""
    given = diffusion_reaction.GIVEN
    learned_from = [diffusion_reaction.trajectory(n, scale) for n in range(scale.learned)]
    each, steps = np.arange(count), scale.frames - given
    which, when = each % len(learned_from), given - 1 + (each * steps) // count
    before, after = (
        np.stack([learned_from[n][at] for n, at in zip(which, when + later, strict=True)])
        for later in (0, 1)
    )
    learned = learn((before, after), {"seed": seed, "boundary": "wall"})
    numbers = range(scale.learned, scale.learned + scale.judged)
    truth = np.stack([diffusion_reaction.trajectory(n, scale) for n in numbers])
    states = forecast(learned.model, truth[:, given - 1], steps)
    curve = nrmse(states, truth[:, given:])
    return {
        NRMSE[0]: _plain(curve.mean()),
        # PDEBench's own mean counts the frames that were given, which have no error.
        NRMSE[1]: _plain(curve.mean() * steps / scale.frames),
        "one step": _plain(curve[:, 0].mean()),
        "last step": _plain(curve[:, -1].mean()),
        "diverged": int((~np.isfinite(curve)).any(axis=1).sum()),
        "warnings": list(learned.words),
        "seconds": learned.seconds,
    }


def reaction_cases(
    layers: int, scale: diffusion_reaction.Scale = diffusion_reaction.FULL
) -> Iterator[Case]:
    for count in scale.pairs:
        for seed in range(layers):
            yield Case(
                f"onesnap, {count} pairs, layer {seed}",
                lambda progress, n=count, s=seed: reaction(n, s, scale),
            )

"""Training as in the published experiments: windows drawn at random until the averages settle.

The paper estimates C = E[y φᵀ] and D = E[φ φᵀ] by running averages over windows drawn one at a
time. Its experiments stop once these averages hardly change, so most windows are never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from onesnap.data.pairs import Pairs, make_pairs
from onesnap.fit import Training
from onesnap.model.stepper import Stepper
from onesnap.network import lstsq
from onesnap.network.layer import evaluate
from onesnap.network.sampler import Rows, Sampler, join
from onesnap.surrogate import Surrogate
from onesnap.symmetry.groups import trivial

DRAWN = 256  # windows drawn at a time; the rule still looks at them one by one
MOST = 1_000_000  # windows after which a rule that never stops is given up


@dataclass(frozen=True)
class Rule:
    """Stop once the smoothed squared change of the averages by a window is below `tolerance`.

    The change of a window is |ΔC|² + |ΔD|² in Frobenius norms, targets scaled like the inputs,
    smoothed over time by change ← memory · change + (1 − memory) · new, from 1 on.
    """

    tolerance: float
    memory: float


# The paper does not give its tolerances. Those of the 1-D systems were chosen to give curves like the
# published ones. 1e-5 is the default of the published code and gives errors near the printed ones;
# that of the symmetries, and the memories, are those of the published experiments.
RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "ks-1d": Rule(tolerance=3e-1, memory=0.99),
        "ks-1d-inhomogeneous": Rule(tolerance=1e-1, memory=0.99),
        "ks-2d": Rule(tolerance=1e-5, memory=0.95),
        "ch-2d": Rule(tolerance=1e-5, memory=0.95),
        "symmetries": Rule(tolerance=1e-3, memory=0.95),
    }
)


@dataclass(frozen=True)
class Trained:
    """A learned step, how many windows it was learned from, and the last smoothed change."""

    stepper: Stepper
    windows: int
    change: float


def train(
    settings: Mapping[str, Any], before, after, rule: Rule | None = None, *, seed: int = 0
) -> Trained:
    """Learn from pairs until the rule stops it; without one from every window, once.

    `settings` are those of a Surrogate with sampled noise and normal equations, as in `paper`. The
    seed draws the layer, the windows and the noise.

        train(paper["ks-1d"], *pairs(truth[:20]), RULES["ks-1d"]).windows
    """
    model = Surrogate(**{**settings, "seed": seed})
    if (model.noise_form, model.solver) != ("sampled", "normal"):
        raise ValueError(
            "settings: expected noise_form='sampled' and solver='normal', as published, got "
            f"{model.noise_form!r} and {model.solver!r}; start from onesnap.paper"
        )
    training, pairs = prepare(model, before, after), make_pairs(before, after)
    sampler, layer, (moments,) = training.parts.sampler, training.parts.layer, training.totals
    images, change, outputs = len(sampler.group), 1.0, sampler.inputs.outputs
    # The rule looks at targets scaled like the inputs, so that it knows no units.
    low, high = _ends(sampler, outputs)
    cross = np.zeros((moments.hidden, outputs))
    for rows in sampler.rows(pairs) if rule is None else random_windows(sampler, pairs, seed):
        values, _ = evaluate(layer.features, rows.cells, rows.context, slopes=False)
        targets, stopped = rows.targets, False
        if rule is not None:
            scaled = (targets - low) / (high - low)
            changes = _changes(moments, cross, values, scaled, images)
            changes = _smooth(changes, change, rule)
            below = np.flatnonzero(changes < rule.tolerance)
            stopped = len(below) > 0
            kept = int(below[0]) + 1 if stopped else len(changes)
            change = float(changes[kept - 1])
            values, targets = values[: kept * images], targets[: kept * images]
            cross += values.T @ scaled[: kept * images]
        moments = lstsq.update(moments, values, targets)
        if stopped or (rule is not None and moments.rows >= MOST * images):
            break
    stepper = training.parts.stepper(layer.solve((moments,), model.plan_.noise), pairs.last)
    return Trained(stepper, moments.rows // images, change if rule else np.nan)


def prepare(model: Surrogate, before, after) -> Training:
    """The parts of a model before it has learned anything."""
    training = model.prepare(before, after).fit_.training
    assert training is not None  # only a model from a file has none
    return training


def random_windows(sampler: Sampler, pairs: Pairs, seed: int, count: int = DRAWN) -> Iterator[Rows]:
    """Blocks of `count` random windows without end, each with its images below it, with noise."""
    random = np.random.default_rng([seed, 1])
    identity = trivial(len(pairs.space), sampler.group.fields).elements[0]
    stencil = sampler.inputs.stencil(sampler.group)
    while True:
        owner = np.sort(random.integers(len(pairs), size=count))
        cell = random.integers(pairs.cells, size=count)
        parts = [sampler.cut(pairs, int(i), cell[owner == i], identity) for i in np.unique(owner)]
        mixed = random.permutation(count)  # windows came sorted by pair
        cells, context, targets, states = (part[mixed] for part in join(parts))
        low, high = _ends(sampler, cells.shape[1])
        # A sign acts on the field, not on its scaled values.
        field = _images(cells * (high - low) + low, stencil.on_windows)
        shown = (field - low) / (high - low)
        yield Rows(
            shown + random.normal(0.0, sampler.noise, shown.shape),
            np.repeat(context, len(sampler.group), axis=0),
            _images(targets, stencil.on_blocks),
            np.repeat(states, len(sampler.group)),
        )


def _ends(sampler: Sampler, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the range of each of so many columns, which are sorted by channel."""
    scaling = sampler.inputs.scaling
    low, high = (
        np.repeat(end, columns // len(end)) for end in map(np.asarray, (scaling.low, scaling.high))
    )
    return low, high


def _images(rows: np.ndarray, action: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Every row moved by every element, the images of a row below each other."""
    source, sign = action
    return (rows[:, source] * sign).reshape(-1, rows.shape[1])


def _changes(moments: lstsq.Moments, cross, values, targets, images: int) -> np.ndarray:
    """|ΔC|² + |ΔD|² as each further window joins the averages, without forming them.

    With the contribution Xᵢ = [φφᵀ, φyᵀ] of window i, averaged over its images, and the sum S of
    those before, the k-th window changes the average by (Xᵢ − S / (k − 1)) / k. So only products
    of contributions are needed: ⟨Xᵢ, Xⱼ⟩ = (φᵢ·φⱼ)² + (φᵢ·φⱼ)(yᵢ·yⱼ). `cross` is the sum of φyᵀ.
    """
    count, gram = len(values) // images, moments.factor[: moments.hidden, : moments.hidden]
    inner = values @ values.T
    products = inner * (inner + targets @ targets.T)
    products = products.reshape(count, images, count, images).sum(axis=(1, 3)) / images**2
    # The sums of the moments count every image of a window; its contribution is their average.
    start = (np.sum(gram**2) + np.sum(cross**2)) / images**2
    onto = np.sum(values * (values @ gram + targets @ cross.T), axis=1)
    onto = onto.reshape(count, images).sum(axis=1) / images**2
    before = np.tril(products, -1).sum(axis=1)
    own = np.diag(products)
    # Squared length of the sum before each window, and its product with the window's contribution.
    gained = np.cumsum(2 * (onto + before) + own)
    length, along = start + np.concatenate([[0.0], gained[:-1]]), onto + before
    seen = moments.rows // images + np.arange(count)
    past = np.maximum(seen, 1)
    return (own - 2 * along / past + length / past**2) / (seen + 1) ** 2


def _smooth(changes: np.ndarray, start: float, rule: Rule) -> np.ndarray:
    smoothed = np.empty_like(changes)
    for index, new in enumerate(changes):
        start = rule.memory * start + (1 - rule.memory) * new
        smoothed[index] = start
    return smoothed

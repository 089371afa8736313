"""Training as in the published experiments: windows drawn at random until the averages settle.

The paper estimates C = E[y φᵀ] and D = E[φ φᵀ] by running averages over windows drawn one at a
time. Its experiments stop once these averages hardly change, so most windows are never seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from onesnap.data.pairs import Pairs, make_pairs
from onesnap.model.stepper import Stepper
from onesnap.network import layer as readout, lstsq
from onesnap.network.sampler import Cutter, Rows, join
from onesnap.search.search import make_stepper
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


def train(settings, before, after, rule: Rule | None = None, *, seed: int = 0) -> Trained:
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
    model.prepare(before, after)
    pairs, cutter, layer = make_pairs(before, after), model.cutter_, model.layer_
    images, change, (moments,) = len(cutter.group), 1.0, model.moments_
    # The rule looks at targets scaled like the inputs, so that it knows no units.
    ends = np.asarray(cutter.scaling.low), np.asarray(cutter.scaling.high)
    low, high = (np.repeat(end, cutter.outputs // len(end)) for end in ends)
    cross = np.zeros((moments.hidden, cutter.outputs))
    for rows in cutter.rows(pairs) if rule is None else draw(cutter, pairs, seed):
        values, _ = readout.evaluate(layer.features, rows[0], rows[1], slopes=False)
        targets, stopped = rows[2], False
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
    stepper = make_stepper(cutter, layer, layer.solve((moments,), model.plan_.noise), pairs.last)
    return Trained(stepper, moments.rows // images, change if rule else np.nan)


def draw(cutter: Cutter, pairs: Pairs, seed: int, count: int = DRAWN) -> Iterator[Rows]:
    """Blocks of `count` random windows without end, each with its images below it, with noise."""
    random = np.random.default_rng([seed, 1])
    identity = trivial(len(cutter.stride), cutter.group.fields)
    inside = [2 * reach + step for reach, step in zip(cutter.extent, cutter.stride, strict=True)]
    while True:
        owner = np.sort(random.integers(len(pairs), size=count))
        cell = random.integers(pairs.cells, size=count)
        parts = [
            cutter.cut(pairs, int(i), cell[owner == i], identity.elements[0])
            for i in np.unique(owner)
        ]
        mixed = random.permutation(count)  # windows came sorted by pair
        cells, context, targets = (part[mixed] for part in join(parts))
        shown = _images(cells, inside, cutter, scaled=True)
        shown = shown + random.normal(0.0, cutter.noise, shown.shape)
        yield (
            shown,
            np.repeat(context, len(cutter.group), axis=0),
            _images(targets, cutter.stride, cutter, scaled=False),
        )


def _images(rows: np.ndarray, side: Sequence[int], cutter: Cutter, scaled: bool) -> np.ndarray:
    """Every row moved by every element, the images of a row below each other."""
    group, ends = cutter.group, (np.asarray(cutter.scaling.low), np.asarray(cutter.scaling.high))
    low, high = (np.repeat(end, rows.shape[1] // len(end)) for end in ends)
    source, sign = group.on_windows((len(ends[0]), *side))
    # A sign acts on the field, not on its scaled values.
    field = rows * (high - low) + low if scaled else rows
    moved = (field[:, source] * sign).reshape(-1, rows.shape[1])
    return (moved - low) / (high - low) if scaled else moved


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

"""Pairs are added, or what others learned from others with the same layer."""

from __future__ import annotations

from dataclasses import replace

import equinox as eqx
import numpy as np

from ..data.fingerprint import join
from ..data.pairs import Pairs
from ..network import lstsq
from ..search.folds import ordered
from .readout import solve
from .record import Fit, NotFittedError, Progress, seen_with, training_of


def learn(fit: Fit, pairs: Pairs, progress: Progress = None) -> Fit:
    """Add pairs, and solve."""
    training = training_of(fit)
    sampler, layer, totals = training.parts.sampler, training.parts.layer, training.totals
    count, before = sampler.count(pairs), totals[0].rows
    # In an order of their own: sums of numbers in another order differ by round-off.
    for rows in sampler.rows(ordered(pairs)):
        totals = layer.absorb(totals, [rows])
        if progress is not None:
            progress(totals[0].rows - before, count)
    if progress is not None:  # also where windows were left out
        progress(count, count)
    left_out = fit.left_out + count - (totals[0].rows - before)
    training = replace(training, totals=totals, last=pairs.last)
    return solve(replace(fit, seen=seen_with(fit.seen, pairs), left_out=left_out, training=training))


def merge(fit: Fit, other: Fit) -> Fit:
    """Add what a model prepared with the same layer has learned from other pairs."""
    mine, theirs = training_of(fit), training_of(other)
    same = [
        # Parameters and fields are those of the last pair, and may differ.
        (one.parts.layer.features, one.parts.sampler.inputs.bind(np.zeros(0), np.zeros(0)))
        for one in (mine, theirs)
    ]
    if not eqx.tree_equal(*same):
        raise ValueError(
            "other: expected a model with the same random layer and inputs; "
            "prepare one model, copy it with copy.copy, and train the copies apart"
        )
    if mine.last is None and theirs.last is None:
        raise NotFittedError("other: neither model has learned yet; call partial_fit first")
    totals = tuple(map(lstsq.merge, mine.totals, theirs.totals))
    seen = fit.seen if other.seen is None else other.seen
    if fit.seen is not None and other.seen is not None:
        seen = join(fit.seen, other.seen)
    training = replace(mine, totals=totals, last=mine.last or theirs.last)
    left_out = fit.left_out + other.left_out
    return solve(replace(fit, seen=seen, left_out=left_out, training=training))

"""What a model learned from, and how good it is: the part of the page that explains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...data.fingerprint import COPY, Fingerprints, distances
from ...evaluate.verdict import Channel, Trust
from ...model.rollout import VALID_RSE
from ...model.stepper import Stepper, check_starts
from .. import html as report

HEADER = ("one step", "this model", "persistence", "mean state", "linear window", "skill")


def check_pair(pair, stepper: Stepper, space: Sequence[int]) -> np.ndarray:
    """The states before and after, on the grid of the page."""
    states, _ = check_starts("pair", np.stack([np.asarray(state) for state in pair]), stepper)
    if states.shape[0] != 2 or states.shape[2:] != tuple(space):
        raise ValueError(
            f"pair: expected (before, after) on a grid of {tuple(space)}, got shape {states.shape}"
        )
    return states


def find_pair(stepper: Stepper, states, seen: Fingerprints) -> np.ndarray | None:
    """The first of recorded states, a step apart, that the model learned from, and the next one."""
    states, _ = check_starts("states", states, stepper)
    for place in range(len(states) - 1):
        if distances(states[place : place + 1], seen)[0] < COPY:
            return states[place : place + 2]
    return None


def words_of(pair: bool, recorded: bool, seen: Fingerprints | None, equation: str) -> str:
    """What was learned from, in words, below the equation that the model has not seen."""
    count = 0 if seen is None else len(seen)
    saw = "two states" if count == 1 or (pair and not count) else "pairs of states"
    words = f"The model saw {saw} a step apart, and no equation."
    if pair:
        which = "The window" if count < 2 else "Here is one pair. The window"
        words += (
            f" {which} that it reads is drawn into the state before, the block that it predicts "
            "into the one after."
        )
    elif count and recorded:
        words += " They are not among the states recorded here."
    return (report.code(equation) if equation else "") + report.text(words)


def skill_of(trust: Trust | None) -> str:
    """A table of errors of one step beside those of simple models, and what speaks against it."""
    if trust is None:
        return ""
    words = (
        "Root mean square errors of one step, in units of the data. A skill of 1 is perfect, 0 no "
        "better than persistence or the mean state."
    )
    if trust.compared_steps:
        over = "at least " if trust.valid_steps >= trust.compared_steps else ""
        time = f" ({trust.valid_steps * trust.dt:g} time units)" if trust.dt else ""
        words += (
            f" Forecasts are valid for {over}{trust.valid_steps} steps{time}: until their relative "
            f"squared error passes {VALID_RSE:g} %."
        )
    blocks = [report.text(words), report.table(map(_row, trust.channels), HEADER)]
    if trust.part:
        blocks.append(report.text(f"Judged by {trust.part}; none of it was learned from."))
    notes = [report.note(words, "Warning") for words in trust.warnings]
    return "<h3>How good is one step?</h3>\n" + "\n".join([*blocks, *notes])


def _row(channel: Channel) -> tuple[str, ...]:
    errors = channel.error, channel.persistence, channel.mean, channel.linear
    return channel.name, *(f"{error:.3g}" for error in errors), f"{channel.skill:.4f}"

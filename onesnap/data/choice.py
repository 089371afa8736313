"""Which states of a dataset to learn from, and which to hold out, where the user says so."""

from __future__ import annotations

from dataclasses import replace

from .dataset import Dataset
from .errors import DataError


def parse_range(text: str) -> tuple[float, float]:
    """Two shares of the time, as in "0:0.7"."""
    start, separator, stop = text.partition(":")
    try:
        first, last = float(start or 0.0), float(stop or 1.0)
    except ValueError:
        first, last = 1.0, 0.0
    if not separator or not 0.0 <= first < last <= 1.0:
        raise ValueError(f"train: expected two shares of the time, as in 0:0.7, got {text!r}")
    return first, last


def split_in_time(dataset: Dataset, first: float, last: float) -> tuple[Dataset, Dataset | None]:
    """The states of each trajectory in a part of its time, and the others, later ones first.

    The second is None where nothing is left to hold out.
    """
    learned, held = [], []
    for trajectory in dataset.trajectories:
        start, stop = round(first * trajectory.steps), round(last * trajectory.steps)
        if stop - start < 2:
            raise DataError(
                f"{dataset.path}: train: expected two states or more of each trajectory, got "
                f"{stop - start} of {trajectory.steps}"
            )
        learned.append(trajectory.part(start, stop))
        rest = [trajectory.part(stop, trajectory.steps), trajectory.part(0, start)]
        held += [part for part in rest if part.steps > 1]
    held.sort(key=lambda part: -part.steps)
    words = f"times {first:g} to {last:g} of the whole"
    chosen = replace(dataset, trajectories=tuple(learned), part=words)
    if not held:
        return chosen, None
    return chosen, replace(dataset, trajectories=tuple(held), part=f"all but {words}")


def choose_trajectories(dataset: Dataset, text: str) -> Dataset:
    """Some of the trajectories by their numbers, as in "0,2:5"."""
    count, numbers = len(dataset.trajectories), list[int]()
    for word in text.split(","):
        start, separator, stop = word.strip().partition(":")
        if not all(end.isdecimal() or (separator and not end) for end in (start, stop or start)):
            raise ValueError(f"trajectories: expected numbers as in 0,2:5, got {text!r}")
        first = int(start or 0)
        numbers += range(first, int(stop or count) if separator else first + 1)
    if not numbers or not set(numbers) <= set(range(count)):
        raise ValueError(f"trajectories: expected numbers from 0 to {count - 1}, got {text!r}")
    unique = dict.fromkeys(numbers)
    return replace(dataset, trajectories=tuple(dataset.trajectories[n] for n in unique))

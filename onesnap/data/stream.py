"""Pairs of a dataset in batches that fit into memory, with gaps taken care of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .dataset import Dataset
from .gridded import from_xarray
from .pairs import Pairs, make_pairs


@dataclass(frozen=True)
class Stream:
    """Pairs of a dataset, in batches that fit into memory, with gaps in the data taken care of.

    Cells that never have a value are filled with `fill`, and a context field tells where they are.
    Single missing values are filled too, but marked, so that no window with one is learned from.
    """

    dataset: Dataset
    numbers: np.ndarray
    fill: np.ndarray | None = None

    def sample(self, most: int = 64, most_bytes: int = 2**27) -> Pairs:
        """A few pairs spread over all of them, from which settings are chosen."""
        size = 16 * int(np.prod(self.dataset.shape))  # bytes of a pair
        count = int(np.clip(most_bytes // size, 1, min(most, len(self.numbers))))
        places = np.linspace(0, len(self.numbers) - 1, count).round().astype(int)
        return self.complete(self.dataset.pairs(numbers=self.numbers[places]))

    def batches(self, skip: int = 0) -> Iterator[tuple[int, Pairs]]:
        """Batches from the one after `skip` pairs on, each with the number of pairs done after it."""
        done = skip
        for batch in self.dataset.batches(self.numbers[skip:]):
            pairs = self.complete(batch)
            done += len(pairs)
            yield done, pairs

    def complete(self, batch: dict[str, np.ndarray]) -> Pairs:
        """Checked pairs without gaps, and where there were any."""
        before, after = batch["before"], batch["after"]
        lost = np.any(~np.isfinite(before) | ~np.isfinite(after), axis=1)
        mask, fields = self.dataset.mask, batch.get("fields")
        if mask is not None:
            lost &= mask
            cells = np.broadcast_to(mask.astype(np.float64), (len(before), 1, *mask.shape))
            fields = cells if fields is None else np.concatenate([fields, cells], axis=1)
        if mask is not None or lost.any():
            level = self.fill if self.fill is not None else _means(before)
            level = level.reshape(1, -1, *(1,) * (before.ndim - 2))
            gone = lost[:, None] if mask is None else lost[:, None] | ~mask
            before, after = np.where(gone, level, before), np.where(gone, level, after)
        return make_pairs(
            before, after, batch.get("parameters"), fields, lost if lost.any() else None
        )


def make_stream(dataset: Dataset, numbers: np.ndarray) -> Stream:
    """A stream; cells without values are filled with the mean of a scalar, and with 0 in vectors."""
    if dataset.mask is None:
        return Stream(dataset, numbers)
    before = dataset.pairs(numbers=np.unique(numbers[[0, len(numbers) // 2, -1]]))["before"]
    turning = np.concatenate([[field.kind != "scalar"] * field.channels for field in dataset.fields])
    return Stream(dataset, numbers, np.where(turning, 0.0, _means(before)))


def _means(states: np.ndarray) -> np.ndarray:
    """The mean of each channel over the values that are there."""
    known, axes = np.isfinite(states), (0, *range(2, states.ndim))
    return np.where(known, states, 0.0).sum(axis=axes) / np.maximum(1, known.sum(axis=axes))


def is_xarray(data) -> bool:
    """Whether this is an object of xarray, which need not be installed."""
    return type(data).__module__.partition(".")[0] == "xarray"


def as_dataset(data) -> Dataset:
    """A Dataset, or an array or dataset of xarray, as a Dataset."""
    if isinstance(data, Dataset):
        return data
    if is_xarray(data):
        return from_xarray(data).with_mask()
    raise ValueError(
        f"after: expected the states a step later than before, which is {type(data).__name__}; only "
        "a Dataset of onesnap.open or an array of xarray can stand alone"
    )

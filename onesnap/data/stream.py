"""Pairs of a dataset in batches that fit into memory, with gaps taken care of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..grid.states import check_states
from .arrays import from_array
from .collection import join
from .dataset import Dataset
from .gaps import Gaps, complete, means
from .gridded import from_xarray
from .pairs import Pairs


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
        gaps = Gaps(self.dataset.mask, self.fill)
        beside = batch.get("parameters"), batch.get("fields")
        pairs = complete(batch["before"], batch["after"], *beside, gaps, batch.get("past"))
        return replace(pairs, driven=bool(self.dataset.changing))


def make_stream(dataset: Dataset, numbers: np.ndarray) -> Stream:
    """A stream; cells without values are filled with the mean of a scalar, and with 0 in vectors."""
    if dataset.mask is None:
        return Stream(dataset, numbers)
    before = dataset.pairs(numbers=np.unique(numbers[[0, len(numbers) // 2, -1]]))["before"]
    turning = np.concatenate([[field.kind != "scalar"] * field.channels for field in dataset.fields])
    return Stream(dataset, numbers, np.where(turning, 0.0, means(before)))


def is_xarray(data) -> bool:
    """Whether this is an object of xarray, which need not be installed."""
    return type(data).__module__.partition(".")[0] == "xarray"


def is_plain(data) -> bool:
    """Whether these are arrays in memory, of which nothing but values is known."""
    return not isinstance(data, Dataset) and not is_xarray(data)


def as_dataset(data) -> Dataset:
    """Data that stand alone as a Dataset: one, or one of xarray, or an array, or a list of arrays.

    Arrays are sequences `(time, channel, *space)`.
    """
    if isinstance(data, Dataset):
        return data
    if is_xarray(data):
        return from_xarray(data).with_mask()
    several = isinstance(data, list | tuple) and all(np.ndim(one) > 2 for one in data) and len(data)
    parts = list(data) if several else [data]
    checked = [check_states("before", part, gaps=True) for part in parts]
    if len({part.shape[1:] for part in checked}) > 1:
        shapes = ", ".join(str(part.shape) for part in checked)
        raise ValueError(f"before: expected sequences of states of one shape, got {shapes}")
    if max(map(len, checked)) < 2:
        raise ValueError(
            "after: expected the states a step later than before, for a sequence that stands alone "
            f"has two states or more, got {len(checked[0])}"
        )
    return join([from_array(part) for part in checked])

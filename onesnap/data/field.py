"""A named quantity of a dataset, and the channels it takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

KINDS = ("scalar", "vector", "tensor")  # by the order of the tensor


@dataclass(frozen=True)
class Field:
    """A named quantity; a vector has a channel for each axis of space, in their order."""

    name: str
    kind: str = "scalar"
    channels: int = 1
    units: str = ""

    def channel_names(self, axes: Sequence[str]) -> list[str]:
        if self.channels == 1:
            return [self.name]
        if self.kind == "vector":
            return [f"{self.name}_{axis}" for axis in axes]
        return [f"{self.name}_{number}" for number in range(self.channels)]

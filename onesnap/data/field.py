"""A named quantity of a dataset, by how it moves when the axes do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

KINDS = ("scalar", "vector", "tensor")  # by the order of the tensor


@dataclass(frozen=True)
class Field:
    """A named quantity; a vector has a channel for each axis of space, in their order.

    One of components that have names of their own is called by all of them, as in "u,v".
    """

    name: str
    kind: str = "scalar"
    channels: int = 1
    units: str = ""

    @property
    def together(self) -> bool:
        """Whether this is a vector of components that have names of their own."""
        return self.kind == "vector" and 1 < self.channels == 1 + self.name.count(",")

    def channel_names(self, axes: Sequence[str]) -> list[str]:
        if self.channels == 1:
            return [self.name]
        if self.together:
            return self.name.split(",")
        if self.kind == "vector":
            return [f"{self.name}_{axis}" for axis in axes]
        return [f"{self.name}_{number}" for number in range(self.channels)]

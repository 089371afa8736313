"""Lines and planes as grids of three axes, so that the page knows these only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

AXES = 3


def lifted(values: Sequence[Any], filling: Any) -> list[Any]:
    """Values of three axes, from those of one, two or three: they are the last ones."""
    return [filling] * (AXES - len(values)) + list(values)

"""A line as a plane of one row, so that the page knows planes only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def lifted(values: Sequence[Any], filling: Any) -> list[Any]:
    """Values of both axes of a plane, from those of a line or a plane."""
    return [filling] * (2 - len(values)) + list(values)

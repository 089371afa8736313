"""Symmetries as the page takes them: how they move cells and channels, and a name to click on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...symmetry import Element, Group
from .lift import AXES, lifted

# By which axis each new one reads, and which of them are reversed.
TURNS: dict[tuple, str] = {
    ((0, 1), (False, False)): "as it is",
    ((0, 1), (True, False)): "mirror x",
    ((0, 1), (False, True)): "mirror y",
    ((0, 1), (True, True)): "half turn",
    ((1, 0), (False, False)): "swap x and y",
    ((1, 0), (True, False)): "quarter turn left",
    ((1, 0), (False, True)): "quarter turn right",
    ((1, 0), (True, True)): "swap x and −y",
}


def pack_elements(
    group: Group, space: Sequence[int], fields: np.ndarray | None = None
) -> list[dict[str, Any]]:
    """The elements of a group, and which of them leave a grid and its known `fields` as they are."""
    known = np.zeros((1, *space))
    if fields is not None and len(fields):
        known = np.concatenate([known, fields])
    kinds = ("fixed",) * len(known)
    return [
        _pack(element, group) | {"fits": np.array_equal(element.act(known, kinds), known)}
        for element in group.elements
    ]


def _pack(element: Element, group: Group) -> dict[str, Any]:
    mixing = element.channel_matrix(group.fields)
    source = np.abs(mixing).argmax(axis=1)
    missing = AXES - element.dimension
    return {
        "name": name_of(element),
        "axes": [*range(missing), *(missing + axis for axis in element.axes)],
        "flips": lifted([bool(flip) for flip in element.flips], False),
        "source": source.tolist(),
        "signs": mixing[np.arange(len(mixing)), source].tolist(),
    }


def name_of(element: Element) -> str:
    if element.dimension == 2:
        words = TURNS[element.axes, element.flips]
        return words if element.sign > 0 else f"{words}, u → −u"
    # A new cell (x, y, z) reads an old one: along old axis axes[i] it has the new coordinate i.
    letters = ["−" * flip + letter for letter, flip in zip("xyz", element.flips, strict=False)]
    words = f"u({', '.join(letters[element.axes.index(axis)] for axis in range(element.dimension))})"
    return f"−{words}" if element.sign < 0 else words

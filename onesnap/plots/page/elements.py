"""Symmetries as the page takes them: how they move cells and channels, and a name to click on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...symmetry import Element, Group
from .lift import lifted

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


def pack_elements(group: Group) -> list[dict[str, Any]]:
    """The elements of a group on a line or a plane."""
    return [_pack(element, group) for element in group.elements]


def _pack(element: Element, group: Group) -> dict[str, Any]:
    mixing = element.channel_matrix(group.fields)
    source = np.abs(mixing).argmax(axis=1)
    axes = element.axes if element.dimension == 2 else (0, 1)
    return {
        "name": name_of(element),
        "axes": list(axes),
        "flips": lifted([bool(flip) for flip in element.flips], False),
        "source": source.tolist(),
        "signs": mixing[np.arange(len(mixing)), source].tolist(),
    }


def name_of(element: Element) -> str:
    if element.dimension == 1:
        words = "u(−x)" if element.flips[0] else "u(x)"
        return f"−{words}" if element.sign < 0 else words
    words = TURNS[element.axes, element.flips]
    return words if element.sign > 0 else f"{words}, u → −u"

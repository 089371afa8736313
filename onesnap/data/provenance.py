"""What a forecast of ours says about itself, in a JSON text beside its states."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ..grid.boundary import both_sides
from .dataset import Dataset
from .field import KINDS, Field


def stored_channels(text: Any) -> list[str]:
    """The names of the channels of a forecast, in order; none if it is no forecast of ours."""
    try:
        return [str(name) for name in json.loads(text)["channels"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def recognise(dataset: Dataset, text: Any) -> Dataset:
    """The dataset with what its text says of boundary, fields and origin; unchanged without one."""
    try:
        attributes = json.loads(text)
        sides = both_sides(attributes["boundary"], len(dataset.space))
        fields = tuple(Field(str(n), str(k), int(c), str(u)) for n, k, c, u in attributes["fields"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return dataset
    fit = sum(f.channels for f in fields) == dataset.channels
    return replace(
        dataset,
        boundary=sides,
        fields=fields if fit and {f.kind for f in fields} <= set(KINDS) else dataset.fields,
        notes=tuple(note for note in dataset.notes if not note.startswith("boundary")),
        attributes=attributes,
    )

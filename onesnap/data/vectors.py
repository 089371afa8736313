"""Channels that are the components of one vector: told by standard names, or by the user."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .axes import HEIGHTS, LATITUDES, LONGITUDES
from .dataset import Dataset
from .errors import DataError
from .field import Field
from .layout import split_names
from .trajectory import Reordered

# Words of CF standard names that say along which axis a component is; upwards is a third one.
ALONG = {
    "x": 0,
    "eastward": 0,
    "zonal": 0,
    "y": 1,
    "northward": 1,
    "meridional": 1,
    "z": 2,
    "upward": 2,
}
SAME = {"wind": "air_velocity"}  # what CF calls the same thing of other axes
# u and v alone may be anything, two chemicals even: they are velocities if they are measured as such.
SPEED = re.compile(r"\s*[cmk]?m(\s*/\s*(s|h|sec|day)|[\s.*]*(s|sec|h|day)\s*(\*\*|\^)?\s*-\s*1)\s*")
LETTERS = "uvw"


def told(variables: Mapping[str, tuple[str, str]], dimension: int) -> list[tuple[str, ...]]:
    """Names of variables that make up vectors along x, y and z, by their standard names or units."""
    groups: dict[tuple[str, str], dict[int, list[str]]] = {}
    for name, (standard, units) in variables.items():
        for along, rest in (_by_standard_name(standard), _by_letter(name, standard, units)):
            if along is not None:
                groups.setdefault(rest, {}).setdefault(along, []).append(name)
    vectors = []
    for found in groups.values():
        if sorted(found) == list(range(dimension)) and all(len(some) == 1 for some in found.values()):
            vectors.append(tuple(found[along][0] for along in range(dimension)))
    taken: set[str] = set()
    return [v for v in vectors if not taken & set(v) and not taken.update(v)]


def _by_standard_name(standard: str) -> tuple[int | None, tuple[str, str]]:
    words = standard.split("_")
    places = [place for place, word in enumerate(words) if word in ALONG]
    if len(places) != 1:
        return None, ("", "")
    rest = [word for place, word in enumerate(words) if place != places[0]]
    rest = [word for word in rest if word != "grid"]  # grid_eastward_wind
    name = "_".join(rest)
    return ALONG[words[places[0]]], ("standard name", SAME.get(name, name))


def _by_letter(name: str, standard: str, units: str) -> tuple[int | None, tuple[str, str]]:
    letter = name[:1].lower()
    if standard or not name or letter not in LETTERS or not SPEED.fullmatch(units):
        return None, ("", "")
    return LETTERS.index(letter), ("letter", name[1:])


def places(axes: Sequence[str]) -> list[int]:
    """Which component, of those along x, y and z, is along each axis; in order if names are odd."""
    kinds = (LONGITUDES, LATITUDES, HEIGHTS)
    ranks = [[rank for rank, known in enumerate(kinds) if axis.lower() in known] for axis in axes]
    if any(len(rank) != 1 for rank in ranks) or len({rank[0] for rank in ranks}) != len(axes):
        return list(range(len(axes)))
    order = sorted(rank[0] for rank in ranks)
    return [order.index(rank[0]) for rank in ranks]


def with_vectors(dataset: Dataset, vectors: str | Sequence[str | Sequence[str]]) -> Dataset:
    """The dataset with these channels as vectors, and no others of its scalars.

    A vector is named by its components, "u,v", along x, y and z if the axes have such names, else in
    the order of the axes. The channels of a vector stand together, in the order of the axes.
    """
    asked = [vectors] if isinstance(vectors, str) else list(vectors)
    groups = [split_names(one) for one in asked if len(one)]
    parts = _parts(dataset)
    listed = [name for name, _ in parts]
    for names in groups:
        wrong = [name for name in names if listed.count(name) != 1]
        if wrong or len(set(names)) != len(dataset.space):
            raise DataError(
                f"{dataset.path}: vectors: expected {len(dataset.space)} of the scalars "
                f"{', '.join(map(str, listed))}, one along each axis, got {','.join(names)}"
            )
    if len(flat := [name for names in groups for name in names]) != len(set(flat)):
        raise DataError(f"{dataset.path}: vectors: a channel is in more than one of them: {flat}")
    owner = {name: names for names in groups for name in names}
    known, done, fields, order = dict(parts), list[list[str]](), list[Field](), list[int]()
    for name, (field, channels) in parts:
        names = owner.get(name)
        if names is None:
            fields.append(field)
            order += channels
        elif names not in done:
            done.append(names)
            along = [names[place] for place in places(dataset.axes)]
            fields.append(Field(",".join(along), "vector", len(along), field.units))
            order += [known[one][1][0] for one in along]
    if order != sorted(order):
        moved = [replace(t, read=Reordered(t.read, tuple(order))) for t in dataset.trajectories]
        dataset = replace(dataset, trajectories=tuple(moved))
    return replace(dataset, fields=tuple(fields))


def _parts(dataset: Dataset) -> list[tuple[str, tuple[Field, list[int]]]]:
    """Every scalar by its name, with its channel; components of a vector are apart again."""
    parts, first = [], 0
    for field in dataset.fields:
        channels = list(range(first, first + field.channels))
        first += field.channels
        names = field.channel_names(dataset.axes)
        if field.channels == 1 or field.together:
            parts += [
                (name, (Field(name, units=field.units), [channel]))
                for name, channel in zip(names, channels, strict=True)
            ]
        else:
            parts.append(("", (field, channels)))
    return parts

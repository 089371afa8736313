"""What a model file may say: every value of its settings, looked at before anything is built.

A digest tells that a file is what somebody wrote, not that it makes sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..data.field import KINDS
from ..grid.boundary import both_sides
from ..grid.scaling import MEANS
from ..network.features import ACTIVATIONS, WEIGHTS
from ..network.layer import NOISE_FORMS
from ..symmetry import Element, Group

Check = Callable[[Any], bool]
MOST_COSINES = 64  # of a coordinate: a finer one would be noise
MOST_WIDTH = 2**16  # cells of a box of surroundings
MEMBERS = ("window", "mean", "persistence")


def _whole(least: int, most: float = math.inf) -> Check:
    return lambda value: type(value) is int and least <= value <= most


def _number(least: float, open_end: bool = False) -> Check:
    def check(value: Any) -> bool:
        real = type(value) in (int, float) and math.isfinite(value) and value >= least
        return real and not (open_end and value == least)

    return check


def _one_of(*known: Any) -> Check:
    return lambda value: any(type(value) is type(one) and value == one for one in known)


def _either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _per_axis(least: int, most: float = math.inf) -> Check:
    """One integer, or one an axis."""
    return _either(_whole(least, most), _list_of(_whole(least, most)))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_reasons(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(words) for words in value.values())


def _is_field(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 4:
        return False
    name, kind, channels, units = value
    return _is_text(name) and kind in KINDS and _whole(1, 1000)(channels) and _is_text(units)


def _is_ends(value: Any) -> bool:
    """Low and high ends of ranges: numbers, or one a channel."""
    end = _either(_number(-math.inf), _list_of(_number(-math.inf)))
    return isinstance(value, list) and len(value) == 2 and all(end(one) for one in value)


def _is_boundary(value: Any) -> bool:
    for dimension in (1, 2, 3):
        try:
            both_sides(value, dimension)
        except ValueError:
            continue
        return True
    return False


NONE, AUTO, FLAG = _one_of(None), _one_of("auto"), _one_of(True, False)
WIDTHS = _list_of(_whole(2, MOST_WIDTH))
SHRINKAGE = _either(NONE, _number(0), _one_of(math.inf))

SETTINGS: dict[str, Check] = {
    "activation": _one_of(*ACTIVATIONS),
    "mean": _one_of(*MEANS),
    "margin": _either(NONE, _number(0)),
    "position": _per_axis(0, MOST_COSINES),
    "potential": FLAG,
    "extent": _per_axis(0),
    "stride": _list_of(_whole(1)),
    "surroundings": WIDTHS,
    "boundary": _is_boundary,
    "params": _is_mapping,
    "plan": _is_mapping,
    "data": _either(NONE, _is_mapping),
}
PLAN: dict[str, Check] = {
    "extent": _per_axis(0),
    "stride": _per_axis(1),
    "hidden": _whole(0),
    "activation": _one_of(*ACTIVATIONS),
    "noise": _number(0),
    "noise_form": _one_of(*NOISE_FORMS),
    "rank": _either(NONE, _whole(1)),
    "symmetry": lambda value: isinstance(value, Group),
    "equivariant": FLAG,
    "context": _per_axis(0, MOST_COSINES),
    "mean": _one_of(*MEANS),
    "seed": _whole(0),
    "reasons": _is_reasons,
    "weights": _one_of(*WEIGHTS),
    "gain": _number(0, open_end=True),
    "potential": FLAG,
    "shrinkage": SHRINKAGE,
    "member": _one_of(*MEMBERS),
    "surroundings": WIDTHS,
    "windows": _either(NONE, _whole(1)),
    "lag": _whole(1),
    "history": _whole(1),
}
PARAMS: dict[str, Check] = {  # the others are checked as those of a new model
    "extent": _either(AUTO, _per_axis(0)),
    "stride": _either(AUTO, _per_axis(1)),
    "context": _either(AUTO, _per_axis(0)),
    "scaling": _either(_one_of("range"), _is_ends),
    "boundary": _either(AUTO, _is_boundary),
}
CARD: dict[str, Check] = {
    "source": _is_text,
    "format": _is_text,
    "fields": _list_of(_is_field),
    "axes": _list_of(_is_text),
    "dx": _list_of(_either(NONE, _number(0, open_end=True))),
    "dt": _either(NONE, _number(0, open_end=True)),
    "time_units": _is_text,
    "parameters": _list_of(_is_text),
    "context": _list_of(_is_text),
    "masked": FLAG,
    "system": _is_text,
    "inputs": _list_of(_is_text),
}
OPTIONAL = {"system", "inputs"}  # of the card


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise at the first value that makes no sense by itself."""
    _check_numbers(settings)
    _check("", SETTINGS, settings)
    for name, table in (("params", PARAMS), ("plan", PLAN), ("data", CARD)):
        if settings.get(name) is not None:
            _check(f"{name}.", table, settings[name])


def _check(where: str, table: Mapping[str, Check], values: Mapping[str, Any]) -> None:
    for name, check in table.items():
        if name in values and not check(values[name]):
            raise ValueError(f"{where}{name} makes no sense: {repr(values[name])[:80]}")


def _check_numbers(value: Any) -> None:
    """No integer that no machine counts to, wherever it is: it would be an overflow one day."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _check_numbers(item)
    elif isinstance(value, int) and not -(2**62) < value < 2**62:
        raise ValueError(f"it holds a number of {value.bit_length()} bits")


def check_card(card: Mapping[str, Any] | None, channels: int, dimension: int, known: Any) -> None:
    """Raise unless what a model remembers of its data fits the model; `known` is its context."""
    if card is None:
        return
    counts = {
        "fields": (sum(channels for _, _, channels, _ in card["fields"]), channels),
        "axes": (len(card["axes"]), dimension),
        "dx": (len(card["dx"]), dimension),
        "parameters": (len(card["parameters"]), known.parameters.shape[0]),
        "context": (len(card["context"]) + card["masked"], known.fields.shape[0] - known.older),
    }
    missing = set(CARD) - set(card) - OPTIONAL
    wrong = [name for name, (count, expected) in counts.items() if count != expected]
    if missing or wrong:
        raise ValueError(f"data lacks {sorted(missing)}, and {wrong} do not fit the model")


def make_group(value: Any) -> Group:
    """A group out of JSON; a ValueError if it is none."""
    elements = []
    for axes, flips, sign in value["elements"]:
        fine = sorted(axes) == list(range(len(axes))) and 1 <= len(axes) <= 3
        fine = fine and all(type(axis) is int for axis in axes) and len(flips) == len(axes)
        fine = fine and all(type(flip) is bool for flip in flips)
        if not fine or type(sign) is not int or sign not in (1, -1):
            raise ValueError(f"an element of a group makes no sense: {[axes, flips, sign]!r}")
        elements.append(Element(tuple(axes), tuple(flips), sign))
    if len(set(elements)) != len(elements):
        raise ValueError("a group has an element twice")
    return Group(tuple(elements), tuple(value["fields"]))


def check_window(settings: Mapping[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
    """Raise before anything is built of windows that are larger than all that is stored of them."""
    extent, stride = settings["extent"], settings["stride"]
    dimension = len(stride)
    reach = [extent] * dimension if isinstance(extent, int) else extent
    cells = math.prod(2 * out + block for out, block in zip(reach, stride, strict=True))
    names = ("readout", "features.weights", "features.basis")
    stored = max(tensors[name].size for name in names if name in tensors)
    if not 1 <= dimension <= 3 or cells > stored or not tensors["readout"].size:
        raise ValueError(f"windows of {reach} around {stride} cells do not fit its arrays")

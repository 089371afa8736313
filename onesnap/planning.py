"""The plan of a fit: every setting with its value and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import choices, lstsq
from .choices import Probe
from .features import ACTIVATIONS, WEIGHTS
from .harmonics import work
from .readout import NOISE_FORMS
from .rows import Pairs
from .scaling import MEANS
from .symmetry import Group, trivial
from .windows import both_sides, check_grid, per_axis, surplus

HIDDEN = 600  # features that a single pair along a line can feed
MOST_HIDDEN = 4800
# Rows times squared features, at most: a minute of least squares, in the plane half of it.
WORK = {1: 6e11, 2: 1.8e11, 3: 1.8e11}
STEP = 1.3e7  # blocks of a state times features, at most: some ten milliseconds a step
PLENTY = 8  # windows for each feature, from which on symmetric copies teach little more


@dataclass(frozen=True)
class Plan:
    """Resolved settings; a `rank` of None keeps every cell of the window."""

    extent: tuple[int, ...]
    stride: tuple[int, ...]
    hidden: int
    activation: str
    noise: Any
    noise_form: str
    rank: Any
    symmetry: Group
    equivariant: bool
    context: tuple[int, ...]
    mean: str
    seed: int
    reasons: Mapping[str, str]
    weights: str = "uniform"  # as in the first model files
    gain: float = 1.0
    potential: bool = False

    def explain(self) -> list[tuple[str, str, str]]:
        """Rows of (setting, value, reason)."""
        values = {
            "extent": "×".join(map(str, self.extent)),
            "stride": "×".join(map(str, self.stride)),
            "hidden": str(self.hidden),
            "activation": self.activation,
            "weights": f"{self.weights}, times {self.gain:g}",
            "noise": f"{self.noise:g} ({self.noise_form})" if self.noise else "none",
            "rank": "all cells" if self.rank is None else str(self.rank),
            "symmetry": f"{len(self.symmetry)} elements on {', '.join(self.symmetry.fields)}",
            "equivariant": "exactly" if self.equivariant else "as far as it was learned",
            "context": f"{'×'.join(map(str, self.context))} cosines" if any(self.context) else "none",
            "potential": "gradients beside the state" if self.potential else "none",
            "mean": self.mean,
            "seed": str(self.seed),
        }
        reasons = {"weights": self.reasons.get("gain", "as set"), **self.reasons}
        return [(name, value, reasons.get(name, "as set")) for name, value in values.items()]

    def __str__(self) -> str:
        return "\n".join(f"{name:<13}{value:<28}{why}" for name, value, why in self.explain())


def _expect(name: str, value, fine: bool, expected: str) -> None:
    if not fine:
        raise ValueError(f"{name}: expected {expected}, got {value!r}")


def check_settings(given: Mapping[str, Any]) -> None:
    """Raise at the first argument of a Surrogate that makes no sense, whatever the data."""
    named = {
        "activation": tuple(ACTIVATIONS),
        "weights": WEIGHTS,
        "noise_form": ("auto", *NOISE_FORMS),
        "mean": ("auto", *MEANS),
        "solver": lstsq.SOLVERS,
        "dtype": ("float32", "float64"),
    }
    for name, known in named.items():
        _expect(name, given[name], given[name] in known, f"one of {', '.join(known)}")
    whole = {"hidden": (0, "auto"), "rank": (1, "auto", None), "windows": (1, None), "seed": (0,)}
    if not isinstance(given["context"], tuple | list):
        whole["context"] = (0, "auto")
    for name, (least, *others) in whole.items():
        value = given[name]
        fine = isinstance(value, int | np.integer) and not isinstance(value, bool) and value >= least
        words = "".join(f", or {other!r}" for other in others)
        fine = fine or any(value is other or value == other for other in others)
        _expect(name, value, fine, f"an integer of at least {least}{words}")
    noise = given["noise"]
    number = isinstance(noise, int | float | np.number) and bool(0 <= noise < np.inf)
    _expect("noise", noise, noise == "auto" or number, "a deviation of at least 0, or 'auto'")
    gain = given["gain"]
    number = isinstance(gain, int | float | np.number) and bool(0 < gain < np.inf)
    _expect("gain", gain, gain == "auto" or number, "a number above 0, or 'auto'")
    fine = isinstance(given["potential"], bool | np.bool_) or given["potential"] == "auto"
    _expect("potential", given["potential"], fine, "True, False or 'auto'")
    fine = isinstance(given["equivariant"], bool | np.bool_)
    _expect("equivariant", given["equivariant"], fine, "True or False")
    margin = given["margin"]
    number = isinstance(margin, int | float | np.number) and bool(0 <= margin < np.inf)
    _expect("margin", margin, margin is None or number, "a number of at least 0, or None")
    fine = isinstance(given["symmetry"], Group) or given["symmetry"] in (None, "auto")
    _expect("symmetry", given["symmetry"], fine, "a Group (as of onesnap.symmetry), None or 'auto'")
    fine = isinstance(given["averaging"], Group) or given["averaging"] is None
    _expect("averaging", given["averaging"], fine, "a Group (as of onesnap.symmetry) or None")


def find_hidden(windows: int, group: Group, folded: bool, blocks: int) -> tuple[int, str]:
    """As many features as the windows can feed, within what a fit and a forecast may cost.

    Rows are all windows under all elements; where windows abound, each under one (see `PLENTY`).
    """
    elements = len(group)
    fed = min(HIDDEN, 0.6 * windows * elements)
    costs = {windows: 1.0, windows * elements: work(group) / elements if folded else 1.0}
    for rows, cost in costs.items():
        fed = max(
            fed, min(rows / PLENTY, np.sqrt(WORK[group.dimension] / rows / cost), STEP / blocks)
        )
    return int(np.clip(fed, 20, MOST_HIDDEN)), f"{windows} windows under {elements} symmetries"


def check_averaging(group: Group | None, space, stride) -> None:
    """Raise unless blocks lie on blocks when the grid is turned, as exact equivariance needs."""
    if group is not None and len(group) > 1 and any(surplus(space, stride)):
        raise ValueError(
            f"averaging: stride {stride} does not divide the grid {tuple(space)}, so that a turned "
            "grid would be cut into other blocks; give a stride that does, or averaging=None"
        )


def make_plans(given: Mapping[str, Any], pairs: Pairs, probe: Probe) -> list[Plan]:
    """Settle everything but extent and noise, which need trial forecasts: a plan for each extent."""
    dimension, channels = len(pairs.space), pairs.before.shape[1]
    reasons: dict[str, str] = {}

    def settle(name: str, value, find) -> Any:
        if isinstance(value, str) and value == "auto":
            value, reasons[name] = find()
        return value

    exact = given["averaging"] is not None
    stride = settle("stride", given["stride"], lambda: choices.find_stride(pairs.space, exact))
    stride = per_axis("stride", stride, dimension, 1)

    def find_mean():
        if probe.fill is not None:
            return "keep", "some cells have no values"
        if any(
            not isinstance(kind, str)
            for ends in both_sides(probe.boundary, dimension)
            for kind in ends
        ):
            return "keep", "a value is held at an edge, which tells levels apart"
        return choices.find_mean(probe, stride)

    mean = settle("mean", given["mean"], find_mean)
    known = given["context"] if given["context"] != "auto" else 0
    position = per_axis("context", known, dimension, 0)
    groups = [given[name] for name in ("symmetry", "averaging") if isinstance(given[name], Group)]
    potential = given["potential"] != "auto" and bool(given["potential"])
    why = choices.no_potential(probe, groups)
    if potential and why:
        raise ValueError(f"potential: expected False, for {why}")
    extents: list[Any] = []
    if given["extent"] != "auto":
        extents = [per_axis("extent", given["extent"], dimension, 0)]
        check_grid(pairs.space, extents[0], stride)
    check_averaging(given["averaging"], pairs.space, stride)
    wanted = not extents or given["context"] == "auto"
    near = {extents[0]: 0.0} if extents else {}
    if wanted:
        told = {"position": position, "potential": potential}
        near = choices.rank_extents(probe, stride, mean, extents, **told)
        if given["potential"] == "auto" and why:
            reasons["potential"] = why
        elif given["potential"] == "auto":
            potential, reasons["potential"], near = choices.find_potential(
                probe, near, stride, mean, position
            )
        symmetric = isinstance(given["symmetry"], Group) and len(given["symmetry"]) > 1
        if given["context"] == "auto" and symmetric:
            reasons["context"] = "a symmetry was given, which position would break"
        elif given["context"] == "auto":
            position, reasons["context"], near = choices.find_position(
                probe, near, stride, mean, potential
            )
    extent = per_axis("extent", next(iter(near)), dimension, 0)
    check_grid(pairs.space, extent, stride)

    def find_symmetry():
        if any(position):
            return trivial(dimension, ("scalar",) * channels), "position breaks every symmetry"
        return choices.find_symmetry(probe, extent, stride, mean, potential)

    group = settle("symmetry", given["symmetry"], find_symmetry)
    group = trivial(dimension, ("scalar",) * channels) if group is None else group
    for name, checked in (("symmetry", group), ("averaging", given["averaging"])):
        if checked is None:
            continue
        if (checked.dimension, checked.channels) != (dimension, channels):
            raise ValueError(
                f"{name}: expected a group that acts on {channels} channel(s) in {dimension} "
                f"dimension(s), got one for {checked.channels} in {checked.dimension}"
            )
        refused = [
            e
            for e in checked.elements
            if not choices.respects(e, probe.boundary, checked.fields, probe.fill)
        ]
        if refused:
            raise ValueError(
                f"{name}: {len(refused)} of {len(checked)} elements do not leave the boundary "
                f"{probe.boundary!r} as it is; give a group without them, or None"
            )
        if any(position) and len(checked) > 1:
            raise ValueError(f"{name}: position breaks every symmetry; give context=0 or no group")

    # A grid that the stride does not divide is cut into other blocks when it is turned.
    exact = group.is_closed and not any(surplus(pairs.space, stride))
    equivariant = given["equivariant"] and exact and given["hidden"] != 0

    count = len(pairs) * min(pairs.cells, given["windows"] or pairs.cells)
    blocks = int(np.prod([-(-n // step) for n, step in zip(pairs.space, stride, strict=True)]))
    hidden = settle("hidden", given["hidden"], lambda: find_hidden(count, group, equivariant, blocks))
    if equivariant:  # units come in whole orbits
        hidden = max(1, round(hidden / len(group))) * len(group)
    whole = Plan(
        extent=extent,
        stride=stride,
        hidden=int(hidden),
        activation=given["activation"],
        weights=given["weights"],
        gain=float(settle("gain", given["gain"], lambda: (1.0, "that of the paper"))),
        noise=given["noise"] if given["noise"] == "auto" else float(given["noise"]),
        noise_form="floor" if given["noise_form"] == "auto" else given["noise_form"],
        rank=None if given["rank"] == "auto" else given["rank"],
        symmetry=group,
        equivariant=bool(equivariant),
        context=position,
        potential=potential,
        mean=mean,
        seed=given["seed"],
        reasons=reasons,
    )
    if given["extent"] != "auto" or not whole.hidden:
        return [whole]
    windows = choices.list_windows(pairs.space, stride, channels, list(near))
    if given["rank"] != "auto":
        windows = dict.fromkeys((extent, given["rank"]) for extent, _ in windows)
    return [replace(whole, extent=(e,) * dimension, rank=rank) for e, rank in windows]

"""The goals of speed as ratios within one run, and whether they are met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

MEGABYTE = 1e6

FORMS = {
    "symmetric": "with the square's symmetries",
    "floor": "no symmetry",
    "sampled": "no symmetry, sampled noise",
}


@dataclass(frozen=True)
class Bar:
    """A goal beside what was measured; `above` says on which side of it is good."""

    what: str
    goal: float
    measured: float
    above: bool = False
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.measured >= self.goal if self.above else self.measured <= self.goal

    def row(self) -> tuple[str, str, str, str]:
        side = "≥" if self.above else "≤"
        verdict = "met" if self.met else "MISSED"
        return self.what, f"{side} {self.goal:.3g} {self.unit}", f"{self.measured:.3g}", verdict


def bars(found: dict[str, Any]) -> list[Bar]:
    """All of them; those of torch only where it was there."""
    return [*_steps(found), *_training(found), *_growth(found), *_rest(found)]


def _steps(found) -> Iterator[Bar]:
    # As a fit makes it: with the symmetry, and the window basis where a size has one.
    quick = {
        name: {dtype: one["symmetric"] for dtype, one in both.items()}
        for name, both in found["steps"].items()
    }
    for name in [name for name in ("ks-2d", "ch-2d") if name in quick]:
        for dtype, goal in (("float32", 1.2), ("float64", 1.4)):
            if dtype not in found["peak"]:
                continue
            limit = found["steps"][name][dtype]["operations"] / found["peak"][dtype]["best"]
            what = f"step of {name}, {dtype}, against its products at peak"
            yield Bar(what, goal, quick[name][dtype] / limit)
    for name, dtype, goal in (
        ("ks-1d", "float32", 4.0), ("ks-1d", "float64", 2.0), ("ks-2d", "float32", 4.0)
    ):  # fmt: skip
        if dtype not in found["peak"]:
            continue
        ratio = found["steps"][name][dtype]["solver"] / quick[name][dtype]
        yield Bar(f"step of {name}, {dtype}, faster than the solver's", goal, ratio, above=True)
    for name, both in found["steps"].items():
        if (slow := both["float64"].get("obvious torch")) is not None:
            what = f"step of {name}, faster than the paper's method in torch"
            for dtype in both:
                yield Bar(f"{what}, ours in {dtype}", 6.0, slow / quick[name][dtype], above=True)


def _training(found) -> Iterator[Bar]:
    one = found["training"]
    # A symmetric update of rows × columns²: half the operations of a general product.
    limit = one["rows"] * one["columns"] ** 2 / found["peak"]["float64"]["best"]
    for form, words in FORMS.items():
        yield Bar(
            f"fit of one 256² pair, {words}, against its update at peak", 4.0, one[form] / limit
        )


def _growth(found) -> Iterator[Bar]:
    for dtype in found["peak"]:
        lines = [line for line in found["growth"]["cells"] if line["dtype"] == dtype]
        large = [line for line in lines if line["points"] >= 256] or lines
        each = [line["seconds"] / line["cells"] for line in large]
        what = f"time a cell from 256² on, {dtype}, largest over smallest"
        yield Bar(what, 1.25, max(each) / min(each))
        last = lines[-1]
        goal = (12 * last["field"] + 200 * MEGABYTE) / MEGABYTE
        what = f"peak memory at {last['points']}², {dtype}"
        whole, above = last["memory"] / MEGABYTE, (last["memory"] - last["before"]) / MEGABYTE
        yield Bar(f"{what}, JAX and Python included", goal, whole, unit="MB")
        yield Bar(f"{what}, above what importing takes", goal, above, unit="MB")


def _rest(found) -> Iterator[Bar]:
    points = found["cube"]["points"]
    yield Bar(f"peak memory in 3-D, {points}³", 2000, found["cube"]["memory"] / MEGABYTE, unit="MB")
    for dtype in found["peak"]:
        one = found["gradient"][dtype]
        what = f"gradient through {found['gradient']['steps']} steps, 1-D, {dtype}"
        yield Bar(f"{what}, against the steps", 5.0, one["gradient"] / one["forward"])
    for name, both in found["starting"]["compile"].items():
        yield Bar(f"first call of {name}", 3.0, max(both.values()), unit="s")


def slope(found: dict[str, Any], dtype: str = "float32") -> float:
    """Exponent with which the time of a step grows with the cells."""
    lines = [line for line in found["growth"]["cells"] if line["dtype"] == dtype]
    if len(lines) < 2:
        return float("nan")
    cells, seconds = ([line[key] for line in lines] for key in ("cells", "seconds"))
    return float(np.polyfit(np.log(cells), np.log(seconds), 1)[0])

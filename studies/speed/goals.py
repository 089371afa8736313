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
class Goal:
    """A limit beside what was measured; `above` says on which side of it is good."""

    what: str
    limit: float
    measured: float
    above: bool = False
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.measured >= self.limit if self.above else self.measured <= self.limit

    def row(self) -> tuple[str, str, str, str]:
        side = "≥" if self.above else "≤"
        verdict = "met" if self.met else "MISSED"
        return self.what, f"{side} {self.limit:.3g} {self.unit}", f"{self.measured:.3g}", verdict


def goals(results: dict[str, Any]) -> list[Goal]:
    """All of them; those of torch only where it was there."""
    return [*_steps(results), *_training(results), *_growth(results), *_rest(results)]


def _steps(results) -> Iterator[Goal]:
    # As a fit makes it: with the symmetry, and the window basis where a size has one.
    quick = {
        name: {dtype: one["symmetric"] for dtype, one in both.items()}
        for name, both in results["steps"].items()
    }
    for name in [name for name in ("ks-2d", "ch-2d") if name in quick]:
        for dtype, goal in (("float32", 1.2), ("float64", 1.4)):
            if dtype not in results["peak"]:
                continue
            limit = results["steps"][name][dtype]["operations"] / results["peak"][dtype]["best"]
            what = f"step of {name}, {dtype}, against its products at peak"
            yield Goal(what, goal, quick[name][dtype] / limit)
    for name, dtype, goal in (
        ("ks-1d", "float32", 4.0), ("ks-1d", "float64", 2.0), ("ks-2d", "float32", 4.0)
    ):  # fmt: skip
        if dtype not in results["peak"]:
            continue
        ratio = results["steps"][name][dtype]["solver"] / quick[name][dtype]
        yield Goal(f"step of {name}, {dtype}, faster than the solver's", goal, ratio, above=True)
    for name, both in results["steps"].items():
        if (slow := both["float64"].get("obvious torch")) is not None:
            what = f"step of {name}, faster than the paper's method in torch"
            for dtype in both:
                yield Goal(f"{what}, ours in {dtype}", 6.0, slow / quick[name][dtype], above=True)


def _training(results) -> Iterator[Goal]:
    one = results["training"]
    # A symmetric update of rows × columns²: half the operations of a general product.
    limit = one["rows"] * one["columns"] ** 2 / results["peak"]["float64"]["best"]
    for form, words in FORMS.items():
        yield Goal(
            f"fit of one 256² pair, {words}, against its update at peak", 4.0, one[form] / limit
        )


def _growth(results) -> Iterator[Goal]:
    for dtype in results["peak"]:
        lines = [line for line in results["growth"]["cells"] if line["dtype"] == dtype]
        large = [line for line in lines if line["points"] >= 256] or lines
        each = [line["seconds"] / line["cells"] for line in large]
        what = f"time a cell from 256² on, {dtype}, largest over smallest"
        yield Goal(what, 1.25, max(each) / min(each))
        last = lines[-1]
        limit = memory_limit(last["field"])
        what = f"peak memory at {last['points']}², {dtype}"
        whole, above = last["memory"] / MEGABYTE, (last["memory"] - last["before"]) / MEGABYTE
        yield Goal(f"{what}, JAX and Python included", limit, whole, unit="MB")
        yield Goal(f"{what}, above what importing takes", limit, above, unit="MB")


def memory_limit(field: float) -> float:
    """Megabytes that a step may need on a field of so many bytes."""
    return 12 * field / MEGABYTE + 200


def _rest(results) -> Iterator[Goal]:
    points = results["cube"]["points"]
    yield Goal(
        f"peak memory in 3-D, {points}³", 2000, results["cube"]["memory"] / MEGABYTE, unit="MB"
    )
    for dtype in results["peak"]:
        one = results["gradient"][dtype]
        what = f"gradient through {results['gradient']['steps']} steps, 1-D, {dtype}"
        yield Goal(f"{what}, against the steps", 5.0, one["gradient"] / one["forward"])
    for name, both in results["starting"]["compile"].items():
        yield Goal(f"first call of {name}", 3.0, max(both.values()), unit="s")


def slope(results: dict[str, Any], dtype: str = "float32") -> float:
    """Exponent with which the time of a step grows with the cells."""
    lines = [line for line in results["growth"]["cells"] if line["dtype"] == dtype]
    if len(lines) < 2:
        return float("nan")
    cells, seconds = ([line[key] for line in lines] for key in ("cells", "seconds"))
    return float(np.polyfit(np.log(cells), np.log(seconds), 1)[0])

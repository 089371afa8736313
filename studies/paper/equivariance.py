"""The equations themselves: does the solver commute with every element of their groups?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from onesnap.equations.catalogue import System
from onesnap.equations.simulate import simulate
from onesnap.symmetry.groups import Element, Group, full

from . import figures
from .shelf import Shelf
from .study import Result, Scale, Study

NAMES = ("ks-1d", "ks-2d", "ch-2d")
STEPS, MOST_POINTS = 20, 128
ROUND_OFF = 1e-9  # what round-off may grow to in these steps


@dataclass(frozen=True)
class Case:
    """A system, a state of it, and the elements to try; the last may be none of its symmetries."""

    system: System
    group: Group


def make_data(scale: Scale) -> list[Case]:
    cases = []
    for name in NAMES:
        system = scale.system(name)
        if system.dimension == 2:
            points = min(system.points, MOST_POINTS)
            length = system.length * points / system.points
            system = system.replace(points=points, length=length)
        cases.append(Case(system, system.symmetry))
    # The reflection without the sign is no symmetry of 1-D KS: the check can fail.
    return [*cases, Case(cases[0].system, full(1, ("scalar",)))]


def defects(system: System, group: Group, steps: int = STEPS) -> np.ndarray:
    """Largest |solver(g u) − g solver(u)| over largest |u|, for every element."""
    state = simulate(system, steps=0, seed=0, spin_up=min(system.spin_up, 10.0))[0]

    def solve(start: np.ndarray) -> np.ndarray:
        return simulate(system, start=start, steps=1, every=steps)[1]

    after = solve(state)
    gaps = [
        np.max(np.abs(solve(group.act(element, state)) - group.act(element, after)))
        for element in group.elements
    ]
    return np.array(gaps) / np.max(np.abs(state))


def describe_element(element: Element, fields=()) -> str:
    """An element in words, such as (x, y) → (−y, x), u → −u."""
    names = "xyz"[: element.dimension]
    moved = ", ".join(
        f"{'−' if flip else ''}{names[axis]}"
        for axis, flip in zip(element.axes, element.flips, strict=True)
    )
    sign = element.channel_matrix(fields or ("scalar",)).min() < 0
    return f"({', '.join(names)}) → ({moved})" + (", u → −u" if sign else "")


def run(cases: list[Case], scale: Scale, shelf: Shelf) -> Result:
    shelf.expect(len(cases))
    gaps_of = [
        shelf.get(f"case-{i}", lambda c=case: {"gap": defects(c.system, c.group)})["gap"]
        for i, case in enumerate(cases)
    ]
    rows = [
        (
            f"{case.system.name}: {describe_element(element, case.group.fields)}",
            f"{gap:.1e}",
            "yes" if gap < ROUND_OFF else "no",
        )
        for case, gaps in zip(cases, gaps_of, strict=True)
        for element, gap in zip(case.group.elements, gaps, strict=True)
    ]
    result = Result()
    result.settings = [
        ("state", "on the attractor, or in the separated regime"),
        ("solver", f"{STEPS} steps in float64, on at most {MOST_POINTS}² points"),
    ]
    header = ("element", "largest |solver(g u) − g solver(u)| / |u|", "a symmetry")
    result.tables.append((header, rows))
    by_label = dict(zip([*NAMES, "ks-1d, no sign"], gaps_of, strict=True))
    result.numbers = by_label
    result.figures["defects"] = (
        figures.defects(by_label, ROUND_OFF),
        "How far the solver is from commuting with each element. Dots below the dashed line are "
        "round-off; the last row is a reflection that is no symmetry.",
    )
    fine = sum(gap < ROUND_OFF for gaps in gaps_of[:-1] for gap in gaps)
    result.words = [
        f"The appendix proves it for the equations; the solver obeys it too: {fine} of "
        f"{sum(map(len, gaps_of[:-1]))} elements commute with it to round-off. Beyond the paper: "
        "Cahn-Hilliard also allows u → −u, and 1-D Kuramoto-Sivashinsky the reflection "
        "u(x) → −u(−x). Without its sign that reflection is none, and the check shows it.",
    ]
    return result


STUDY = Study(
    "equivariance",
    "Equivariance of the equations",
    "Does solving a moved state give the moved solution?",
    make_data,
    run,
)

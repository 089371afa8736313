"""What each ingredient brings: the default, and the default with one of them switched off.

Cases are systems of the catalogue, unseen ones, and cut-outs with open edges. An ingredient is
switched off by settings of `Surrogate`; where the installed version has no such setting, or refuses
the value, the table says "not available".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

import onesnap as snap

from .edges import PLANES, make_cut_exam
from .equations import unseen
from .judging import Exam, compare, judge, make_exam, make_trajectories
from .output import tell, wide
from .store import Store

COUNT = 5  # pairs
MISSING = "not available"


class Variant(NamedTuple):
    """Settings that switch something off; `edges` where it is about open edges."""

    settings: Mapping[str, Any]
    edges: bool = False


class Case(NamedTuple):
    """How to make the data, and what every variant is given."""

    exam: Callable[[], Exam]
    settings: Mapping[str, Any]


VARIANTS: Mapping[str, Variant] = {
    "default": Variant({}),
    "no nested family": Variant({"shrinkage": None}),
    "no surroundings": Variant({"surroundings": ()}),
    "no symmetry": Variant({"symmetry": None}),
    "walls for open edges": Variant({"boundary": "wall"}, edges=True),
}
CATALOGUED = ("ks-1d", "burgers-1d", "kdv-1d", "allen-cahn-2d", "gray-scott-2d")
UNSEEN = (
    "advection-diffusion-1d", "fisher-1d", "sine-gordon-1d", "fitzhugh-nagumo-1d",
    "acoustics-2d", "shallow-water-2d", "shear-2d",
)  # fmt: skip


def _whole(system: snap.System, count: int) -> Exam:
    return make_exam(make_trajectories(system), count)


def make_cases(count: int = COUNT) -> dict[str, Case]:
    """Periodic systems, and cut-outs whose edges are open."""
    systems = {name: snap.systems[name] for name in CATALOGUED} | {n: unseen[n] for n in UNSEEN}
    cases = {name: Case(cache(partial(_whole, each, count)), {}) for name, each in systems.items()}
    for name, plane in PLANES.items():
        exam = cache(partial(make_cut_exam, plane, count))
        cases[f"{name}, cut out"] = Case(exam, {"boundary": "open"})
    return cases


def measure(case: Case, variant: Variant, layer: int, steps: int) -> dict[str, Any]:
    """One model, or why there is none."""
    changes = dict(variant.settings)
    if unknown := set(changes) - set(snap.Surrogate().get_params()):
        return {"missing": f"no setting {', '.join(sorted(unknown))}"}
    row = judge(case.exam(), {**case.settings, **changes, "seed": layer}, steps)
    refused = row.get("failed", "").startswith(("ValueError", "TypeError"))
    return {"missing": row["failed"]} if refused and changes else row


def summarise(rows: list[dict[str, Any]], base: float | None) -> dict[str, Any]:
    """Over layers; `ratio` is to the default."""
    if any("missing" in row for row in rows):
        return {"missing": next(row["missing"] for row in rows if "missing" in row)}
    error = float(np.mean([row["error"] for row in rows]))
    return {
        "error": error,
        "ratio": 1.0 if base is None else compare(error, base),
        "diverged": sum(row.get("diverged at") is not None for row in rows),
        "failed": sum("failed" in row for row in rows),
    }


def show(cell: Mapping[str, Any] | None) -> str:
    if cell is None:
        return "–"
    if "missing" in cell:
        return MISSING
    ended = f", {cell['diverged']} diverged" if cell["diverged"] else ""
    failed = f", {cell['failed']} failed" if cell["failed"] else ""
    return f"{cell['error']:.3g} (x {cell['ratio']:.3g}{ended}{failed})"


def ablation(
    layers: int,
    store: Store | None = None,
    cases: Mapping[str, Case] | None = None,
    steps: int = 1000,
) -> dict:
    """Error over persistence of every case and variant, and how many times the default's."""
    store, cases = store or Store(), cases or make_cases()
    title = "error over persistence (times that of the default)"
    table = Table("case", *VARIANTS, title=title)
    results: dict[str, dict[str, Any]] = {}
    for name, case in cases.items():
        of_case: dict[str, Any] = {}
        for label, variant in VARIANTS.items():
            if variant.edges and case.settings.get("boundary") != "open":
                continue
            rows = [
                store.row(f"{name}, {label}, {k}", partial(measure, case, variant, k, steps))
                for k in range(layers)
            ]
            base = of_case["default"]["error"] if "default" in of_case else None
            of_case[label] = summarise(rows, base)
            tell(name, layers - 1, label, show(of_case[label]))
        results[name] = of_case
        table.add_row(name, *(show(of_case.get(label)) for label in VARIANTS))
    wide.print(table)
    return results

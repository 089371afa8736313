"""Results of the benchmarks as rows of words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .goals import FORMS, goals, slope
from .pareto import front

Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]  # header and rows


def speed_tables(results: dict[str, Any]) -> dict[str, Rows]:
    """Title -> table."""
    return {
        "steps": (("size", "precision", "what", "ms", "over the limit"), list(_steps(results))),
        "everything else": (("what", "measured"), list(_rest(results))),
        "goals": (("what", "goal", "measured", ""), [goal.row() for goal in goals(results)]),
    }


def _steps(results) -> Iterator[tuple[str, ...]]:
    for name, both in results["steps"].items():
        for dtype, one in both.items():
            limit = one["operations"] / results["peak"][dtype]["best"]
            yield name, dtype, "limit: two products at peak", f"{1e3 * limit:.4g}", "1"
            for key, value in one.items():
                if key not in ("operations", "cells"):
                    yield name, dtype, key, f"{1e3 * value:.4g}", f"{value / limit:.3g}"


def _rest(results) -> Iterator[tuple[str, str]]:
    for dtype, one in results["peak"].items():
        ways = ", ".join(f"{way} {rate / 1e9:.0f}" for way, rate in one.items())
        yield f"matrix products, {dtype}, GFLOP/s", ways
    for form, words in FORMS.items():
        yield f"fit, {words}", f"{results['training'][form]:.3g} s"
    for line in results["growth"]["cells"]:
        each = f"{1e9 * line['seconds'] / line['cells']:.3g} ns a cell"
        yield f"{line['points']}², {line['dtype']}", f"{each}, peak {line['memory'] / 1e6:.0f} MB"
    yield "exponent of time over cells, float32", f"{slope(results):.3g}"
    for line in results["growth"]["hidden"]:
        yield f"hidden {line['hidden']}, 2-D, float32", f"{1e3 * line['seconds']:.3g} ms a step"
    for line in results["growth"]["batch"]:
        each = 1e6 * line["seconds"] / line["batch"]
        yield f"batch {line['batch']}, 1-D, float32", f"{each:.3g} µs a step and state"
    for name, both in results["starting"]["compile"].items():
        yield f"compile {name}", ", ".join(f"{k} {v:.2g} s" for k, v in both.items())
    if "import" in results["starting"]:
        yield "import onesnap", f"{results['starting']['import']:.2g} s"
    cube = results["cube"]
    yield f"{cube['points']}³", f"{cube['seconds']:.3g} s a step, peak {cube['memory'] / 1e6:.0f} MB"
    for dtype in results["peak"]:
        one = results["gradient"][dtype]
        ratio, memory = one["gradient"] / one["forward"], one["memory"] / 1e6
        words = f"{ratio:.3g} × the steps alone, {memory:.3g} MB"
        yield f"gradient through {results['gradient']['steps']} steps, {dtype}", words


def pareto_tables(results: dict[str, Any]) -> dict[str, Rows]:
    """For every system, what nothing cheaper of its own kind beats."""
    header = ("kind", "settings", "precision", "ms a time unit", "RSE at horizon, %", "valid time")
    tables = {}
    for name, one in results.items():
        rows = []
        for kind in ("surrogate", "solver"):
            points = [p for p in one["points"] if p["kind"] == kind]
            # By either measure; a point may be on both fronts.
            chosen = {id(p): p for key in ("error", "valid") for p in front(points, key)}
            for p in sorted(chosen.values(), key=lambda p: p["cost"]):
                error = "blown up" if p["error"] is None else f"{p['error']:.3g}"
                figures = f"{1e3 * p['cost']:.3g}", error, f"{p['valid']:.3g}"
                rows.append((kind, p["label"], p["dtype"], *figures))
        tables[f"{name}, horizon {one['horizon']:g}"] = (header, rows)
    return tables

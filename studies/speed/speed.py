"""Speed against the limit of the machine: every part in one run, because machines differ.

`run` returns plain numbers, seconds and bytes; `goals` turns them into verdicts.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from onesnap.equations.catalogue import systems
from onesnap.model.rollout import trajectory
from onesnap.network.assemble import Network
from onesnap.network.features import ACTIVATIONS
from onesnap.surrogate import Surrogate
from onesnap.symmetry.groups import full

from ..progress import Progress, silent
from .cases import CUBE, PAPER, SMALL, Case, obvious_jax, obvious_torch
from .children import TASKS
from .timing import DTYPES, best, cast, child, machine, peak, repeated


@dataclass(frozen=True)
class Sizes:
    """How much of it is done."""

    cases: tuple[Case, ...]
    grids: tuple[int, ...]
    hidden: tuple[int, ...]
    batches: tuple[int, ...]
    cube: Case
    products: tuple[int, ...]
    gradient_steps: int
    training_points: int
    seconds: float  # for which each thing is repeated
    dtypes: tuple[str, ...] = DTYPES
    parts: bool = True  # where the time of a step goes
    apart: bool = True  # grids in processes of their own, whose peaks of memory are their own


FULL = Sizes(
    PAPER, (64, 128, 256, 512, 1024, 2048), (75, 150, 300, 600, 1200), (1, 4, 16, 64), CUBE,
    (512, 1024, 2048), 200, 256, 1.0,
)  # fmt: skip
QUICK = Sizes(
    SMALL[:2], (16,), (10,), (2,), replace(CUBE, points=16, hidden=10, rank=8), (64,), 10, 32, 0.01,
    dtypes=("float64",), parts=False, apart=False,
)  # fmt: skip


def run(sizes: Sizes = FULL, progress: Progress = silent) -> dict[str, Any]:
    """Every measurement, one after the other."""
    results: dict[str, Any] = {"machine": machine(), "peak": {}}
    results["sizes"] = "full" if sizes is FULL else "quick"
    for place, dtype in enumerate(sizes.dtypes):
        progress("peak", place, len(sizes.dtypes))
        with jax.enable_x64(dtype == "float64"):
            results["peak"][dtype] = peak(dtype, sizes.products, 2 * sizes.seconds)
    progress("peak", len(sizes.dtypes), len(sizes.dtypes))
    for name, part in PARTS.items():
        progress(name, 0, 1)
        results[name] = part(sizes, lambda done, total, name=name: progress(name, done, total))
        progress(name, 1, 1)
    return results


def steps(sizes: Sizes, tell) -> dict[str, Any]:
    """Our step and its parts, the solver's, and the paper's method the obvious way."""
    measured: dict[str, Any] = {}
    jobs = [(case, dtype) for case in sizes.cases for dtype in sizes.dtypes]
    for place, (case, dtype) in enumerate(jobs):
        tell(place, len(jobs))
        with jax.enable_x64(dtype == "float64"):
            measured.setdefault(case.name, {})[dtype] = _steps(case, dtype, sizes)
    return measured


def _steps(case: Case, dtype: str, sizes: Sizes) -> dict[str, Any]:
    count, seconds = max(2, 2000 // max(1, case.windows // 8)), sizes.seconds
    state = jnp.asarray(case.state(dtype))
    measured: dict[str, Any] = {"operations": case.operations, "cells": state.size}
    for name in ("plain", "basis", "symmetric"):
        if name == "basis" and case.rank is None:
            continue
        stepper = case.stepper(basis=name != "plain", symmetric=name == "symmetric")
        stepper = cast(stepper, dtype)
        measured[name] = repeated(stepper, state, count, seconds)
        if not sizes.parts:
            continue
        rollout = jax.jit(lambda u, stepper=stepper: trajectory(stepper, u, 1, count)[0])
        measured[f"{name}, with status"] = best(partial(rollout, state), seconds) / count
        if name == "symmetric":
            continue  # its products are smaller, and no function of JAX has them
        for part, activation in (("products", "linear"), ("and activation", "squareplus")):
            z = jnp.asarray(np.random.default_rng(0).random((case.windows, case.cells)), dtype)
            core = _core(stepper.network, ACTIVATIONS[activation])
            measured[f"{name}, {part}"] = repeated(core, z, count, seconds)
    with jax.enable_x64(dtype == "float64"):
        measured["solver"] = repeated(case.solver(), 0.1 * state, count, seconds)
    if dtype == "float64":
        step, start = obvious_jax(case)
        measured["obvious jax"] = best(lambda: step(start), seconds)
        if (torch := obvious_torch(case)) is not None:
            measured["obvious torch"] = best(lambda: torch[0](torch[1]), seconds)
    return measured


def _core(network: Network, activation: Callable) -> Callable:
    """The two products and what is between them, on windows that are cut already."""

    def block(cells):
        arguments = network.features.arguments(cells, cells[:, :0])
        return jnp.max(activation(arguments) @ network.readout)

    def core(windows):
        most = network.windows_at_once(windows.dtype.itemsize)
        count = max(1, -(-len(windows) // most))
        while len(windows) % count:
            count += 1
        largest = jax.lax.map(block, windows.reshape(count, -1, windows.shape[-1]))
        return windows.at[0, 0].set(jnp.max(largest))  # so that every turn needs the one before

    return core


def training(sizes: Sizes, tell) -> dict[str, Any]:
    """A fit to all windows of one pair, and the rank-k update of as many rows."""
    case = next(case for case in sizes.cases if case.name == "ks-2d")
    system = systems["ks-2d"].replace(points=sizes.training_points, substeps=1)
    with jax.enable_x64(True):
        step, state = system.stepper(), jnp.asarray(system.initial(0))
        warm = jax.jit(lambda u: jax.lax.fori_loop(0, 100, lambda _, u: step(u), u))
        state = warm(state)
        before, after = np.asarray(state)[None], np.asarray(step(state))[None]
    settings = {"extent": case.extent, "stride": case.stride, "hidden": case.hidden, "noise": 1e-4}
    settings |= {"symmetry": None, "context": 0, "mean": "remove", "rank": None}
    measured: dict[str, Any] = {"rows": before[0].size, "columns": case.hidden + case.outputs}
    forms = {
        "symmetric": {"symmetry": full(2)},  # as Surrogate() does it: all images of all windows
        "floor": {},
        "sampled": {"noise_form": "sampled"},
    }
    for place, (form, more) in enumerate(forms.items()):
        tell(place, len(forms))
        model = Surrogate(**settings | more)
        measured[form] = best(
            lambda model=model: model.fit(before, after).stepper_.network.readout, sizes.seconds
        )
    return measured


def growth(sizes: Sizes, tell) -> dict[str, Any]:
    """Time and memory as the grid, the hidden units and the batch grow."""
    case = next(case for case in sizes.cases if case.name == "ks-2d")
    measured: dict[str, Any] = {"cells": [], "hidden": [], "batch": []}
    jobs = len(sizes.grids) * len(sizes.dtypes) + len(sizes.hidden) + len(sizes.batches)
    done = 0
    for points in sizes.grids:
        for dtype in sizes.dtypes:
            tell(done, jobs)
            count = max(2, 2**18 // points**2)
            asked = {"points": points, "dtype": dtype, "hidden": case.hidden, "steps": count}
            measured["cells"].append({**asked, "cells": points**2, **_grid(asked, sizes)})
            done += 1
    for hidden in sizes.hidden:
        tell(done, jobs)
        wide = replace(case, hidden=hidden)
        stepper, state = wide.stepper(), jnp.asarray(wide.state("float32"))
        measured["hidden"].append(
            {"hidden": hidden, "seconds": repeated(stepper, state, 10, sizes.seconds)}
        )
        done += 1
    line = next(case for case in sizes.cases if case.dimension == 1)
    for batch in sizes.batches:
        tell(done, jobs)
        stepper = jax.vmap(line.stepper())
        states = jnp.asarray(np.stack([line.state("float32", seed) for seed in range(batch)]))
        measured["batch"].append(
            {"batch": batch, "seconds": repeated(stepper, states, 200, sizes.seconds)}
        )
        done += 1
    return measured


def starting(sizes: Sizes, tell) -> dict[str, Any]:
    """Compilation of a forecast at each paper size, and importing."""
    measured: dict[str, Any] = {"compile": {}}
    jobs = [(case, dtype) for case in sizes.cases for dtype in sizes.dtypes]
    for place, (case, dtype) in enumerate(jobs):
        tell(place, len(jobs))
        with jax.enable_x64(dtype == "float64"):
            stepper, state = case.stepper(), jnp.asarray(case.state(dtype))
            begun = time.perf_counter()
            jax.jit(lambda stepper, u: trajectory(stepper, u, 100)).lower(stepper, state).compile()
            measured["compile"].setdefault(case.name, {})[dtype] = time.perf_counter() - begun
    if not sizes.apart:
        return measured
    code = "import time; t = time.perf_counter(); import onesnap; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    times = [float(subprocess.check_output(command)) for _ in range(3)]
    measured["import"] = min(times)
    return measured


def cube(sizes: Sizes, tell) -> dict[str, Any]:
    """Steps of a cube, and their peak of memory."""
    case = sizes.cube
    asked = {"points": case.points, "dimension": 3, "hidden": case.hidden, "extent": case.extent}
    return {"points": case.points, **_grid({**asked, "dtype": "float32", "steps": 2}, sizes)}


def _grid(asked: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    return child("grid", asked) if sizes.apart else TASKS["grid"](**asked)


def gradient(sizes: Sizes, tell) -> dict[str, Any]:
    """A gradient through many steps of a line, against the steps alone."""
    case = next(case for case in sizes.cases if case.dimension == 1)
    measured: dict[str, Any] = {"steps": sizes.gradient_steps}
    for dtype in sizes.dtypes:
        with jax.enable_x64(dtype == "float64"):
            stepper = cast(case.stepper(), dtype)
            state = jnp.asarray(case.state(dtype))

            def loss(u, stepper=stepper):
                return jnp.sum(trajectory(stepper, u, sizes.gradient_steps)[0][-1] ** 2)

            forward, backward = jax.jit(loss), jax.jit(jax.grad(loss))
            measured[dtype] = {
                "forward": best(partial(forward, state), sizes.seconds),
                "gradient": best(partial(backward, state), sizes.seconds),
                "memory": _temporary(backward, state),
            }
    return measured


def _temporary(function: Any, state) -> int:
    """Bytes that a compiled function needs beside its arguments and results."""
    return function.lower(state).compile().memory_analysis().temp_size_in_bytes


PARTS: dict[str, Callable[[Sizes, Any], dict[str, Any]]] = {
    "steps": steps,
    "training": training,
    "growth": growth,
    "starting": starting,
    "cube": cube,
    "gradient": gradient,
}

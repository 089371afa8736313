"""Measuring time: best of several, the peak of the machine, children with their memory."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

DTYPES = ("float32", "float64")


def best(call: Callable[[], Any], seconds: float = 1.0, least: int = 3) -> float:
    """The shortest time of a call after a first one, repeated for about so many seconds.

    The shortest, because other programs only ever make it longer.
    """
    jax.block_until_ready(call())
    times, begun = [], time.perf_counter()
    while len(times) < least or time.perf_counter() - begun < seconds:
        start = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - start)
    return min(times)


def cast(stepper, dtype: str):
    """A stepper whose arrays are JAX's already, so that no call converts them."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype), stepper)


def repeated(step: Callable, state, count: int, seconds: float = 1.0) -> float:
    """Seconds a step takes within a compiled loop of `count` of them."""
    loop = jax.jit(lambda u: jax.lax.fori_loop(0, count, lambda _, u: step(u), u))
    return best(lambda: loop(state), seconds) / count


def peak(dtype: str, sizes=(512, 1024, 2048), seconds: float = 1.0) -> dict[str, float]:
    """Floating-point operations a second of square matrix products, through XLA and through BLAS."""
    rates = {"xla": 0.0, "blas": 0.0}
    multiply = jax.jit(jnp.matmul)
    for size in sizes:
        plain = np.random.default_rng(0).normal(size=(size, size)).astype(dtype)
        held = jnp.asarray(plain)
        for way, call in (
            ("xla", lambda held=held: multiply(held, held)),
            ("blas", lambda plain=plain: plain @ plain),
        ):
            rate = 2 * size**3 / best(call, seconds / len(sizes))
            rates[way] = max(rates[way], rate)
    return {**rates, "best": max(rates.values())}


def machine() -> dict[str, Any]:
    """What a reader has to know about the machine."""
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "numpy": np.__version__,
        "device": jax.devices()[0].platform,
    }


def peak_memory() -> float:
    """Bytes that this process had in memory at most."""
    status = Path("/proc/self/status")
    if status.exists():
        # What getrusage tells of a child includes what its parent held when it was started.
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024.0 * float(lines["VmHWM"].split()[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def child(task: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Run a task of `children` in a process of its own, whose peak is its own."""
    command = [sys.executable, "-m", f"{__package__}.children", task, json.dumps(dict(options))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{task}: the child process failed:\n{result.stderr[-2000:]}")
    return json.loads(result.stdout.splitlines()[-1])

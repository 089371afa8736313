"""Steps and training rows of a window network as native code, where a C++ compiler is at hand.

It is compiled for the processor at its first use, which takes some seconds, and kept in the user's
cache folder (`library`). Without a compiler, on other devices, for other activations, or with
ONESNAP_NATIVE=0 in the environment, JAX, NumPy and SciPy do the same.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from contextvars import ContextVar

import jax
import numpy as np

from ...symmetry.parity import ParityNetwork
from .library import STEP, compiled

# Threads that training rows are dealt to; None for as many as there are cores.
THREADS: ContextVar[int | None] = ContextVar("THREADS", default=None)


def available(activation: str = "squareplus") -> bool:
    """Whether there is native code for a network with this activation."""
    return activation == "squareplus" and compiled().code is not None


def advance(padded, context, network: ParityNetwork, channels: int, extent, stride: Sequence[int]):
    """The field a step later `(channel, *space)` from padded inputs `(channel, *space)`."""
    space = [count * step for count, step in zip(context.shape, stride, strict=False)]
    call = jax.ffi.ffi_call(
        STEP,
        jax.ShapeDtypeStruct((channels, *space), padded.dtype),
        vmap_method="expand_dims",
    )
    *arrays, inputs, outputs = network
    lists = {"extent": extent, "stride": stride, "inputs": inputs, "outputs": outputs}
    numbers = {name: np.array(sizes, np.int64) for name, sizes in lists.items()}
    return call(padded, context, *arrays, **numbers)


def evaluate(features, cells: np.ndarray, context: np.ndarray, slopes: bool):
    """Features and slopes `(row, hidden)` of rows, a row a column in memory; None if not wanted."""
    (values,), steep = spectra(features, cells, context, slopes, np.ones((1, 1)), [1])
    return values, None if steep is None else steep[0]


def spectra(
    features, cells, context, slopes: bool, waves: np.ndarray, sizes: Sequence[int]
) -> tuple[list[np.ndarray], list[np.ndarray] | None]:
    """The same of units in whole orbits, analysed: `(i · row, j · unit)` for each representation.

    `waves` are the functions that do it, `(ρ · i · j, element)`, `sizes` the dimensions of each ρ.
    """
    rows, hidden, (coefficients, elements) = len(cells), features.weights.shape[1], waves.shape
    basis = np.zeros((0, 0)) if features.basis is None else features.basis
    units = hidden // elements
    # Functions on the group side by side: unit by unit, all elements of each.
    order = np.arange(hidden).reshape(elements, units).T.ravel()
    weights, bias = np.asarray(features.weights)[:, order], np.asarray(features.bias)[order]
    starts, pitches, ends = [], [], [0]
    for size in sizes:
        first, pitch = ends[-1], size * rows
        starts += [first + j * units * pitch + i * rows for i in range(size) for j in range(size)]
        pitches += [pitch] * size**2
        ends.append(first + size * units * pitch)
    read = [_plain(array) for array in (cells, context, basis, weights, bias, waves.T)]
    places = [np.array(numbers, np.int64) for numbers in (starts, pitches)]
    values, steep = np.empty(ends[-1]), np.empty(ends[-1]) if slopes else None
    lengths = *cells.shape, context.shape[1], basis.shape[1], hidden, elements, coefficients
    _call("onesnap_features", [*read, *places, values, steep], lengths)

    def split(flat: np.ndarray) -> list[np.ndarray]:
        parts = zip(np.split(flat, ends[1:-1]), sizes, strict=True)
        return [part.reshape(size * units, size * rows).T for part, size in parts]

    return split(values), None if steep is None else split(steep)


def whiten(factor: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """R⁻ᵀ B for a triangular factor R, in the memory of the columns B where that can be."""
    columns = _plain(columns)
    _call("onesnap_whiten", [_plain(factor), columns], columns.shape)
    return columns


def _plain(array) -> np.ndarray:
    return np.ascontiguousarray(array, np.float64)


def _call(name: str, arrays: Sequence[np.ndarray | None], sizes: Sequence[int]) -> None:
    """Call a function of the library with arrays, sizes and the number of threads."""
    pointers = [None if array is None else ctypes.c_void_p(array.ctypes.data) for array in arrays]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    threads = THREADS.get() or cores or 1
    getattr(compiled().code, name)(*pointers, *map(ctypes.c_int64, (*sizes, threads)))

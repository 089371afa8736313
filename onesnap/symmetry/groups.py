"""Finite symmetry groups: signed permutations acting on fields and on windows of fields.

An element g = (axes, flips, sign) moves the cells of a grid by a signed permutation of the axes,
mixes the channels as their field types demand, and may change the sign of the whole field:

    (g u)(x) = sign · ρ(g) u(g⁻¹ x),   ρ = 1 (scalar), det g (pseudoscalar), g itself (vector),
    both (pseudovector); a fixed field moves with the cells, but a sign is not its own.

Translations are not listed here: one network used everywhere is equivariant to them already.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

AnyArray = jax.Array | np.ndarray

FIELD_TYPES = ("scalar", "pseudoscalar", "vector", "pseudovector", "fixed")


@dataclass(frozen=True, order=True)
class Element:
    """One symmetry: new axis i reads old axis `axes[i]`, reversed where `flips[i]`."""

    axes: tuple[int, ...]
    flips: tuple[bool, ...]
    sign: int = 1

    @property
    def dimension(self) -> int:
        return len(self.axes)

    @property
    def matrix(self) -> np.ndarray:
        """The signed permutation matrix that moves positions and vectors."""
        matrix = np.zeros((self.dimension, self.dimension), int)
        for row, (axis, flip) in enumerate(zip(self.axes, self.flips, strict=True)):
            matrix[row, axis] = -1 if flip else 1
        return matrix

    @property
    def determinant(self) -> int:
        return round(np.linalg.det(self.matrix))

    def compose(self, first: Element) -> Element:
        """The element that acts like `first`, then like this one."""
        axes = tuple(first.axes[axis] for axis in self.axes)
        flips = tuple(
            flip != first.flips[axis] for axis, flip in zip(self.axes, self.flips, strict=True)
        )
        return Element(axes, flips, self.sign * first.sign)

    def inverse(self) -> Element:
        axes = tuple(self.axes.index(axis) for axis in range(self.dimension))
        return Element(axes, tuple(self.flips[axis] for axis in axes), self.sign)

    def channel_matrix(self, fields: Sequence[str]) -> np.ndarray:
        """How the element mixes channels, the field's own sign included."""
        blocks = []
        for kind in fields:
            block = self.matrix if kind.endswith("vector") else np.ones((1, 1), int)
            factor = self.determinant if kind.startswith("pseudo") else 1
            blocks.append((self.sign if kind == "fixed" else factor) * block)
        size = sum(len(block) for block in blocks)
        matrix, start = np.zeros((size, size), int), 0
        for block in blocks:
            matrix[start : start + len(block), start : start + len(block)] = block
            start += len(block)
        return self.sign * matrix

    def act(self, state: AnyArray, fields: Sequence[str]) -> Any:
        """Transform a state `(channel, *space)`; NumPy and JAX arrays both work."""
        channels = self.channel_matrix(fields)
        moved = state.transpose(0, *(1 + axis for axis in self.axes))
        moved = moved[(slice(None), *(slice(None, None, -1 if f else None) for f in self.flips))]
        source = np.abs(channels).argmax(axis=1)
        signs = channels[np.arange(len(channels)), source].astype(state.dtype)
        return moved[source] * signs.reshape(-1, *(1,) * self.dimension)


@dataclass(frozen=True)
class Group:
    """A set of elements together with the types of the fields they act on.

    `fields` lists the fields in channel order; a vector takes as many channels as there are axes.
    Any subset of a group is allowed, as the paper uses 1, 2, …, 8 of the square's symmetries;
    `is_closed` tells whether it is a group in the mathematical sense.

    >>> square = snap.symmetry.full(2)
    >>> len(square), square.is_closed, square.fields
    (8, True, ('scalar',))
    """

    elements: tuple[Element, ...]
    fields: tuple[str, ...] = ("scalar",)

    def __post_init__(self):
        unknown = [kind for kind in self.fields if kind not in FIELD_TYPES]
        if unknown or not self.fields:
            raise ValueError(
                f"fields: expected types out of {FIELD_TYPES}, got {self.fields!r}; "
                "write one type a field, a vector counts as one field"
            )
        if not self.elements or len({e.dimension for e in self.elements}) != 1:
            raise ValueError("elements: expected at least one element, all of one dimension")

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def dimension(self) -> int:
        """Axes of space."""
        return self.elements[0].dimension

    @property
    def channels(self) -> int:
        """Channels of a state, vectors counted by their components."""
        return len(self.elements[0].channel_matrix(self.fields))

    @cached_property
    def is_closed(self) -> bool:
        """Whether products of its elements belong to it."""
        members = set(self.elements)
        return all(a.compose(b) in members for a in members for b in members)

    @cached_property
    def products(self) -> np.ndarray:
        """The number of the element a b, `(a, b)`; for a closed group."""
        number = {element: index for index, element in enumerate(self.elements)}
        return np.array([[number[a.compose(b)] for b in self.elements] for a in self.elements])

    @property
    def permutes_axes(self) -> bool:
        """Whether an element swaps axes, which needs equal sides."""
        return any(e.axes != tuple(range(self.dimension)) for e in self.elements)

    def act(self, element: Element, state: AnyArray) -> Any:
        """A state `(channel, *space)` moved by an element.

        >>> mirror = snap.symmetry.full(1, ("vector",))
        >>> mirror.act(mirror.elements[1], np.array([[1.0, 2.0, 3.0]]))
        array([[-3., -2., -1.]])
        """
        return element.act(state, self.fields)

    def subset(self, count: int) -> Group:
        """The first `count` elements, the identity among them.

        >>> len(snap.symmetry.full(2).subset(4))
        4
        """
        if not 1 <= count <= len(self):
            raise ValueError(f"count: expected 1 to {len(self)} elements, got {count}")
        return Group(self.elements[:count], self.fields)

    def on_windows(self, shape: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Actions on flattened windows of `shape = (channel, *space)`.

        Returns `source` and `sign`, both `(element, cell)`: `(g z)[i] = sign[g, i] z[source[g, i]]`.

        >>> source, sign = snap.symmetry.full(1).on_windows((1, 3))
        >>> source
        array([[0, 1, 2],
               [2, 1, 0]])
        """
        if self.permutes_axes and len(set(shape[1:])) != 1:
            raise ValueError(
                f"symmetry: elements that swap axes need windows with equal sides, got {shape[1:]}; "
                "use the same extent and stride on every axis, or a group without rotations"
            )
        # Cell i is tagged with i + 1, so that a sign survives the transformation.
        tags = np.arange(1, 1 + np.prod(shape), dtype=np.int64).reshape(shape)
        moved = np.stack([self.act(element, tags).ravel() for element in self.elements])
        return np.abs(moved) - 1, np.sign(moved).astype(np.int8)


def _signs(elements: Iterable[Element], negation: bool) -> tuple[Element, ...]:
    elements = tuple(elements)
    if not negation:
        return elements
    return elements + tuple(Element(e.axes, e.flips, -1) for e in elements)


def _flips(dimension: int) -> list[tuple[bool, ...]]:
    return list(itertools.product((False, True), repeat=dimension))


def trivial(dimension: int, fields: Sequence[str] = ("scalar",), negation: bool = False) -> Group:
    """Nothing but the identity (and u → -u where `negation`)."""
    identity = Element(tuple(range(dimension)), (False,) * dimension)
    return Group(_signs([identity], negation), tuple(fields))


def reflections(dimension: int, fields: Sequence[str] = ("scalar",), negation: bool = False) -> Group:
    """The 2ᵈ reflections of the axes."""
    axes = tuple(range(dimension))
    return Group(_signs((Element(axes, f) for f in _flips(dimension)), negation), tuple(fields))


def full(dimension: int, fields: Sequence[str] = ("scalar",), negation: bool = False) -> Group:
    """All signed permutations of the axes: 2 in 1-D, 8 (the square) in 2-D, 48 (the cube) in 3-D."""
    elements = (
        Element(axes, flips)
        for axes in itertools.permutations(range(dimension))
        for flips in _flips(dimension)
    )
    return Group(_signs(elements, negation), tuple(fields))


def rotations(dimension: int, fields: Sequence[str] = ("scalar",), negation: bool = False) -> Group:
    """The proper rotations: 1 in 1-D, 4 in 2-D, 24 in 3-D."""
    elements = (e for e in full(dimension).elements if e.determinant == 1)
    return Group(_signs(elements, negation), tuple(fields))

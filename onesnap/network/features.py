"""Random features of windows: the first, untrained layer.

    φ(z) = act(z V W + b),   W and b uniform in ±1/√inputs,

with z the scaled window, V an optional basis of principal window directions, and context values
(position, parameters) as further inputs beside the window. Local units fade away from a place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..grid.windows import AnyArray


@jax.custom_jvp
def squareplus(x):
    """½(x + √(x² + 4)): the shape of softplus for a fraction of the cost, without logarithm.

    Written with a reciprocal root, for which processors have a fast first guess; in float64 the
    square root itself would take twice as long. The slope ½(1 + x / √(x² + 4)) is the same root.
    """
    square = x * x + 4.0
    return 0.5 * (x + square * jax.lax.rsqrt(square))


@squareplus.defjvp
def _squareplus_slope(primals, tangents):
    (x,), (tangent,) = primals, tangents
    square = x * x + 4.0
    root = jax.lax.rsqrt(square)
    return 0.5 * (x + square * root), 0.5 * (1.0 + x * root) * tangent


ACTIVATIONS: dict[str, Callable] = {
    "softplus": jax.nn.softplus,
    "squareplus": squareplus,
    "sin": jnp.sin,
    "tanh": jnp.tanh,
    "linear": lambda x: x,
}
WEIGHTS = ("local", "uniform")
PLACED, SHARE, MIXED = 30, 0.1, 0.1  # units that see position alone, at most; weight in the others
WIDTHS = {1: (2.0, 8.0), 2: (1.2, 5.0), 3: (1.2, 5.0)}  # of local units, in cells


class Features(eqx.Module):
    """Windows `(..., cells)` and context `(..., values)` to features `(..., hidden)`."""

    basis: Float[AnyArray, "cells rank"] | None
    weights: Float[AnyArray, "inputs hidden"]
    bias: Float[AnyArray, " hidden"]
    activation: str = eqx.field(static=True)

    @property
    def hidden(self) -> int:
        return self.weights.shape[1]

    def arguments(self, cells: Float[AnyArray, "... cells"], context: Float[AnyArray, "... values"]):
        """What the activation is applied to."""
        inputs = cells if self.basis is None else cells @ self.basis
        rank = inputs.shape[-1]
        arguments = inputs @ self.weights[:rank] + self.bias
        # Context is a second, thin product: no concatenated copy of the windows is made.
        return arguments + context @ self.weights[rank:] if context.shape[-1] else arguments

    def __call__(self, cells, context):
        return ACTIVATIONS[self.activation](self.arguments(cells, context))

    def with_slopes(self, cells, context):
        """The features and the derivatives of the activation at the same arguments."""
        arguments = self.arguments(cells, context)
        return jax.jvp(ACTIVATIONS[self.activation], (arguments,), (jnp.ones_like(arguments),))

    def reduce(self, basis: np.ndarray) -> Features:
        """The same units, which see only what a window has in the span of a basis."""
        full, cells = self.cell_weights(), len(basis)
        weights = np.concatenate([basis.T @ full[:cells], full[cells:]])
        return Features(basis, weights, self.bias, self.activation)

    def cell_weights(self) -> np.ndarray:
        """The weights as they act on window cells, the basis multiplied out."""
        if self.basis is None:
            return np.asarray(self.weights)
        rank = self.basis.shape[1]
        return np.concatenate([self.basis @ self.weights[:rank], self.weights[rank:]])


def draw_features(
    cells: int,
    context: int,
    hidden: int,
    activation: str,
    seed: int,
    window: Sequence[int] | None = None,
    gain: float = 1.0,
    position: int = 0,
    boxes: Sequence[int] = (0,),
) -> Features:
    """Draw the random layer as the paper does.

    With the shape `(channels, *sides)` of a window, units are local: the weights of each fade away
    from a place in it. Of the context, surroundings of the shape `(levels, channels, *boxes)` come
    first; then `position` values, which count little but in units of their own. `gain` multiplies
    all weights of inputs.
    """
    if activation not in ACTIVATIONS:
        raise ValueError(f"activation: expected one of {sorted(ACTIVATIONS)}, got {activation!r}")
    inputs = cells + context
    random = np.random.default_rng(seed)
    bound = 1 / np.sqrt(inputs)
    weights = gain * random.uniform(-bound, bound, (inputs, hidden))
    bias = random.uniform(-bound, bound, hidden)
    if window is not None and hidden:
        weights[:cells] *= _places(window, hidden, random)
        around = int(np.prod(boxes))
        if around:
            _balance(weights, cells, boxes, random)
        _set_apart(weights, cells + around, position)
    return Features(None, weights, bias, activation)


def _balance(weights: np.ndarray, cells: int, boxes: Sequence[int], random) -> None:
    """Units see a few boxes of each level as well, and of these in all as much as of the cells.

    Then a unit can combine neighbouring cells with what is on its way to them from afar.
    """
    levels, *level = boxes
    around = int(np.prod(boxes))
    bumps = [_places(level, len(weights[0]), random) for _ in range(levels)]
    share = len(weights) / 2  # squares of all weights stay what they would be without surroundings
    weights[cells : cells + around] *= np.concatenate(bumps) * np.sqrt(share / around)
    weights[:cells] *= np.sqrt(share / cells)


def _set_apart(weights: np.ndarray, cells: int, position: int) -> None:
    """Some units see the position alone, the others see little of it.

    What place does to an equation is a force that adds to the rest, and a small change of what the
    rest does. Units that mix both evenly can say the one only by cancelling the other.
    """
    place = slice(cells, cells + position)
    alone = min(PLACED, int(SHARE * weights.shape[1])) if position else 0
    weights[place, alone:] *= MIXED
    weights[place, :alone] *= 2 * np.sqrt(len(weights) / max(1, position))
    weights[:cells, :alone] = 0.0
    weights[cells + position :, :alone] = 0.0


def _places(window: Sequence[int], hidden: int, random: np.random.Generator) -> np.ndarray:
    """How much of each window cell each unit sees: a bump of random centre and width.

    Equations are local: nearby cells act on each other, and units that mix cells far apart are
    spent on products that never occur. A bump keeps the mean square of the weights.
    """
    channels, *sides = window
    low, high = np.log(WIDTHS[len(sides)])
    widths = np.exp(random.uniform(low, high, hidden))
    bumps = np.ones((1, hidden))
    for side in sides:
        centres = random.uniform(0, side - 1, hidden)
        along = np.exp(-0.5 * ((np.arange(side)[:, None] - centres) / widths) ** 2)
        bumps = (bumps[:, None] * along).reshape(-1, hidden)
    bumps = np.tile(bumps, (channels, 1))
    return bumps / np.sqrt(np.mean(bumps**2, axis=0))

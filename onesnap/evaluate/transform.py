"""The ensemble transform: weights of members from observations, and what they say of times before."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Float

from ..grid.windows import AnyArray
from .localisation import Local, gather


def combine(
    local: Local, apart: Float[AnyArray, "times N C ..."], off: Float[AnyArray, "times C ..."], wide
) -> tuple[Float[AnyArray, "... N N"], Float[AnyArray, "... N N"]]:
    """The weights T of each node, whose columns sum to one, and how much less members know before.

    The variance of what was not seen stays, that of what was seen well is `wide` times as much: λ
    in between for each direction of the ensemble. The second is 1/λ.
    """
    members = apart.shape[1]
    both = jnp.concatenate([apart, off[:, None]], axis=1)
    both = jnp.moveaxis(both, 1, 2)  # (times, C, N + 1, *space)
    sums = gather(local, both.reshape(-1, *both.shape[2:]))
    within, towards = sums[..., :members, :members], sums[..., :members, members:]
    seen, vectors = jnp.linalg.eigh(within)
    seen = jnp.maximum(seen, 0.0)[..., None, :]
    less = 1 / (1 + (wide - 1) * seen / (members - 1 + seen))
    values = (members - 1) * less + seen
    turned = jnp.swapaxes(vectors, -1, -2)
    root = (vectors * jnp.sqrt((members - 1) / values)) @ turned
    return root + (vectors / values) @ (turned @ towards), (vectors * less) @ turned


def recall(
    weights: Float[AnyArray, "... N N"], less: Float[AnyArray, "... N N"]
) -> Float[AnyArray, "... N N"]:
    """What weights of members say of those a step before: `less`, as far as the model errs.

    The recursion of Rauch, Tung and Striebel: with variances of a forecast λ times what members had,
    what revises it revises them by 1/λ, and of their covariance 1 − 1/λ stays as it was.
    """
    members, turned = weights.shape[-1], less @ weights
    towards = turned.mean(axis=-1, keepdims=True) - 1 / members
    root = turned - towards
    square = jnp.eye(members) - less + root @ jnp.swapaxes(root, -1, -2)
    values, vectors = jnp.linalg.eigh(square)
    root = vectors * jnp.sqrt(jnp.maximum(values, 0.0))[..., None, :] @ jnp.swapaxes(vectors, -1, -2)
    return root + towards


def widen(wide, doubt, off, apart, count) -> tuple[Any, Any]:
    """By what variances are to be multiplied, for members to miss no more than they should.

    A Kalman filter for one number. That of a time is (⟨d²⟩ − 1)/s, with d what their mean misses
    and s their variance there, in units of the noise. It errs by chance; the true one may double
    from step to step. Returned are what it is, and its variance.
    """
    count = jnp.maximum(count, 1.0)
    spread = jnp.sum(apart**2) / (apart.shape[1] - 1) / count
    there = spread > 0
    spread = jnp.where(there, spread, 1.0)
    least = jnp.maximum(1.0, wide)
    doubt = doubt + least**2
    chance = 2 * (1 / spread + least) ** 2 / count
    gain = jnp.where(there, doubt / (doubt + chance), 0.0)
    now = (jnp.sum(off**2) / count - 1) / spread
    return wide + gain * (now - wide), (1 - gain) * doubt

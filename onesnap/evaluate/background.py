"""What is known of a state before it is observed: its mean, and how strong its waves are.

The waves are those of orthonormal bases, one an axis: cosines and sines where it is periodic, cosines
elsewhere. Their variances come from states, so that short waves, which are weak in a field that is
resolved, are told from noise, which has as much of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float
from scipy.fft import dct
from scipy.ndimage import uniform_filter1d

from ..grid.boundary import both_sides
from ..grid.states import check_states
from ..model.stepper import Stepper
from .observations import fill_all, missing_share, never_seen

NEIGHBOURS = 5  # waves, along each axis, whose variances are averaged
LEAST = 1e-3  # of the variance of the noise: a wave that is weaker cannot be told from none


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Background:
    """Mean, variance of each wave, and the bases `(wave, cell)` of the axes of space."""

    mean: Float[Any, "C ..."]
    variance: Float[Any, "C ..."]
    bases: tuple[Float[Any, "n n"], ...]

    def waves(self, field: Float[Any, "... C *N"]) -> Float[Any, "... C *N"]:
        """The strength of each wave of one state, or of several."""
        return _along(field, self.bases)

    def field(self, waves: Float[Any, "C ..."]) -> Float[Any, "C ..."]:
        """The state of such waves."""
        return _along(waves, [basis.T for basis in self.bases])

    def likely(self, noise: Float[np.ndarray, "C ..."], times: float) -> Float[Any, "C ..."]:
        """The variance that waves have left once they were seen so many `times` with this noise."""
        return 1.0 / (1.0 / self.variance + times / noise**2)

    def estimate(self, state, noise: Float[np.ndarray, "C ..."]) -> Float[np.ndarray, "C ..."]:
        """The likeliest state behind a noisy one."""
        share = self.variance / (self.variance + noise**2)
        return self.mean + self.field(share * self.waves(state - self.mean))


def make_background(
    states: Float[np.ndarray, "times C ..."],
    boundary,
    noise: Float[np.ndarray, "C ..."],
    clean: bool,
    filled: float = 0.0,
) -> Background:
    """Mean and variances of states; those of the noise are taken off unless they are `clean`.

    Where a share of the values was `filled` from others, nobody knows the short waves: all may then
    have that share of the variance of the field.
    """
    sides = both_sides(boundary, states.ndim - 2)
    periodic = ["periodic" in ends for ends in sides]
    bases = tuple(map(_basis, states.shape[2:], periodic))
    axes = (0, *range(2, states.ndim))
    mean = states.mean(axis=axes).reshape(-1, *(1,) * len(sides))
    power = np.mean(_along(states - mean, bases) ** 2, axis=0)
    mirrored = power
    for axis, turns in enumerate(periodic, 1):
        if turns:  # waves k and n - k are one
            mirrored = np.roll(np.flip(mirrored, axis), 1, axis)
    power = 0.5 * (power + mirrored)
    for axis, turns in enumerate(periodic, 1):
        power = uniform_filter1d(power, NEIGHBOURS, axis, mode="wrap" if turns else "nearest")
    least = np.maximum(
        LEAST * noise**2, filled * np.mean(power, axis=tuple(range(1, power.ndim)), keepdims=True)
    )
    variance = np.maximum(power if clean else power - noise**2, least)
    return Background(np.broadcast_to(mean, states.shape[1:]), variance, bases)


def background_of(stepper: Stepper, seen, sigma, climate) -> Background:
    """That of the climate, or else of the observations with gaps filled."""
    boundary = stepper.inputs.boundary
    if climate is None:
        if hidden := never_seen(seen):
            raise ValueError(
                f"observations: channel {hidden[0]} is never seen, so that nothing tells what is "
                "typical of it; give typical states with climate, as those learned from"
            )
        share, whole = missing_share(stepper, seen), fill_all(seen, boundary)
        return make_background(whole, boundary, sigma[0], False, share)
    climate = check_states("climate", climate, gaps=True)
    if climate.shape[1:] != seen.shape[1:]:
        raise ValueError(
            f"climate: expected states of the shape {seen.shape[1:]} of those observed, "
            f"got {climate.shape[1:]}"
        )
    climate = stepper.inputs.uncover(climate)
    if hidden := never_seen(climate):
        raise ValueError(f"climate: expected values in each channel, got none in channel {hidden[0]}")
    share, whole = missing_share(stepper, climate), fill_all(climate, boundary)
    return make_background(whole, boundary, sigma[0], True, share)


def _basis(points: int, periodic: bool) -> np.ndarray:
    if not periodic:
        return np.asarray(dct(np.eye(points), axis=0, norm="ortho"))
    turns = np.fft.fft(np.eye(points), axis=0)
    return (turns.real - turns.imag) / np.sqrt(points)  # Hartley's: real, and its own inverse


def _along(field, bases) -> Any:
    numpy: Any = np if isinstance(field, np.ndarray) and isinstance(bases[0], np.ndarray) else jnp
    first = field.ndim - len(bases)
    for axis, basis in enumerate(bases, first):
        field = numpy.moveaxis(numpy.tensordot(field, basis, axes=([axis], [1])), -1, axis)
    return field

"""Travelling waves: one beside another that goes wrong, and one that moves by whole cells."""

import numpy as np
from toys import smooth

# By a cell a step `(time, channel, x)`, and the deviation of the noise that it is observed with.
SHIFTED = np.stack([np.roll(smooth(0, (1, 1, 32))[0], time, axis=-1) for time in range(9)])
NOISE = 0.05


def waves(times: int, *space: int, shift: float = 0.0, channels: int = 1) -> np.ndarray:
    """A wave `(time, channel, *space)`; `shift` grows with time, as an error does."""
    grids = np.meshgrid(*(np.linspace(0, 2 * np.pi, n, endpoint=False) for n in space), indexing="ij")
    moments = np.arange(times).reshape(-1, *(1,) * len(space))
    wave = np.sin(sum(grids) - 0.1 * moments * (1 + shift))
    return np.repeat(wave[:, None], channels, axis=1)

"""A travelling wave, and one beside it that goes wrong with time: a truth and its forecast."""

import numpy as np


def waves(times: int, *space: int, shift: float = 0.0, channels: int = 1) -> np.ndarray:
    """A wave `(time, channel, *space)`; `shift` grows with time, as an error does."""
    grids = np.meshgrid(*(np.linspace(0, 2 * np.pi, n, endpoint=False) for n in space), indexing="ij")
    moments = np.arange(times).reshape(-1, *(1,) * len(space))
    wave = np.sin(sum(grids) - 0.1 * moments * (1 + shift))
    return np.repeat(wave[:, None], channels, axis=1)

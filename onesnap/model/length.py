"""How long a forecast may be: as many steps as can be counted, and states as can be held."""

from __future__ import annotations

import jax
import numpy as np
from jax.core import Tracer

from ..grid import memory

MOST_STEPS = 2**31 - 1  # that a compiled loop can count


def check_counts(**counts: tuple[float, int]) -> None:
    """Raise unless each count is an integer, and at least as large as the number beside it."""
    for name, (value, least) in counts.items():
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name}: expected an integer of at least {least}, got {value!r}")


def check_length(steps: int, every: int, states: np.ndarray, dtype: str, band: bool = False) -> None:
    """Raise unless so many steps can be counted, and the states that are kept of them held.

    A `band` is as large as they are.
    """
    if steps > MOST_STEPS:
        raise ValueError(f"steps: expected at most {MOST_STEPS}, got {steps}; forecast in parts")
    advice = "keep fewer with every=, or forecast into a file with `onesnap rollout`"
    itemsize = np.dtype(dtype).itemsize * (2 if band else 1)
    memory.check_memory(1 + steps // every, states.shape, itemsize, advice)


def check_kept(kept: float, every: int, state: jax.Array) -> None:
    """The same of a trajectory that is computed by itself, in the memory of this machine.

    Inside compiled code states that nobody uses are never made: only steps are counted there.
    """
    here = not isinstance(state, Tracer) and {d.platform for d in state.devices()} == {"cpu"}
    if here and kept * state.nbytes > (most := memory.available_memory()):
        raise ValueError(
            f"kept: {kept} states of shape {state.shape} need "
            f"{memory.readable(int(kept) * state.nbytes)}, and there are {memory.readable(most)} of "
            "memory; keep fewer with every=, or take a part of the steps at a time, each from the "
            "last state of the one before"
        )
    check_counts(kept=(kept, 0), every=(every, 1))
    if kept * every > MOST_STEPS:
        raise ValueError(
            f"kept: expected at most {MOST_STEPS} steps, got {kept} · {every}; take a part of them "
            "at a time, each from the last state of the one before"
        )

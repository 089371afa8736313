"""Numbers of states that are no integers, as 1e12 is none in Python, are refused in words too."""

import jax.numpy as jnp
import pytest

from onesnap.grid import memory
from onesnap.model.length import check_kept


def test_floats_are_told_what_they_need_or_that_they_are_none(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 2**36)
    state = jnp.zeros((1, 16), jnp.float32)
    with pytest.raises(ValueError, match="kept: 1000000000000.0 states .* need 58.2 TiB"):
        check_kept(1e12, 1, state)
    with pytest.raises(ValueError, match="kept: expected an integer of at least 0, got 2.5"):
        check_kept(2.5, 1, state)

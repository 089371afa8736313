"""A pool of processes goes on after one of them was killed."""

import os
from concurrent.futures import BrokenExecutor

import pytest

from onesnap.cluster.pool import ProcessPool


def test_a_pool_outlives_its_processes():
    with ProcessPool(1) as pool:
        with pytest.raises(BrokenExecutor):
            pool.submit(os.kill, pool.submit(os.getpid).result(), 9).result()
        assert pool.submit(pow, 2, 5).result() == 32


def test_a_pool_needs_a_process():
    with pytest.raises(ValueError, match="workers: expected an integer of at least 1, got 0"):
        ProcessPool(0)

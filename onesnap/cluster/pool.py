"""A pool of processes that is started anew when one of them dies."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from typing import Any


class ProcessPool(Executor):
    """`ProcessPoolExecutor` with processes that are started anew, not forked.

    A pool of the standard library takes no more work once a process of it was killed; this one goes
    on with new processes. What was under way then is lost, and its futures say so.
    """

    def __init__(self, workers: int):
        if not isinstance(workers, int) or workers < 1:
            raise ValueError(f"workers: expected an integer of at least 1, got {workers!r}")
        self.workers, self._pool = workers, self._start(workers)

    @staticmethod
    def _start(workers: int) -> ProcessPoolExecutor:
        # A forked process would hold locks of JAX's threads, which are not there any more.
        return ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future:
        try:
            return self._pool.submit(fn, *args, **kwargs)
        except BrokenExecutor:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = self._start(self.workers)
            return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)

"""Wall times of the stages of a run."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Stopwatch:
    """Collects the seconds that stages took: `with watch.timed("fit"): ...`, then `watch.seconds`."""

    def __init__(self):
        self.seconds: dict[str, float] = {}

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Time one stage; one that fails has no time."""
        start = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - start

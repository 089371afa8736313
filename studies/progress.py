"""How long work tells of itself; the command line gives every study a bar."""

from collections.abc import Callable
from contextlib import AbstractContextManager

Progress = Callable[[str, int, int], object]  # stage, done, total
Bars = Callable[[], AbstractContextManager[Progress]]


def silent(stage: str, done: int, total: int) -> None:
    """For those who want to hear nothing."""

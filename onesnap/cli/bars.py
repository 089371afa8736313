"""Progress bars on the error stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress as Rows, SpinnerColumn, TextColumn, TimeElapsedColumn

Progress = Callable[[str, int, int], object]  # stage, done, total
Bars = Callable[[], AbstractContextManager[Progress]]


@contextmanager
def bars() -> Iterator[Progress]:
    """A bar for every stage that reports; a pulse until the first news of it."""
    columns = (
        SpinnerColumn(finished_text="✓"),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=32),
        TimeElapsedColumn(),
    )
    rows, stages = Rows(*columns, console=Console(stderr=True)), {}

    def tell(stage: str, done: int, total: int) -> None:
        if not stages:
            rows.start()  # not before: what fails at once should show no bars
        if stage not in stages:
            stages[stage] = rows.add_task(stage, total=None)
        if done:
            rows.update(stages[stage], completed=done, total=total)

    try:
        yield tell
    finally:
        if stages:
            rows.stop()

"""Progress on the error stream: bars in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress as Rows, SpinnerColumn, TextColumn, TimeElapsedColumn

Progress = Callable[[str, int, int], object]  # stage, done, total
Bars = Callable[[], AbstractContextManager[Progress]]


SECONDS = 15.0  # from one line to the next where there is no terminal


@contextmanager
def bars(clock: Callable[[], float] = time.monotonic) -> Iterator[Progress]:
    """A bar for every stage that reports; a pulse until the first news of it.

    Where the error stream is a file: a line when a stage begins and ends, and now and then between.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(clock)
        return
    columns = (
        SpinnerColumn("dots" if console.encoding.startswith("utf") else "line", finished_text="✓"),
        TextColumn("{task.description:<9}"),
        BarColumn(bar_width=32),
        TimeElapsedColumn(),
    )
    rows, stages = Rows(*columns, console=console), {}

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


def _lines(clock: Callable[[], float]) -> Progress:
    """Tells of progress in lines, none sooner than some seconds after the last of its stage."""
    begun, told, ended = dict[str, float](), dict[str, float](), set[str]()

    def tell(stage: str, done: int, total: int) -> None:
        now = clock()
        if stage not in begun:
            begun[stage] = told[stage] = now
            typer.echo(f"{stage}: begun", err=True)
        if stage in ended:
            return
        if done >= total:
            ended.add(stage)
            typer.echo(f"{stage}: done after {now - begun[stage]:.0f} s", err=True)
        elif now - told[stage] >= SECONDS:
            told[stage] = now
            typer.echo(f"{stage}: {done / total:.0%} after {now - begun[stage]:.0f} s", err=True)

    return tell

"""A case: one row of results, measured once and kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..accuracy.store import Store
from ..progress import Progress, silent

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Case:
    """A row by its key. `measure` is given `progress(done, total)`."""

    key: str
    measure: Callable[[Callable[[int, int], object]], dict]


def run(
    name: str, cases: Iterable[Case], folder: Path = RESULTS, progress: Progress = silent
) -> Iterator[tuple[str, dict]]:
    """Every case of a name; those in its file are not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    store, cases = Store(folder / f"{name}.json"), list(cases)
    for done, case in enumerate(cases):

        def within(part: int, of: int, done=done) -> None:
            progress(name, done * of + part, len(cases) * of)

        progress(name, done, len(cases))
        yield case.key, store.row(case.key, lambda case=case, within=within: case.measure(within))
    progress(name, len(cases), len(cases))

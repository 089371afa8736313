"""Pieces of a fit on any executor: `submit` is all that is asked of it.

Pieces are read and learned where a worker is, and their sums added up in the order of the pieces, so
that neither the kind nor the number of workers changes a bit of the result.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np

from ..data.dataset import Dataset
from ..data.pairs import Pairs
from ..data.source import can_travel
from ..data.stream import Stream
from ..fit import Fit, Progress
from ..network.accumulator import Accumulator, Tree
from .checkpoint import keep, resume
from .pieces import Piece, cut, one_thread, split

TRIES = 3  # times that a piece is given to a worker before a fit gives up
CHECKPOINT_SECONDS = 30.0


def accumulate_on(
    executor: Any,
    fit: Fit,
    stream: Stream,
    sample: Pairs,
    *,
    pieces: int | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress = None,
) -> Accumulator:
    """What all pairs of a stream teach a prepared fit, a piece at a time on each worker."""
    parts, tree = cut(fit, stream, pieces), Tree()
    name = _mark(parts, stream, sample)
    if checkpoint is not None:
        tree = resume(checkpoint, parts[0].zero(), len(parts), name)
    saved, ends = time.monotonic(), np.cumsum([len(one) for one in split(stream, len(parts))])

    def tell(done: int) -> None:
        nonlocal saved
        if progress is not None:
            progress(int(ends[done - 1]), len(stream.numbers))
        if checkpoint is not None and time.monotonic() - saved > CHECKPOINT_SECONDS:
            keep(checkpoint, tree, name)
            saved = time.monotonic()

    try:
        with one_thread():  # for all: what one of several threads gives back, others might need
            reduce_on(executor, parts, tree, tell)
            return tree.total()
    finally:
        if checkpoint is not None:
            keep(checkpoint, tree, name)


def reduce_on(
    executor: Executor, parts: Sequence[Piece], tree: Tree, tell: Callable[[int], object]
) -> None:
    """Add what all pieces teach to a tree that may have some of them already."""
    waiting: dict[Future, int] = {}
    tries, early = dict.fromkeys(range(tree.count, len(parts)), 0), dict[int, Accumulator]()

    def submit(number: int, why: BaseException | None = None) -> None:
        if tries[number] >= TRIES:
            raise _lost(number, len(parts), why) from why
        tries[number] += 1
        try:
            waiting[executor.submit(_learn, parts[number])] = number
        except RuntimeError as error:  # it is broken, or was shut down
            raise _ended(error, tree.count, len(parts)) from why or error

    try:
        for number in tries:
            submit(number)
        while waiting:
            done, _ = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                number = waiting.pop(future)
                try:
                    early[number] = _result(future)
                except _Failed as failed:
                    raise failed.error from None
                except Exception as error:  # whatever it is, it is the engine's: see `_learn`
                    submit(number, error)
            # In their order, whichever came first: sums in another order differ by round-off.
            while tree.count in early:
                tree.push(early.pop(tree.count))
                tell(tree.count)
    finally:
        for future in waiting:
            future.cancel()


class _Failed(Exception):
    """A piece could not be learned, and would not be elsewhere."""

    def __init__(self, error: Exception):
        self.error = error


def _learn(piece: Piece) -> Accumulator | Exception:
    """What a piece teaches. Errors of our own are values: those that are raised are the engine's."""
    try:
        return piece.learn()
    except Exception as error:
        return error


def _result(future: Future) -> Accumulator:
    result = future.result()
    if isinstance(result, Exception):
        raise _Failed(result)
    return result


def _lost(number: int, count: int, why: BaseException | None) -> ChildProcessError:
    return ChildProcessError(
        f"executor: piece {number + 1} of {count} was lost {TRIES} times, at last by "
        f"{type(why).__name__}: {why}; a worker that is killed has often no memory left: use fewer "
        "workers on a machine, or more pieces"
    )


def _ended(error: BaseException, done: int, count: int) -> ChildProcessError:
    return ChildProcessError(
        f"executor: it takes no more work after {done} of {count} pieces, {type(error).__name__}: "
        f"{error}; make a new one and fit again, with the same checkpoint to keep what is done; "
        "onesnap.cluster.pool.ProcessPool goes on by itself where a process was killed"
    )


def check_executor(executor: Any, data: Dataset | None, pieces: int | None) -> None:
    """Raise before any work if an executor cannot do it; None are arrays in memory."""
    if data is None:
        raise ValueError(
            "executor: expected a Dataset alone, which workers read from its file, got arrays; "
            "save them, as in np.save, and give what onesnap.open makes of the file"
        )
    if not callable(getattr(executor, "submit", None)):
        raise ValueError(
            "executor: expected a concurrent.futures.Executor, as ProcessPoolExecutor or "
            f"dask.distributed.Client.get_executor(), got {type(executor).__name__}"
        )
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise ValueError(
            "executor: expected processes that are started anew, got forked ones, in which JAX may "
            'hang; give ProcessPoolExecutor mp_context=multiprocessing.get_context("spawn")'
        )
    if not isinstance(executor, ThreadPoolExecutor) and not can_travel(data):
        raise ValueError(
            "executor: expected data that workers can read from a file, got data in memory; write it "
            "to a file and open that with onesnap.open, or use a ThreadPoolExecutor"
        )
    if pieces is not None and (not isinstance(pieces, int) or pieces < 1):
        raise ValueError(f"pieces: expected an integer of at least 1, got {pieces!r}")


def _mark(parts: Sequence[Piece], stream: Stream, sample: Pairs) -> str:
    """What must not have changed for a checkpoint to be of use."""
    total = hashlib.sha256(f"{parts[0].mark} {len(parts)}".encode())
    for array in (stream.numbers, sample.before, sample.after, sample.parameters, sample.fields):
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()

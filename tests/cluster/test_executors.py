"""A fit on executors: one model, whatever runs the pieces, and whatever becomes of the workers."""

import multiprocessing
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace

import numpy as np
import pytest
from heat import cooling

import onesnap as snap
from onesnap.cluster import executors
from onesnap.data.arrays import from_array
from onesnap.data.errors import DataError

pytestmark = pytest.mark.filterwarnings("ignore:the window is too small")

SETTINGS = {"extent": 1, "stride": 2, "hidden": 12, "noise": 1e-2, "symmetry": None, "context": 0}
SETTINGS |= {"mean": "keep", "boundary": "wall"}
PIECES = 5
STATES = cooling(24, 1, 32)


def surrogate() -> snap.Surrogate:
    return snap.Surrogate(**SETTINGS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for number, piece in enumerate((STATES[:9], STATES[8:])):
        np.save(folder / f"run{number}.npy", piece)
    return folder


@pytest.fixture(scope="module")
def data(folder):
    return snap.open(folder)


@pytest.fixture(scope="module")
def on_threads(data):
    with ThreadPoolExecutor(2) as executor:
        return surrogate().fit(data, executor=executor, pieces=PIECES)


def content(model: snap.Surrogate, folder) -> bytes:
    model.save(folder / "model", force=True)
    return (folder / "model").read_bytes()


class Unsteady(Executor):
    """Runs at once, in order, but its worker dies before some of the calls are done."""

    def __init__(self, dies):
        self.calls, self.dies = 0, dies

    def submit(self, fn, /, *args, **kwargs):
        self.calls += 1
        future = Future()
        if self.dies(self.calls):
            future.set_exception(BrokenExecutor("a process was terminated abruptly"))
        else:
            future.set_result(fn(*args, **kwargs))
        return future


def test_threads_give_the_model_of_one_fit(data, on_threads):
    whole = surrogate().fit(data)
    assert on_threads.left_out_ == whole.left_out_ > 0
    np.testing.assert_allclose(on_threads.predict(STATES), whole.predict(STATES), atol=1e-10)


def test_two_processes_give_the_same_bytes(data, on_threads, tmp_path):
    seen, spawn = [], multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as executor:
        model = surrogate().fit(
            data, executor=executor, pieces=PIECES, progress=lambda *of: seen.append(of)
        )
    assert content(model, tmp_path) == content(on_threads, tmp_path)
    total = data.pair_count
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert (len(seen), seen[-1]) == (PIECES, (total, total))


def test_parts_accumulated_by_hand_give_the_same_bytes(data, folder, on_threads, tmp_path):
    surrogate().prepare(data).save(tmp_path / "plan")
    for number in range(1, PIECES + 1):
        prepared = snap.load(tmp_path / "plan")
        prepared.accumulate(data, (number, PIECES)).save(tmp_path / f"a{number}")
    parts = [snap.Accumulator.load(tmp_path / f"a{number}") for number in range(1, PIECES + 1)]
    assert content(prepared.combine(parts), tmp_path) == content(on_threads, tmp_path)
    assert sum(part.pairs for part in parts) == data.pair_count


def test_a_piece_whose_worker_died_is_learned_again(data, on_threads, tmp_path):
    executor = Unsteady(lambda call: call % 3 == 1)
    model = surrogate().fit(data, executor=executor, pieces=PIECES)
    assert executor.calls > PIECES
    assert content(model, tmp_path) == content(on_threads, tmp_path)


def test_a_piece_is_given_up_in_the_end(data):
    executor = Unsteady(lambda call: call == 1 or call > PIECES)
    words = "piece 1 of 5 was lost 3 times, at last by BrokenExecutor: .*; .* use fewer workers"
    with pytest.raises(ChildProcessError, match=words):
        surrogate().fit(data, executor=executor, pieces=PIECES)
    assert executor.calls == PIECES + executors.TRIES - 1


def test_a_broken_pool_says_what_to_do(data):
    class Broken(Unsteady):
        def submit(self, fn, /, *args, **kwargs):
            if self.calls == PIECES:
                raise BrokenExecutor("the pool is not usable anymore")
            return super().submit(fn, *args, **kwargs)

    words = "takes no more work after 0 of 5 pieces.*make a new one.*same checkpoint"
    with pytest.raises(ChildProcessError, match=words):
        surrogate().fit(data, executor=Broken(lambda call: call == 1), pieces=PIECES)


def test_what_is_wrong_with_the_data_is_not_tried_again():
    calls = []

    def read(start, stop):
        if stop - start < len(STATES) and start == 20:
            calls.append(start)
            raise DataError("block 20 cannot be read")
        return STATES[start:stop]

    data = from_array(STATES, boundary="wall")
    data = replace(data, trajectories=(replace(data.trajectories[0], read=read),))
    prepared = surrogate().prepare(STATES[:2], STATES[1:3])
    stream = executors.Stream(data, data.numbers())
    sample = stream.complete(data.pairs(numbers=[0]))
    with ThreadPoolExecutor(1) as executor, pytest.raises(DataError, match="block 20"):
        executors.accumulate_on(executor, prepared.fit_, stream, sample, pieces=6)
    assert calls == [20]


def test_an_interrupted_fit_goes_on(data, on_threads, tmp_path):
    def stop(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    kept, executor = tmp_path / "kept", Unsteady(lambda call: False)
    with pytest.raises(KeyboardInterrupt):
        surrogate().fit(data, executor=executor, pieces=PIECES, checkpoint=kept, progress=stop)
    with pytest.raises(ValueError, match="it belongs to other data or other settings; remove it"):
        surrogate().fit(data, executor=executor, pieces=PIECES + 1, checkpoint=kept)
    executor = Unsteady(lambda call: False)
    model = surrogate().fit(data, executor=executor, pieces=PIECES, checkpoint=kept)
    assert executor.calls < PIECES
    assert content(model, tmp_path) == content(on_threads, tmp_path)


def test_data_in_memory_is_for_threads_only(on_threads):
    data = from_array(STATES)
    words = "executor: expected data that workers can read from a file, got data in memory"
    with pytest.raises(ValueError, match=words):
        surrogate().fit(data, executor=Unsteady(lambda call: False))
    with pytest.raises(ValueError, match="executor: expected a Dataset alone"):
        surrogate().fit(STATES[:-1], STATES[1:], executor=Unsteady(lambda call: False))


def test_what_cannot_run_pieces_is_refused(data):
    with pytest.raises(ValueError, match="executor: expected a concurrent.futures.Executor.*got int"):
        surrogate().fit(data, executor=2)
    fork = multiprocessing.get_context("fork")
    with (
        ProcessPoolExecutor(1, mp_context=fork) as executor,  # no process before the first work
        pytest.raises(ValueError, match="processes that are started anew.*get_context"),
    ):
        surrogate().fit(data, executor=executor)
    with pytest.raises(ValueError, match="pieces: expected an integer of at least 1, got 0"):
        surrogate().fit(data, executor=Unsteady(lambda call: False), pieces=0)

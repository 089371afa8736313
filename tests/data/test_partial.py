"""A forecast under way: pieces add up, go on after an interruption, and belong to one process."""

import os
import resource
import signal

import numpy as np
import pytest

from onesnap.data.partial import HEADER, Partial

STATES = np.random.default_rng(0).normal(size=(5, 3, 4, 6))
SIZE = STATES[0].nbytes


@pytest.fixture
def partial(tmp_path):
    return lambda **mark: Partial(tmp_path / "new" / "a.npz", STATES.shape[1:], mark)


def test_pieces_add_up_and_go_on_after_an_interruption(partial, tmp_path):
    with partial(model="m") as first:
        assert first.done == 0
        first.append(STATES[:2])
        first.append(STATES[2:3])
    with partial(model="m") as again:
        assert again.done == 3
        again.append(STATES[3:])
        np.testing.assert_array_equal(again.states(), STATES)
        again.remove()
    assert os.listdir(tmp_path / "new") == []


@pytest.mark.parametrize("lost", [5, SIZE, 2 * SIZE + 1, HEADER + 2 * SIZE - 3])
def test_half_a_state_is_written_anew(partial, lost):
    with partial() as pieces:
        pieces.append(STATES[:3])
    size = pieces.path.stat().st_size
    os.truncate(pieces.path, size - lost)
    with partial() as pieces:
        assert pieces.done == max(0, (3 * SIZE - lost) // SIZE)
        pieces.append(STATES[pieces.done :])
        np.testing.assert_array_equal(pieces.states(), STATES)


def test_pieces_of_another_forecast_are_not_continued(partial):
    with partial(model="m") as pieces:
        pieces.append(STATES)
    with partial(model="other") as pieces:
        assert pieces.done == 0
    with pytest.raises(ValueError, match="bytes of description are too many"):
        partial(model="m" * 10_000)


def test_one_process_at_a_time_holds_them(partial):
    with partial() as pieces:
        pieces.append(STATES[:2])
        with pytest.raises(FileExistsError, match="a.npz: another process is writing it.*wait"):
            partial()
        assert pieces.path.stat().st_size == HEADER + 2 * SIZE
    with partial() as pieces:
        assert pieces.done == 2


@pytest.mark.parametrize("change", ["longer", "shorter", "gone", "another"])
def test_nothing_is_added_to_what_somebody_else_changed(partial, change):
    """Programs that ask for no lock: the count is looked at before each piece."""
    with partial() as pieces:
        pieces.append(STATES[:2])
        size = pieces.path.stat().st_size
        if change in ("gone", "another"):
            pieces.path.unlink()
        else:
            os.truncate(pieces.path, size + (SIZE if change == "longer" else -SIZE))
        if change == "another":
            pieces.path.write_bytes(bytes(size))
        with pytest.raises(OSError, match="another program changed .a.npz.partial meanwhile"):
            pieces.append(STATES[2:])


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_a_link_is_not_followed(partial, tmp_path, make):
    stranger, place = tmp_path / "stranger", tmp_path / "new" / ".a.npz.partial"
    stranger.write_bytes(b"precious")
    place.parent.mkdir()
    make(stranger, place)
    with pytest.raises(PermissionError, match="it is a link, or belongs to somebody else"):
        partial()
    assert stranger.read_bytes() == b"precious"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_somebody_else_is_left_alone(partial, tmp_path):
    place = tmp_path / "new" / ".a.npz.partial"
    place.parent.mkdir()
    place.write_bytes(b"precious")
    os.chown(place, 12345, -1)
    with pytest.raises(PermissionError, match="belongs to somebody else"):
        partial()
    assert place.read_bytes() == b"precious"


def test_a_pipe_is_no_file(partial, tmp_path):
    (tmp_path / "new").mkdir()
    os.mkfifo(tmp_path / "new" / ".a.npz.partial")
    with pytest.raises(PermissionError, match="expected a plain file"):
        partial()


def test_a_full_disk_keeps_what_was_written(partial):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with partial() as pieces:
        pieces.append(STATES[:2])
        resource.setrlimit(resource.RLIMIT_FSIZE, (HEADER + 4 * SIZE - 7, limits[1]))
        try:
            with pytest.raises(OSError, match="cannot be written, 2 states are kept"):
                pieces.append(STATES[2:])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            signal.signal(signal.SIGXFSZ, handler)
    with partial() as pieces:
        assert pieces.done == 3  # the one that fitted is whole
        pieces.append(STATES[3:])
        np.testing.assert_array_equal(pieces.states(), STATES)


def stopped(partial, count: int, error: type[BaseException]) -> Partial:
    with partial() as pieces:
        pieces.append(STATES[:count])
        raise error


def test_what_is_kept_is_named_and_a_start_alone_is_not_kept(partial, tmp_path):
    place = tmp_path / "new" / ".a.npz.partial"
    with pytest.raises(KeyboardInterrupt) as caught:
        stopped(partial, 2, KeyboardInterrupt)
    assert f"2 states are kept in {place}" in caught.value.__notes__[0]
    place.unlink()
    with pytest.raises(ValueError, match="^$"):
        stopped(partial, 1, ValueError)
    assert not place.exists()


def test_states_that_are_still_in_use_hold_no_lock(partial):
    with partial() as pieces:
        pieces.append(STATES)
        states = pieces.states()
    with partial() as pieces:
        assert pieces.done == len(states)

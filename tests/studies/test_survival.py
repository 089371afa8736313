"""Damaged files, killed processes, more data than memory: the programs that count what survives."""

import json
import subprocess
import sys

import numpy as np
import pytest

from studies.accuracy import damage, disks, hostile, kills, streaming, writers


def test_generated_states_are_the_same_wherever_they_are_read():
    dataset = streaming.generated(0.01)
    assert dataset.pair_count == int(0.01e9 / (8 * 256**2)) - 1
    some = dataset.states(0, 3, 6)
    assert some.shape == (3, 1, 256, 256)
    np.testing.assert_array_equal(some, dataset.states(0, 0, 8)[3:6])


def test_a_stream_is_learned_from_in_a_process_of_its_own():
    command = [sys.executable, "-m", "studies.accuracy.streaming", "--learn", "0.003"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    pairs, rows, seconds, peak, skill = json.loads(result.stdout)
    assert pairs == 4
    assert rows == pairs * streaming.WINDOWS
    assert seconds > 0
    assert 0.1 < peak < 4
    assert skill > 0.9


def test_damage_cuts_or_flips_bits():
    content, random = bytes(range(200)), np.random.default_rng(0)
    shorter = flipped = 0
    for _ in range(50):
        changed = damage.damaged(content, random)
        if len(changed) < len(content):
            assert changed == content[: len(changed)]
            shorter += 1
        else:
            bits = np.unpackbits(np.frombuffer(content, np.uint8) ^ np.frombuffer(changed, np.uint8))
            assert 0 <= bits.sum() <= 3
            flipped += 1
    assert min(shorter, flipped) > 10


def test_every_damaged_model_is_refused(tmp_path):
    damage.make_model(tmp_path / "model")
    assert damage.supervise(tmp_path, "model", 6) == {"refused": 6}


def test_damaged_data_is_refused_or_read(tmp_path):
    name, make = next(iter(damage.file_makers().FILES.items()))
    make(tmp_path / name)
    counts = damage.supervise(tmp_path, name, 8)
    assert sum(counts.values()) == 8
    assert set(counts) <= {"refused", "same", "values", "form"}


def test_a_worker_that_dies_is_counted(tmp_path):
    """There is no file to damage: the worker fails before its first word, once for each seed."""
    assert damage.supervise(tmp_path, "model", 2) == {"crashed": 2}


def test_files_that_cannot_be_read_are_named(tmp_path):
    assert kills.check(tmp_path) == []
    damage.make_model(tmp_path / "model.safetensors")
    (tmp_path / "forecast.npz").write_bytes(b"half of it")
    assert kills.check(tmp_path) == ["forecast.npz"]


@pytest.mark.slow
def test_what_was_killed_goes_on_to_the_same_result():
    outcome = kills.run(4)
    assert sum(outcome.counts.values()) == 4
    assert outcome.broken == 0
    assert outcome.same


def test_hostile_names_are_shown_as_letters(tmp_path):
    random = np.random.default_rng(0)
    hostile.plain(tmp_path / "a.h5", random)
    assert hostile.show(tmp_path / "a.h5", tmp_path) == "shown"
    (tmp_path / "b.h5").write_bytes(b"nothing")
    assert hostile.show(tmp_path / "b.h5", tmp_path) == "refused"


def test_one_line_of_error_is_told_from_a_traceback():
    assert disks.one_line("bar\nonesnap: error: a.npz: cannot be written\n")
    assert not disks.one_line("Traceback (most recent call last):\nonesnap: error: a\n")
    assert not disks.one_line("")


@pytest.mark.slow
def test_pairs_of_writers_leave_one_right_file():
    assert set(writers.run(3)) <= {"one refused", "one after the other"}


@pytest.mark.slow
def test_full_disks_lose_nothing():
    fine = {"rollout: written", "rollout: refused, and went on", "fit: refused, old file kept"}
    assert set(disks.run(4)) <= fine | {"fit: written"}


@pytest.mark.slow
@pytest.mark.parametrize("name", hostile.FORMATS)
def test_hostile_files_break_nothing(name, tmp_path):
    counts = hostile.supervise(tmp_path, name, 8, "hostile")
    assert set(counts) <= {"shown", "refused", "cannot be made"}

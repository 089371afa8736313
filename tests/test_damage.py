"""Damaged files of every kind: our own error or plain values, never a crash; old files stay whole."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import makers
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import onesnap as snap
from onesnap.data.atomic import write_atomically

GOLDEN = Path(__file__).parent / "data"


def test_the_golden_model_still_opens():
    """Written by version 1 of the format; it must be readable for as long as that is promised."""
    stored = np.load(GOLDEN / "golden.npz")
    model = snap.load(GOLDEN / "golden.safetensors")
    np.testing.assert_allclose(model.predict(stored["states"]), stored["predicted"], rtol=1e-12)


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """The bytes of a file of each format; of a folder those of each file in it."""
    folder = tmp_path_factory.mktemp("whole")
    for name, make in makers.FILES.items():
        make(folder / name)
    return folder


def damage(draw, content: bytes) -> bytes:
    at = draw(st.integers(0, len(content) - 1))
    if draw(st.booleans()):
        return content[:at]
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 3))):
        changed[at] ^= 1 << draw(st.integers(0, 7))
        at = draw(st.integers(0, len(content) - 1))
    return bytes(changed)


@pytest.mark.parametrize("name", makers.FILES)
@settings(max_examples=12)
@given(data=st.data())
def test_damaged_data_is_refused_or_read(contents, name, data):
    """No format but Zarr and .npz has checksums: a changed value there is a value like any other."""
    source = contents / name
    path = part = contents / f"damaged {name}"
    if source.is_dir():
        inside = sorted(p.relative_to(source) for p in source.rglob("*") if p.is_file())
        chosen = data.draw(st.sampled_from(inside))
        for file in inside:
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_bytes((source / file).read_bytes())
        source, part = source / chosen, path / chosen
    part.write_bytes(damage(data.draw, source.read_bytes()))
    refused = f"{path}"
    try:
        found = snap.open(path, **makers.OPTIONS.get(name, {}))
        for index in range(min(3, len(found.trajectories))):
            states = found.states(index, 0, 4)
            assert states.shape[1:] == found.shape
    except (ValueError, OSError) as error:
        refused = str(error)
    assert path.name in refused


def test_a_value_out_of_a_damaged_archive_is_noticed(contents, tmp_path):
    """.npz has a checksum for every array."""
    content = bytearray((contents / "archive.npz").read_bytes())
    place = content.find(makers.STATES[2, 1].tobytes())
    content[place + 3] ^= 1
    (tmp_path / "a.npz").write_bytes(bytes(content))
    with pytest.raises(snap.DataError, match="CRC"):
        snap.open(tmp_path / "a.npz").states()


WRITER = """
import signal, sys
from onesnap.files import write_atomically
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests run in the background
turn = 0
while True:
    write_atomically(sys.argv[1], bytes([turn % 250]) * 2_000_000, force=True)
    turn += 1
    if turn == 1: print("ready", flush=True)
"""


def kill_writers(path: Path, times: int, how) -> None:
    for turn in range(times):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
            assert writer.stdout
            writer.stdout.readline()
            time.sleep(random.Random(turn).uniform(0, 0.05))
            writer.send_signal(how)
            try:
                writer.wait(30)
            finally:
                writer.kill()
        content = path.read_bytes()
        assert len(content) == 2_000_000
        assert len(set(content)) == 1


def test_ctrl_c_leaves_a_whole_file_and_nothing_else(tmp_path):
    kill_writers(tmp_path / "a modèle", 2, signal.SIGINT)
    assert os.listdir(tmp_path) == ["a modèle"]


@pytest.mark.slow
def test_fifty_kills_leave_whole_files(tmp_path):
    kill_writers(tmp_path / "model", 50, signal.SIGKILL)


def test_a_full_disk_is_a_clear_error(tmp_path):
    path = tmp_path / "model"
    path.write_text("precious")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="cannot be written, nothing was changed.*model"):
            write_atomically(path, bytes(100_000), force=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["model"]


def test_a_model_with_an_absurd_header_is_refused(tmp_path):
    for length in (0, 2**24 + 1, 2**63):
        (tmp_path / "model").write_bytes(length.to_bytes(8, "little") + b"{}" * 50)
        with pytest.raises(ValueError, match=f"its header would have {length} bytes"):
            snap.load(tmp_path / "model")
    nested = b'{"__metadata__":' + b'{"a":' * 100_000
    (tmp_path / "model").write_bytes(len(nested).to_bytes(8, "little") + nested)
    with pytest.raises(ValueError, match="not a onesnap model file"):
        snap.load(tmp_path / "model")

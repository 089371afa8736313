"""Files are whole or not there at all, whatever happens while they are written."""

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onesnap.data.atomic import write_atomically


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "new folder" / "file"
    write_atomically(path, b"first")
    with pytest.raises(FileExistsError, match="exists already; choose another name"):
        write_atomically(path, b"second")
    assert path.read_bytes() == b"first"
    write_atomically(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    assert os.listdir(path.parent) == ["file"]


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


WRITER = """
import signal, sys
from onesnap.data.atomic import write_atomically
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored if the tests run in the background
turn = 0
while True:
    write_atomically(sys.argv[1], bytes([turn % 250]) * 2_000_000, force=True)
    turn += 1
    if turn == 1: print("ready", flush=True)
"""


def end_writers(path: Path, times: int, how: signal.Signals) -> None:
    """Start writers and end them at random moments; the file has to be whole after each."""
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
    end_writers(tmp_path / "a modèle", 2, signal.SIGINT)
    assert os.listdir(tmp_path) == ["a modèle"]


@pytest.mark.slow
def test_fifty_kills_leave_whole_files(tmp_path):
    end_writers(tmp_path / "model", 50, signal.SIGKILL)

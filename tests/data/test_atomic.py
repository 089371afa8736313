"""Files are whole or not there at all, whatever happens while they are written."""

import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onesnap.data import atomic
from onesnap.data.atomic import check_writable, unfinished, write_atomically


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "new folder" / "file"
    write_atomically(path, b"first")
    with pytest.raises(FileExistsError, match="exists already; choose another name"):
        write_atomically(path, b"second")
    assert path.read_bytes() == b"first"
    write_atomically(path, b"third", force=True)
    assert path.read_bytes() == b"third"
    assert os.listdir(path.parent) == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_what_is_no_file_is_not_replaced_even_if_forced(tmp_path):
    """A device that a file takes the place of is gone for everybody."""
    os.mkfifo(tmp_path / "pipe")
    for write in (
        lambda: write_atomically(tmp_path / "pipe", b"new", force=True),
        lambda: check_writable(tmp_path / "pipe", "", force=True),
    ):
        with pytest.raises(FileExistsError, match="a device or a pipe, which no file replaces"):
            write()
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert os.listdir(tmp_path) == ["pipe"]


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


def test_what_appears_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    path, fsync = tmp_path / "model", os.fsync

    def late(descriptor):
        path.write_bytes(b"of another process")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(FileExistsError, match="exists already"):
        write_atomically(path, b"ours")
    assert path.read_bytes() == b"of another process"
    assert os.listdir(tmp_path) == ["model"]


def test_what_a_killed_process_left_is_removed_later(tmp_path, monkeypatch):
    path = tmp_path / "a [1].nc"
    file, folder = unfinished(path), unfinished(path)
    file.write_bytes(b"half")
    (folder / "deep").mkdir(parents=True)
    others = [tmp_path / name for name in (".b.nc.12345678.unfinished", ".a [1].nc.partial")]
    for other in others:
        other.touch()
    write_atomically(path, b"whole")
    assert file.exists()  # it may be that of a process that is still at work
    assert folder.exists()
    monkeypatch.setattr(atomic, "STALE", -1.0)
    write_atomically(path, b"whole", force=True)
    assert sorted(tmp_path.iterdir()) == sorted([path, *others])


def test_a_name_is_tried_before_the_work_is_done(tmp_path):
    path = tmp_path / "new" / "folder" / "a.png"
    assert check_writable(str(path), ".png") == path
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="out: expected a name ending in .gif, got"):
        check_writable(path, ".gif")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="cannot be written: Not a directory: .*a.png"):
        check_writable(tmp_path / "file" / "a.png", ".png")
    os.mkdir(tmp_path / "a.png")
    with pytest.raises(FileExistsError, match="exists already"):
        check_writable(tmp_path / "a.png", ".png")
    with pytest.raises(IsADirectoryError, match="expected a file to write, got a folder"):
        check_writable(tmp_path / "a.png", ".png", force=True)
    with pytest.raises(OSError, match="File name too long"):
        check_writable(tmp_path / ("a" * 300 + ".png"), ".png")


WRITER = """
import signal, sys
from onesnap.data import atomic
from onesnap.data.atomic import check_writable, unfinished, write_atomically
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

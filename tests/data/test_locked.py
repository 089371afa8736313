"""Locks: one process at a time, given back however that one ends, and no way through a link."""

import signal
import subprocess
import sys

import pytest

from onesnap.data import locked
from onesnap.data.locked import held, open_locked

HOLDER = """
import sys, time
from pathlib import Path
from onesnap.data import locked
from onesnap.data.locked import held
with held(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_ends_with_its_process(tmp_path):
    path = tmp_path / "kept"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=-1) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            words = "kept: another process is writing it"
            with pytest.raises(FileExistsError, match=words), held(path):
                pass
        finally:
            process.send_signal(signal.SIGKILL)
    assert (tmp_path / ".kept.lock").exists()  # what the killed one left
    with held(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_held_without_a_file(tmp_path):
    with held(None), held(tmp_path / "a"), held(tmp_path / "b"):
        pass


def test_a_link_in_the_place_of_the_lock_is_refused(tmp_path):
    (tmp_path / ".kept.lock").symlink_to(tmp_path / "stranger")
    with pytest.raises(PermissionError, match="it is a link"), held(tmp_path / "kept"):
        pass
    assert not (tmp_path / "stranger").exists()


def test_a_folder_that_cannot_be_is_told_at_once(tmp_path):
    (tmp_path / "file").touch()
    words, path = "cannot be written: .*'.*file/kept'", tmp_path / "file" / "kept"
    with pytest.raises(OSError, match=words), held(path):
        pass


def test_a_file_that_was_removed_while_it_was_opened_is_made_anew(tmp_path, monkeypatch):
    """Whoever held it removed it between our opening and our locking: the name is another's now."""
    path, lock, removed = tmp_path / "a", locked._lock, []

    def late(stream, place, wanted):
        if not removed:
            place.unlink()
            removed.append(place)
        lock(stream, place, wanted)

    monkeypatch.setattr(locked, "_lock", late)
    with open_locked(path, path) as stream:
        stream.write(b"ours")
    assert path.read_bytes() == b"ours"

"""Compiled code is loaded only from where nobody else can write, and only if it is what it was."""

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import platformdirs
import pytest

from onesnap.network.native import library
from onesnap.network.native.library import SYMBOLS, build, kept, load, secure

C = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(C is None, reason="no compiler on this machine")
KEY = "0123456789abcdef"


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    """Compiles nothing of ours, in no time: a library that has what is called, or lacks the last."""
    folder = tmp_path_factory.mktemp("compilers")
    for name, symbols in (("whole", SYMBOLS), ("lacking", SYMBOLS[:-1])):
        source = "".join(f"int {symbol}(void) {{ return 7; }}\n" for symbol in symbols)
        (folder / f"{name}.c").write_text(source)
        command = [str(C), "-shared", "-fPIC", f"{folder}/{name}.c", "-o", f"{folder}/{name}.so"]
        subprocess.run(command, check=True)
        (folder / name).write_text(
            f'#!/bin/sh\necho x >> {folder}/calls\ncp {folder}/{name}.so "$(eval echo \\${{$#}})"\n'
        )
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The cache folder, and no other."""
    place = tmp_path / "cache" / "onesnap"
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda name: place)
    return place


@pytest.fixture
def find(compiler, folder, monkeypatch):
    """What a new process finds: the library, what it says of itself, how often it was compiled."""
    monkeypatch.setattr(library, "_key", lambda name: KEY)

    def call(name="whole"):
        calls = compiler / "calls"
        calls.unlink(missing_ok=True)
        code, about = library._find(str(compiler / name))
        return code, about, len(calls.read_text().split()) if calls.exists() else 0

    return call


def test_it_is_compiled_once_and_kept_where_only_the_user_can_write(find, folder):
    code, about, compiled = find()
    assert code.onesnap_step() == 7
    assert compiled == 1
    assert Path(about).parent == folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [Path(about).name]
    assert find()[1:] == (about, 0)


def rewrite(path, change):
    """Another file of that name: the old one is in the memory of this process."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(change(content))
    path.chmod(0o700)


def link(path):
    """The same content, but in a file that somebody else may change."""
    path.rename(path.parent.parent / "elsewhere.so")
    path.symlink_to(path.parent.parent / "elsewhere.so")


DAMAGES = {
    "truncated": lambda path: rewrite(path, lambda content: content[: len(content) // 2]),
    "empty": lambda path: rewrite(path, lambda content: b""),
    "longer": lambda path: rewrite(path, lambda content: content + b"more"),
    "link": link,
    "writable": lambda path: path.chmod(0o777),
    "gone": lambda path: path.unlink(),
    "pipe": lambda path: (path.unlink(), os.mkfifo(path)),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_that_is_off_is_never_loaded_but_compiled_anew(find, folder, damage):
    path = Path(find()[1])
    DAMAGES[damage](path)
    assert kept(folder, KEY) is None
    code, about, compiled = find()
    assert (code.onesnap_step(), about, compiled) == (7, str(path), 1)
    assert find()[2] == 0  # and the new one is kept
    assert not path.is_symlink()


def test_one_that_lacks_a_symbol_is_compiled_anew(find, compiler, folder):
    secure(folder)
    old = build(str(compiler / "lacking"), folder, KEY)
    with pytest.raises(AttributeError, match=SYMBOLS[-1]):
        load(old)
    code, about, compiled = find()
    assert isinstance(code, ctypes.CDLL)
    assert compiled == 1
    assert about != str(old)


def open_folder(folder):
    folder.mkdir(parents=True)
    folder.parent.chmod(0o777)


def link_folder(folder):
    folder.parent.mkdir()
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def give_away(folder):
    folder.mkdir(parents=True)
    os.chown(folder, 12345, -1)


def block(folder):
    folder.parent.mkdir()
    folder.touch()


root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (open_folder, "others can write to"),
        (link_folder, "is a link"),
        (block, "File exists"),
        pytest.param(give_away, "belongs to somebody else", marks=root),
    ],
)
def test_a_folder_that_others_can_write_to_is_not_used(find, folder, prepare, words):
    prepare(folder)
    code, about, compiled = find()
    assert code.onesnap_step() == 7
    assert about.startswith("compiled for this process alone: ")
    assert words in about
    assert compiled == 1
    assert not folder.is_dir() or not list(folder.iterdir())
    assert find()[2] == 1  # nothing was kept


def test_a_planted_library_is_not_run(find, folder, compiler):
    """Somebody who can write to the folder puts a library there whose name fits its content."""
    give = open_folder if os.geteuid() else give_away
    give(folder)
    planted = build(str(compiler / "lacking"), folder, KEY)
    about = find()[1]
    assert about.startswith("compiled for this process alone")
    assert planted.exists()  # it is not ours to remove


def test_a_wide_folder_of_our_own_is_made_narrow(find, folder):
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert Path(find()[1]).parent == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_why_there_is_none_is_said(monkeypatch):
    for name, value, words in (
        ("ONESNAP_NATIVE", "0", "none: switched off by ONESNAP_NATIVE=0"),
        ("CXX", "no-such-compiler", "none: there is no C++ compiler"),
        ("CXX", "false", "does not compile it"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            code, about = library.compiled.__wrapped__()
        assert code is None
        assert words in about

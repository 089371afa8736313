"""The compiled code: looked at before it is loaded, compiled anew where anything is off.

A library runs with all rights of the user. So it is loaded only from a folder that nobody else can
write to, from a plain file whose content is what its name says; otherwise it is compiled into a
private folder, for this process alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import re
import shutil
import stat
import subprocess
import tempfile
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import jax
import platformdirs

from ...data.atomic import unfinished

SOURCE = Path(__file__).parent / "step.cc"
FLAGS = ("-std=c++17", "-O3", "-march=native", "-fno-math-errno", "-fPIC", "-shared", "-w")
STEP = "onesnap_step"
SYMBOLS = (STEP, "onesnap_features", "onesnap_whiten")


class Library(NamedTuple):
    """The compiled code, if there is any, and where it is, or why there is none."""

    code: ctypes.CDLL | None
    about: str


@cache
def compiled() -> Library:
    """The compiled code, made where that was not done before."""
    if os.environ.get("ONESNAP_NATIVE", "1") == "0":
        return Library(None, "none: switched off by ONESNAP_NATIVE=0")
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return Library(None, "none: there is no C++ compiler")
    try:
        code, about = _find(compiler)
        jax.ffi.register_ffi_target(STEP, jax.ffi.pycapsule(code[STEP]), platform="cpu")
    except (OSError, AttributeError, subprocess.SubprocessError) as error:
        # Speed is all that is lost.
        return Library(None, f"none: {compiler} does not compile it, or it cannot be loaded: {error}")
    return Library(code, about)


def _find(compiler: str) -> tuple[ctypes.CDLL, str]:
    """The code from the user's cache folder, or from a private one where that is not safe."""
    folder, key = platformdirs.user_cache_path("onesnap"), _key(compiler)
    try:
        secure(folder)
        path = kept(folder, key)
        code = None if path is None else _try(path)
        if code is None:
            path = build(compiler, folder, key)
            code = load(path)
        return code, str(path)
    except (OSError, AttributeError) as error:
        with tempfile.TemporaryDirectory(prefix="onesnap-") as private:
            code = load(build(compiler, Path(private), key))
        # It is in memory now, and needs no file any more.
        return code, f"compiled for this process alone: {error}"


def secure(folder: Path) -> None:
    """Make a folder that only this user can write to; raise where that cannot be had."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
        raise PermissionError(f"{folder} is a link, or belongs to somebody else")
    folder.chmod(0o700)
    for parent in folder.resolve().parents:  # who can write to one of them can put another in place
        status = parent.stat()
        shared = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if shared or status.st_uid not in (0, os.geteuid()):
            raise PermissionError(f"others can write to {parent}, in which {folder} is")


def kept(folder: Path, key: str) -> Path | None:
    """The library of this key, if it is there and sound; what is not is removed."""
    sound = None
    for path in folder.iterdir():
        if match := re.fullmatch(rf"step-{key}-([0-9a-f]{{32}})\.so", path.name):
            if _is_sound(path, match[1]):
                sound = path
            else:
                path.unlink(missing_ok=True)
    return sound


def _is_sound(path: Path, digest: str) -> bool:
    """Whether it is a plain file of this user that nobody else can write to, and whole."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
    except OSError:
        return False
    with os.fdopen(descriptor, "rb") as stream:
        status = os.fstat(descriptor)
        own = status.st_uid == os.geteuid() and not status.st_mode & 0o022
        return stat.S_ISREG(status.st_mode) and own and _digest(stream.read()) == digest


def build(compiler: str, folder: Path, key: str) -> Path:
    """Compile into a folder; the name of the library tells its content."""
    # Compiled beside and moved: another process sees all of it or nothing.
    beside = unfinished(folder / "step")
    beside.mkdir(mode=0o700)
    try:
        fresh = beside / "step.so"
        command = [compiler, *FLAGS, f"-I{jax.ffi.include_dir()}", str(SOURCE), "-o", str(fresh)]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        fresh.chmod(0o700)
        with fresh.open("rb") as stream:
            digest = _digest(stream.read())
            os.fsync(stream.fileno())
        return fresh.replace(folder / f"step-{key}-{digest}.so")
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def load(path: Path) -> ctypes.CDLL:
    """The library, with all that is called in it."""
    code = ctypes.CDLL(str(path))
    for name in SYMBOLS:
        getattr(code, name)  # an AttributeError if it is missing
    return code


def _try(path: Path) -> ctypes.CDLL | None:
    """The same of one that was kept; None if it is of no use."""
    try:
        return load(path)
    except (OSError, AttributeError):
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _key(compiler: str) -> str:
    """Stands for this processor, compiler, source and jaxlib."""
    key = hashlib.sha256(SOURCE.read_bytes())
    key.update(repr((FLAGS, compiler, _processor(), metadata.version("jaxlib"))).encode())
    return key.hexdigest()[:16]


def _processor() -> str:
    """What the processor can do: a cache may be shared by different machines."""
    listing = Path("/proc/cpuinfo")
    lines = listing.read_text(encoding="utf-8").splitlines() if listing.exists() else []
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return f"{platform.machine()} {platform.processor()} {flags}"

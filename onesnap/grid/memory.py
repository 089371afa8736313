"""How much memory there is, asked before states are made that would not fit."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path

COPIES = 2  # of the states of a forecast: as the compiled loop leaves them, and put together


def available_memory() -> int:
    """Bytes that can still be had, as far as the system tells; a container may have less than it."""
    limits = []
    listing, container = Path("/proc/meminfo"), Path("/sys/fs/cgroup/memory.max")
    if listing.exists():
        lines = dict(line.split(":", 1) for line in listing.read_text("utf-8").splitlines())
        limits.append(1024 * int(lines["MemAvailable"].split()[0]))
    elif hasattr(os, "sysconf"):
        limits.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    if container.exists() and (most := container.read_text("utf-8").strip()).isdigit():
        limits.append(int(most))
    return min(limits, default=2**40)


def check_memory(count: int, shape: Sequence[int], itemsize: int, advice: str) -> None:
    """Raise unless so many states of this shape can be held."""
    size, most = COPIES * itemsize * math.prod(shape), available_memory()
    if count * size > most:
        raise ValueError(
            f"steps: {count} states of shape {tuple(shape)} need {readable(count * size)}, and there "
            f"are {readable(most)} of memory, for {most // size} of them; {advice}"
        )


def readable(count: int) -> str:
    """So many bytes in words."""
    power = min(5, max(0, count.bit_length() - 1) // 10)
    return f"{count / 1024**power:.3g} {['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][power]}"

"""What is read is capped by what is stored: a small file cannot claim a large memory."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .errors import DataError

FREE = 2**26  # bytes in float64 that any file may claim
RATIO = 1100  # times that a value is longer than it is stored; deflate reaches 1032, data hardly ten


def check_stored(path, what: str, count: int, needed: int, stored: int) -> None:
    """Raise if `count` values of `needed` bytes are more than can be unpacked from what is `stored`.

    Formats with chunks need not write all of them: a file of a kilobyte may declare a terabyte.
    """
    if 8 * count > FREE and needed > RATIO * stored:
        raise DataError(
            f"{path}: {what} would need {needed} bytes, and {stored} are stored: most of it was "
            "never written; copy what is there into a file of its own"
        )


def check_state(path, channels: int, space: Sequence[int], stored: int) -> None:
    """The same of one state whose shape is known before there are arrays of it."""
    count = channels * math.prod(space)
    check_stored(path, f"a state of {channels} × {tuple(space)}", count, 8 * count, stored)

"""Wall times of stages."""

import time

import pytest

from onesnap.cli.stopwatch import Stopwatch


def test_every_stage_has_its_own_time():
    watch = Stopwatch()
    with watch.timed("long"):
        time.sleep(0.05)
    with watch.timed("short"):
        pass
    assert list(watch.seconds) == ["long", "short"]
    assert watch.seconds["long"] >= 0.05 > watch.seconds["short"] >= 0


def test_a_stage_that_fails_has_none():
    watch = Stopwatch()
    with pytest.raises(ValueError, match="mine"), watch.timed("fit"):
        raise ValueError("mine")
    assert watch.seconds == {}

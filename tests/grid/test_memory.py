"""What does not fit into memory is refused in words, before it is made."""

import os

import pytest

import onesnap as snap
from onesnap.grid.memory import available_memory, check_memory, readable


def test_there_is_memory_and_not_more_than_the_machine_has():
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert 2**27 < available_memory() <= whole


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (1023, "1.02e+03 bytes"), (1024, "1 KiB"), (3 * 2**29, "1.5 GiB"),
     (2**40, "1 TiB"), (2**70, "1.05e+06 PiB")],
)  # fmt: skip
def test_bytes_in_words(count, words):
    assert readable(count) == words


def test_what_fits_is_fine_and_what_does_not_is_told_with_numbers():
    check_memory(10, (1, 16), 8, "")
    with pytest.raises(ValueError, match="steps: 1000000000000 states of shape .1, 16. need 233 TiB"):
        check_memory(10**12, (1, 16), 8, "take fewer")


def test_a_simulation_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="need .*; simulate fewer, or in parts with start="):
        snap.simulate("ks-1d", steps=10**12)

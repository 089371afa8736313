"""Every tuned number stands in one place, cannot be changed by accident, and is used."""

import itertools
import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

import onesnap
from onesnap.search import policy as module
from onesnap.search.policy import EFFORTS, POLICY, Policy

SOURCES = [path for path in Path(onesnap.__file__).parent.rglob("*.py") if path.stem != "policy"]
TEXT = "\n".join(path.read_text("utf-8") for path in SOURCES)


def test_no_number_can_be_changed_by_accident():
    with pytest.raises(FrozenInstanceError):
        POLICY.kick = 1.0
    assert replace(POLICY, kick=1.0) != POLICY == Policy()


def test_they_are_few():
    assert len(fields(Policy)) <= 25


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_number_is_used(name):
    assert re.search(rf"\b(POLICY|policy)\.{name}\b", TEXT)


def test_every_name_that_is_used_is_there():
    used = set(re.findall(r"\bPOLICY\.(\w+)", TEXT))
    assert used <= {"scaled", "above"} | {field.name for field in fields(Policy)}


def test_every_number_comes_with_its_reason():
    """In its own line, or in the one above."""
    lines = Path(module.__file__).read_text("utf-8").splitlines()
    for above, line in itertools.pairwise(lines):
        if re.match(r"    \w+: .* = ", line):
            assert "  # " in line or above.startswith("    # "), line


def test_grids_go_from_simple_to_rich():
    for row in (POLICY.extents, POLICY.noises, POLICY.gains, POLICY.shrinkages[::-1]):
        assert list(row) == sorted(set(row))


def test_effort_scales_what_trials_may_cost():
    quick, normal, thorough = (POLICY.scaled(effort) for effort in EFFORTS)
    assert normal == POLICY
    for name in ("columns", "rows", "trial_work", "work"):
        assert getattr(quick, name) < getattr(normal, name) < getattr(thorough, name)

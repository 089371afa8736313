"""Every tuned number stands in one place, cannot be changed by accident, and is used."""

import re
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import pytest

import onesnap
from onesnap.search import policy as module
from onesnap.search.policy import POLICY, Policy

SOURCES = [path for path in Path(onesnap.__file__).parent.rglob("*.py") if path.stem != "policy"]
TEXT = "\n".join(path.read_text("utf-8") for path in SOURCES)


def test_no_number_can_be_changed_by_accident():
    with pytest.raises(FrozenInstanceError):
        POLICY.sound = 1.0
    with pytest.raises(TypeError):
        POLICY.extents[1] = (1,)
    assert replace(POLICY, sound=1.0) != POLICY == Policy()


@pytest.mark.parametrize("name", [field.name for field in fields(Policy)])
def test_every_number_is_used(name):
    assert re.search(rf"\bPOLICY\.{name}\b", TEXT)


def test_every_name_that_is_used_is_there():
    assert set(re.findall(r"\bPOLICY\.(\w+)", TEXT)) <= {field.name for field in fields(Policy)}


def test_every_number_comes_with_its_reason():
    """In its own line, or in a line above that stands for the numbers that follow it."""
    explained = False
    for line in Path(module.__file__).read_text("utf-8").splitlines():
        if line.strip().startswith("# ") or not line.strip():
            explained = bool(line.strip())
        elif re.match(r"    \w+: .* = ", line):
            assert explained or "#" in line, line


def test_what_depends_on_the_dimension_is_there_for_all_three():
    for field in fields(Policy):
        value = getattr(POLICY, field.name)
        if hasattr(value, "keys"):
            assert list(value) == [1, 2, 3], field.name


def test_noises_and_extents_grow():
    rows = [POLICY.isotropic, *POLICY.floors.values(), *POLICY.extents.values()]
    for row in rows:
        assert list(row) == sorted(set(row))
    for floors in POLICY.floors.values():
        assert floors[-1] >= POLICY.safe_floor  # there is something to fall back to
    assert POLICY.isotropic[-1] >= POLICY.error_noise

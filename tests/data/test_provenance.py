"""What a forecast file says about itself is used where it makes sense, and only there."""

import json

import numpy as np
import pytest

from onesnap.data import Field
from onesnap.data.arrays import from_array
from onesnap.data.provenance import recognise, stored_channels

DATASET = from_array(np.zeros((3, 2, 8)))
ORIGIN = {
    "boundary": [["wall", 0.5]],
    "fields": [["p", "scalar", 1, "Pa"], ["s", "scalar", 1, ""]],
    "channels": ["p", "s"],
    "start": 4,
}


def test_boundary_fields_and_origin_are_taken_over():
    dataset = recognise(DATASET, json.dumps(ORIGIN))
    assert dataset.boundary == (("wall", 0.5),)
    assert dataset.fields == (Field("p", units="Pa"), Field("s"))
    assert dataset.attributes["start"] == 4
    assert not [note for note in dataset.notes if note.startswith("boundary")]
    assert stored_channels(json.dumps(ORIGIN)) == ["p", "s"]


@pytest.mark.parametrize(
    "fields",
    [ORIGIN["fields"][:1], [["v", "vector", 2, ""], ["p", "scalar", 1, ""]], [["a", "?", 2, ""]]],
)
def test_fields_that_do_not_fit_the_states_are_ignored(fields):
    dataset = recognise(DATASET, json.dumps(ORIGIN | {"fields": fields}))
    assert dataset.fields == DATASET.fields
    assert dataset.boundary == (("wall", 0.5),)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "no JSON",
        "[" * 100_000,
        "3",
        json.dumps({"fields": 3, "boundary": "wall"}),
        json.dumps(ORIGIN | {"boundary": "solid"}),
        json.dumps(ORIGIN | {"fields": [["p", "scalar"]]}),
    ],
)
def test_a_text_that_makes_no_sense_changes_nothing(text):
    assert recognise(DATASET, text) is DATASET


@pytest.mark.parametrize("text", [None, "no JSON", "3", "{}", '{"channels": 3}', "[" * 100_000])
def test_files_of_others_have_no_channels_of_ours(text):
    assert stored_channels(text) == []

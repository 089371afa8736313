"""Models survive a round trip bit for bit; anything else is refused in words."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from forged import rewritten
from hypothesis import given, settings, strategies as st
from safetensors.numpy import save_file

import onesnap as snap
from onesnap.model.file import KEY
from onesnap.symmetry import full

GOLDEN = Path(__file__).parent  # a file of version 1, and what its model predicts

STATES = np.random.default_rng(0).normal(size=(4, 2, 16))
QUICK = {"extent": 1, "stride": 2, "hidden": 20, "noise": 0.1, "context": 0}


def fitted(**more) -> snap.Surrogate:
    return snap.Surrogate(**QUICK | {"symmetry": None, "mean": "keep"} | more).fit(
        STATES[:3], STATES[1:]
    )


MODELS = {
    "plain": lambda: fitted(),
    "rank": lambda: fitted(rank=3),
    "symmetric": lambda: fitted(symmetry=full(1, ("scalar", "vector")), scaling=[-5, [5, 6]]),
    "averaged": lambda: fitted(averaging=full(1, ("scalar", "vector"))),
    "position": lambda: fitted(context=2, mean="conserve"),
    "surroundings": lambda: fitted(surroundings=(2,), symmetry=full(1, ("scalar", "vector"))),
    "potential": lambda: fitted(potential=True, symmetry=full(1, ("scalar", "pseudoscalar"))),
    "told": lambda: snap.Surrogate(**QUICK, symmetry=None, mean="remove").fit(
        STATES[:3], STATES[1:], parameters=np.ones((3, 1)), fields=STATES[3]
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_round_trip_changes_nothing(name, tmp_path):
    model = MODELS[name]()
    path = tmp_path / "a model é.safetensors"
    model.save(path)
    again = snap.load(path)
    np.testing.assert_array_equal(again.predict(STATES), model.predict(STATES))
    assert repr(again) == repr(model)
    assert again.summary() == model.summary()
    np.testing.assert_array_equal(again.seen_, model.seen_)  # what was learned is known again
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    with pytest.raises(snap.NotFittedError, match="has forgotten its training rows"):
        again.partial_fit(
            STATES[:3],
            STATES[1:],
            **({"parameters": np.ones((3, 1)), "fields": STATES[3]} if name == "told" else {}),
        )


def test_an_existing_file_is_kept_unless_forced(tmp_path):
    path = tmp_path / "model"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="exists already; choose another name, or say force"):
        fitted().save(path)
    assert path.read_text() == "precious"
    fitted().save(path, force=True)
    assert snap.load(path).plan_.hidden == 20
    assert os.listdir(tmp_path) == ["model"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_text("precious")

    def fail(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        fitted().save(path, force=True)
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["model"]


def header(version: int) -> dict[str, str]:
    return {KEY: json.dumps({"settings": json.dumps({"version": version}), "digest": ""})}


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "file"
    with pytest.raises(FileNotFoundError, match="no such model file"):
        snap.load(path)
    path.write_bytes(b"\x93NUMPY not a model")
    with pytest.raises(ValueError, match="not a onesnap model file that can be read"):
        snap.load(path)
    save_file({"a": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="safetensors file of another program"):
        snap.load(path)
    save_file({"a": np.zeros(3)}, path, metadata=header(99))
    with pytest.raises(ValueError, match="format version 99.*upgrade onesnap"):
        snap.load(path)
    save_file({"a": np.zeros(3)}, path, metadata=header(1))
    with pytest.raises(ValueError, match=r"arrays missing .*unknown \['a'\]"):
        snap.load(path)


@settings(max_examples=300)
@given(data=st.data())
def test_a_damaged_file_is_refused(damaged, data):
    """Cut anywhere, or with any bit flipped: our own error, never a crash or a wrong model."""
    content, path = damaged
    at = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    if data.draw(st.booleans()):
        changed = changed[:at]
    else:
        changed[at] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(bytes(changed))
    with pytest.raises(ValueError, match="not a onesnap model file that can be read"):
        snap.load(path)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    path = tmp_path_factory.mktemp("damaged") / "model"
    fitted(rank=3).save(path)
    return path.read_bytes(), path


def test_the_golden_model_still_opens():
    """Written by version 1 of the format; it must be readable for as long as that is promised."""
    with np.load(GOLDEN / "golden.npz") as stored:
        states, predicted = stored["states"], stored["predicted"]
    model = snap.load(GOLDEN / "golden.safetensors")
    np.testing.assert_allclose(model.predict(states), predicted, rtol=1e-12)
    with pytest.raises(ValueError, match="members: this model has none"):
        model.rollout(states[0], 3, members=4)


def test_a_model_with_an_absurd_header_is_refused(tmp_path):
    for length in (0, 2**24 + 1, 2**63):
        (tmp_path / "model").write_bytes(length.to_bytes(8, "little") + b"{}" * 50)
        with pytest.raises(ValueError, match=f"its header would have {length} bytes"):
            snap.load(tmp_path / "model")
    nested = b'{"__metadata__":' + b'{"a":' * 100_000
    (tmp_path / "model").write_bytes(len(nested).to_bytes(8, "little") + nested)
    with pytest.raises(ValueError, match="not a onesnap model file"):
        snap.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, s: t.update(readout=t["readout"][1:]), r"the sizes of \['readout'\] do not fit"),
        (lambda t, s: t.update({"scaling.high": t["scaling.low"]}), "the sizes of .*scaling.high"),
        (lambda t, s: t.update({"features.bias": t["features.bias"][1:]}), "features.bias"),
        (lambda t, s: t.update(readout=np.full_like(t["readout"], np.nan)), "not finite"),
        (lambda t, s: t.update(readout=t["readout"].astype(np.float32)), "has dtype float32"),
        (lambda t, s: t.update(members=np.zeros((2, 1, 1))), "members"),
        (
            lambda t, s: t.update({"context.low": np.zeros(1), "context.high": np.ones(1)}),
            "the sizes of .*context.low",
        ),
        (lambda t, s: s.update(activation="relu"), "activation makes no sense: 'relu'"),
        (lambda t, s: s.update(extent=[2]), "do not fit the rest"),
        (lambda t, s: s.update(boundary="solid"), "boundary makes no sense: 'solid'"),
        (lambda t, s: s.update(data={"fields": 3}), "not a onesnap model file that can be read"),
        (lambda t, s: s["params"].update(colour=1), r"settings .* does not know: \['colour'\]"),
    ],
)
def test_a_whole_file_that_makes_no_sense_is_refused(change, message, tmp_path):
    path = tmp_path / "model"
    fitted().save(path)
    rewritten(path, lambda tensors, settings: None)
    assert snap.load(path).plan_.hidden == 20  # as it was
    rewritten(path, change)
    with pytest.raises(ValueError, match=message):
        snap.load(path)

"""Fits that were recorded once: the same settings, weights and forecasts must come out for ever.

`python tests/test_golden.py` tells how far this machine is from the record, and whether model files
are the same bytes (they are on the kind of processor that the record was made on);
`python tests/test_golden.py --record` makes it anew, which only a change of the method excuses.
"""

import hashlib
import json
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest

import onesnap as snap
from onesnap.symmetry.groups import full

FOLDER = Path(__file__).parent / "golden"
RECORD = FOLDER / "record.npz"
MOMENTS = (1, 10, 50)  # steps whose states are kept
with np.load(FOLDER / "states.npz") as _file:
    STATES = {name: _file[name] for name in _file.files}  # small simulations of the catalogue

BASE = {
    "extent": 4, "stride": 4, "hidden": 160, "gain": 1.0, "noise": 1e-3, "noise_form": "floor",
    "rank": None, "symmetry": None, "context": 0, "potential": False, "mean": "conserve",
}  # fmt: skip
PLANE = BASE | {"extent": 2, "stride": 2, "mean": "remove"}


def between(states: np.ndarray, **settings):
    """A model of all pairs of a trajectory, and where its forecast starts."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a small fit is not steady is not the point here
        return snap.Surrogate(**settings).fit(states[:-1], states[1:]), states[-1]


def masked():
    """Heat around an island, from a dataset with missing values."""
    mask = np.ones((20, 22), bool)
    mask[8:12, 9:14] = False
    state, states = np.where(mask, np.random.default_rng(0).normal(size=mask.shape), 0.0), []
    for _ in range(8):
        states.append(state)
        flow = sum(
            np.where(np.roll(mask, by, axis), np.roll(state, by, axis), state) - state
            for axis in (0, 1)
            for by in (-1, 1)
        )
        state = np.where(mask, state + 0.1 * flow, 0.0)
    truth = np.where(mask, np.stack(states), np.nan)[:, None]
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "basin.npy", truth)
        data = snap.open(Path(folder) / "basin.npy")
        model = snap.Surrogate(**PLANE | {"mean": "keep", "extent": 1}).fit(data)
    return model, truth[-1]


CASES = {
    # All settings given.
    "line, the paper's way": lambda: between(
        STATES["ks_1d"],
        **BASE | {"activation": "softplus", "weights": "uniform", "noise_form": "sampled"},
    ),
    "line, symmetric": lambda: between(
        STATES["ks_1d"], **BASE | {"symmetry": full(1, ("vector",)), "extent": 6}
    ),
    "line, directions": lambda: between(
        STATES["ks_1d"], **BASE | {"rank": 8, "noise_form": "isotropic", "noise": 1e-5}
    ),
    "line, position": lambda: between(
        STATES["ks_1d_inhomogeneous"], **BASE | {"context": 2, "extent": 8, "noise": 3e-2}
    ),
    "plane, symmetric": lambda: between(
        STATES["ks_2d"], **PLANE | {"symmetry": full(2), "rank": 20, "noise": 3e-3}
    ),
    "plane, averaged, float32": lambda: between(
        STATES["ks_2d"], **PLANE | {"averaging": full(2), "dtype": "float32", "hidden": 60}
    ),
    "plane, walls and a held value": lambda: between(
        STATES["gray_scott_2d"],
        **PLANE | {"mean": "keep", "boundary": ("wall", (0.5, "open")), "noise": 3e-2},
    ),
    "plane, mask": masked,
    "plane, potential": lambda: between(
        STATES["kolmogorov_2d"], **PLANE | {"potential": True, "context": (0, 4), "noise": 1e-2}
    ),
    "space, symmetric": lambda: between(
        STATES["ks_3d"], **PLANE | {"symmetry": full(3), "extent": 1, "hidden": 192}
    ),
    # Nothing given, or the units alone.
    "line, by itself": lambda: between(STATES["ks_1d"][:2], effort="quick"),
    "line with a forcing, by itself": lambda: between(
        STATES["ks_1d_inhomogeneous"][:4], effort="quick"
    ),
    "plane, by itself": lambda: between(STATES["ks_2d"], hidden=240, effort="quick"),
    "plane with two fields, by itself": lambda: between(
        STATES["gray_scott_2d"], hidden=240, effort="quick"
    ),
    "plane with a flow, by itself": lambda: between(STATES["kolmogorov_2d"], effort="quick"),
}


def outcome(name: str) -> dict:
    """What a case comes to: states of its forecast, what was chosen, a digest of its file."""
    model, start = CASES[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forecast = model.rollout(start, max(MOMENTS))
    assert forecast.diverged_at is None, f"{name}: diverged at {forecast.diverged_at}"
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "model")
        content = (Path(folder) / "model").read_bytes()
    return {
        "states": forecast.states[list(MOMENTS)],
        "chosen": {setting: value for setting, value, _ in model.plan_.explain()},
        "digest": hashlib.sha256(content).hexdigest(),
    }


def load_record() -> dict:
    with np.load(RECORD) as file:
        texts = json.loads(str(file["texts"]))
        return {name: {**texts[name], "states": file[name]} for name in texts}


def distance(states: np.ndarray, recorded: np.ndarray) -> float:
    """The largest difference, in units of the range of the recorded states."""
    return float(np.nanmax(np.abs(states - recorded)) / np.ptp(recorded[np.isfinite(recorded)]))


@pytest.mark.parametrize("name", CASES)
def test_the_recorded_fit_comes_out_again(name):
    recorded, now = load_record()[name], outcome(name)
    # Settings that are younger than the record have to leave everything as it was.
    assert recorded["chosen"].items() <= now["chosen"].items()
    np.testing.assert_array_equal(np.isnan(now["states"]), np.isnan(recorded["states"]))
    # Other processors round otherwise, which large readouts magnify.
    assert distance(now["states"], recorded["states"]) < 1e-5


def main() -> None:
    found = {name: outcome(name) for name in CASES}
    if "--record" in sys.argv:
        texts = {name: {k: v for k, v in f.items() if k != "states"} for name, f in found.items()}
        states = {name: f["states"] for name, f in found.items()}
        np.savez_compressed(RECORD, texts=json.dumps(texts), **states)
        return
    for name, recorded in load_record().items():
        now = found[name]
        same = "same bytes" if now["digest"] == recorded["digest"] else "other bytes"
        print(f"{name:<36}{same}, forecast off by {distance(now['states'], recorded['states']):.1e}")


if __name__ == "__main__":
    main()

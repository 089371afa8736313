"""Models whose pages are tested, and what these pages have computed."""

import numpy as np
from toys import next_state, smooth

import onesnap as snap

GIVEN = {
    "extent": 2, "stride": 2, "hidden": 40, "noise": 1e-3, "symmetry": None, "context": 0,
    "potential": False, "surroundings": (), "mean": "keep", "boundary": "periodic",
}  # fmt: skip
STATE = "() => { const s = onesnap.state(); return {...s, values: Array.from(s.values)}; }"


def field(page) -> np.ndarray:
    state = page.evaluate(STATE)
    return np.array(state["values"]).reshape(state["shape"])


def toy(shape, fields=None, parameters=None, **settings):
    before = smooth(0, shape) / 3
    model = snap.Surrogate(**{**GIVEN, **settings})
    return model.fit(before, next_state(before), fields=fields, parameters=parameters), before


def check_numbers(page, model, start, steps, **context):
    want = model.rollout(start.astype(np.float32), steps, steps, **context).states[-1]
    page.evaluate("n => onesnap.step(n).then(() => null)", steps)
    assert np.ptp(want) > 0.02 * np.ptp(start)  # there is something left to compare
    np.testing.assert_allclose(field(page), want, atol=1e-8 * np.ptp(want), rtol=0)

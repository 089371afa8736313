"""Every system of the catalogue: the page computes what Python computes."""

import numpy as np
import pytest
from pages import field

import onesnap as snap

STEPS = 100
POINTS = {1: 512, 2: 64, 3: 20}  # smaller grids with cells of the same size


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # models of small grids may be doubtful
@pytest.mark.parametrize("name", sorted(snap.systems))
def test_a_hundred_steps_of_each_system(open_page, name, capsys):
    system = snap.systems[name]
    points = min(system.points, POINTS[system.dimension])
    length = system.length * points / system.points
    if name != "kolmogorov-2d":  # its forcing has to fit the box
        system = system.replace(points=points, length=length)
    truth = snap.simulate(system, steps=1, seed=0)
    model = snap.Surrogate(hidden=200, effort="quick").fit(truth[:1], truth[1:])
    start = truth[1].astype(np.float32)
    forecast = model.rollout(start, STEPS, STEPS)
    steps = STEPS if forecast.diverged_at is None else forecast.diverged_at // 2
    want = model.rollout(start, steps, steps).states[-1]
    page = open_page(model, start[None], dt=system.dt)
    page.evaluate("n => onesnap.step(n).then(() => null)", steps)
    apart = np.abs(field(page) - want).max() / np.ptp(want)
    with capsys.disabled():
        print(f"\n{name:24}{truth.shape[2:]!s:16}{steps:4} steps, {apart:.1e} of the range apart")
    assert apart <= 1e-4

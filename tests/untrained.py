"""Steppers whose weights are drawn and not learned: bounded, restless, and there at once."""

import numpy as np

from onesnap.grid.scaling import Scaling
from onesnap.model.stepper import Stepper
from onesnap.network.assemble import Network
from onesnap.network.context import Context
from onesnap.network.features import draw_features
from onesnap.network.inputs import Inputs


def untrained(
    extent, stride, boundary="periodic", *, channels=1, hidden=12, position=(), fields=None,
    fill=None, surroundings=(), mean="keep", lead=True, activation="squareplus",
) -> Stepper:  # fmt: skip
    """A stepper for states of about -1 to 1; limits keep what it predicts near them."""
    beside = np.zeros((0,)) if fields is None else np.asarray(fields, np.float64)
    context = Context(position, np.zeros(0), beside, np.zeros(len(beside)), np.ones(len(beside)))
    scaling = Scaling(-np.ones(channels), np.ones(channels), mean, 0.3)
    inputs = Inputs(scaling, context, extent, stride, boundary, fill, surroundings)
    random = np.random.default_rng(0)
    cells = (channels + len(beside)) * inputs.window_cells
    features = draw_features(cells, inputs.values, hidden, activation, 0, gain=4.0)
    linear = cells + inputs.values + 1 if lead else 0
    readout = random.normal(size=(linear + hidden, inputs.outputs))
    readout[:linear] *= 0.5 / np.sqrt(cells)
    readout[linear:] *= 0.5 / np.sqrt(max(1, hidden))
    return Stepper(inputs, Network(features, readout, tuple(extent), tuple(stride)))


def restless(seed: int, shape) -> np.ndarray:
    """Random states within the range."""
    return np.random.default_rng(seed).uniform(-1, 1, shape)

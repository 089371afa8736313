"""Small states and maps whose properties are known, for tests of several rooms."""

import numpy as np

import onesnap as snap
from onesnap.data.pairs import make_pairs
from onesnap.grid.potentials import gradients
from onesnap.search.problem import Problem

# Settings with which a model is what its pairs say, and nothing is looked for.
PLAIN = {"noise": 1e-3, "symmetry": None, "context": 0, "mean": "keep"}


def smooth(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    """Random smooth periodic states `(pair, channel, *space)`."""
    states = np.random.default_rng(seed).normal(size=shape)
    for axis in range(2, len(shape)):
        states = states + np.roll(states, 1, axis) + np.roll(states, -1, axis)
    return states


def blurred(seed: int, shape: tuple[int, ...], passes: int = 2) -> np.ndarray:
    """The same as means over three cells along each axis, again and again."""
    states = np.random.default_rng(seed).normal(size=shape)
    for axis in list(range(2, len(shape))) * passes:
        states = (np.roll(states, 1, axis) + states + np.roll(states, -1, axis)) / 3
    return states


def next_state(states: np.ndarray) -> np.ndarray:
    """A nonlinear local map that knows every reflection and rotation, and u → -u."""
    following = states - 0.1 * states**3
    for axis in range(2, states.ndim):
        following += 0.1 * (np.roll(states, 1, axis) + np.roll(states, -1, axis) - 2 * states)
    return following


def waves(count: int = 5, points: int = 64, seed: int = 0) -> np.ndarray:
    """A sum of waves that moves on by a cell a step."""
    random = np.random.default_rng(seed)
    x = 2 * np.pi * np.arange(points) / points
    parts = [random.normal() * np.cos(k * x + random.uniform(0, 7)) for k in range(1, 6)]
    return np.stack([np.roll(sum(parts), shift) for shift in range(count)])[:, None]


def bent(states: np.ndarray) -> np.ndarray:
    """A map that no random layer holds exactly, with the symmetry u(x) → u(-x)."""
    around = np.roll(states, 1, -1) + np.roll(states, -1, -1) - 2 * states
    return 0.98 * states + 0.1 * np.tanh(states) * around


def stirred(seed: int, force: float, pairs: int = 1):
    """Vorticity that moves with its own velocity, and under a force that depends on y."""
    before = 4 * blurred(seed, (pairs, 1, 64, 48), passes=6)
    velocity = 0.5 * np.stack([gradients(state) for state in before])
    slopes = [(np.roll(before, -1, axis) - np.roll(before, 1, axis)) / 2 for axis in (2, 3)]
    along = velocity[:, 1:] * slopes[0] - velocity[:, :1] * slopes[1]
    return before, before - along + force * np.cos(2 * np.pi * 2 * (np.arange(48) + 0.5) / 48)


def problem(before, after, boundary="periodic", kinds="auto", fill=None, **settings) -> Problem:
    """What a Surrogate with these settings has to settle for a pair of arrays."""
    given = snap.Surrogate(**settings).get_params()
    return Problem(given, make_pairs(before, after), boundary, kinds, fill)

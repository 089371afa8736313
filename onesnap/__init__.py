"""onesnap learns the flow map of a PDE from very few snapshots - often one pair.

The rooms of the house, in the order in which the data flows; a room imports only rooms above it:

    symmetry    groups of signed permutations, and what they do to windows and networks
    grid        plain arrays: boundaries, windows, scaling, potentials
    equations   what can be simulated: the catalogue, its solvers, `simulate`
    data        files of many formats to a Dataset, to pairs, to batches; checkpoints, writing
    network     a state to inputs, random features, least squares, and back to a field
    model       the learned map `u -> u_next`, its rollout, its file, the file of a forecast
    search      what is chosen from the data: held-out errors, one rule, one gate of trial forecasts
    evaluate    metrics, the linear window, an ensemble with its error band, trust
    fit         the record of what was learned; `Surrogate` is the face of it all
    cluster     a fit on several processes or machines
    plots       pictures of forecasts and trajectories, and report pages
    cli         the command line and the demo
"""

import importlib

from .paper import paper as paper

TYPE_CHECKING = False  # as that of `typing`, which is not there for nothing
if TYPE_CHECKING:
    from . import symmetry as symmetry
    from .data import DataError as DataError, Dataset as Dataset, open as open
    from .data.denoise import denoise as denoise
    from .data.noise import noise_level as noise_level
    from .data.pairs import pairs as pairs
    from .equations import System as System, simulate as simulate, systems as systems
    from .evaluate.assimilate import (
        Analysis as Analysis,
        assimilate as assimilate,
        smooth as smooth,
    )
    from .evaluate.metrics import (
        moments as moments,
        rse as rse,
        skill as skill,
        spectrum as spectrum,
        valid_time as valid_time,
    )
    from .evaluate.relearn import Relearned as Relearned, relearn as relearn
    from .evaluate.trust import trust as trust
    from .evaluate.verdict import Trust as Trust
    from .model.rollout import Forecast as Forecast, trajectory as trajectory
    from .model.stepper import Stepper as Stepper, stack as stack
    from .network.accumulator import Accumulator as Accumulator
    from .surrogate import NotFittedError as NotFittedError, Surrogate as Surrogate, load as load
    from .symmetry import Group as Group

# Where each of the names above is at home: they are imported when they are first asked for, because
# JAX alone takes a second, which `onesnap --help` need not wait for.
_HOMES = {
    "data": ("DataError", "Dataset", "open"),
    "data.denoise": ("denoise",),
    "data.noise": ("noise_level",),
    "data.pairs": ("pairs",),
    "equations": ("System", "simulate", "systems"),
    "evaluate.assimilate": ("Analysis", "assimilate", "smooth"),
    "evaluate.metrics": ("moments", "rse", "skill", "spectrum", "valid_time"),
    "evaluate.relearn": ("Relearned", "relearn"),
    "evaluate.trust": ("trust",),
    "evaluate.verdict": ("Trust",),
    "model.rollout": ("Forecast", "trajectory"),
    "model.stepper": ("Stepper", "stack"),
    "network.accumulator": ("Accumulator",),
    "surrogate": ("NotFittedError", "Surrogate", "load"),
    "symmetry": ("Group",),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["__version__", "paper", "symmetry", *_HOME]


def __getattr__(name: str):
    if name == "symmetry":
        return importlib.import_module(".symmetry", __name__)
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("onesnap")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

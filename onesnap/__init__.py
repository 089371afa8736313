"""onesnap learns the flow map of a PDE from very few snapshots - often one pair.

The stages, in the order in which the data flows:

    open       data files of many formats to a Dataset            data/
    simulate   a System of the catalogue to a trajectory          systems, solvers, simulate
    pairs      checked snapshots, before and after                snapshots
    windows    fields cut into windows, scaled, with symmetries   scaling, windows, symmetry, rows
    features   random features of windows and context             potentials, features, orbits,
                                                                  folding
    readout    streaming least squares, noise averaged in         harmonics, native, lstsq, readout
    Surrogate  the estimator, and what it chooses by itself       choices, planning, endurance,
                                                                  tuning, surrogate
    Stepper    the learned map u -> u_next                        loudness, stepper
    rollout    forecasts with a status, and with an error band    rollout, confidence
    metrics    how good they are, and whether to trust them       metrics, trust
    files      models in safe files                               files
    bench      how fast it is, and what an error costs            bench/
"""

import importlib.metadata

from . import symmetry as symmetry
from .data import DataError as DataError, Dataset as Dataset, open as open
from .metrics import (
    moments as moments,
    rse as rse,
    skill as skill,
    spectrum as spectrum,
    valid_time as valid_time,
)
from .paper import paper as paper
from .rollout import Forecast as Forecast, trajectory as trajectory
from .simulate import simulate as simulate
from .snapshots import pairs as pairs
from .stepper import Stepper as Stepper, stack as stack
from .surrogate import NotFittedError as NotFittedError, Surrogate as Surrogate, load as load
from .symmetry import Group as Group
from .systems import System as System, systems as systems
from .trust import Trust as Trust, trust as trust

__version__ = importlib.metadata.version("onesnap")

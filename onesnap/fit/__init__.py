"""The record of a fit, and how it grows by pure functions; `Surrogate` holds the latest one.

record     everything that a model has learned, whole and frozen
settings   what comes before learning: settings, the random layer, whether pairs fit them
readout    solved for, with noise that keeps trial forecasts steady, and words of doubt
sums       pairs are added, or what others learned with the same layer
stream     the same a batch at a time, with checkpoints
members    drawn when they are first asked for
"""

from .members import with_members as with_members
from .readout import solve as solve
from .record import (
    Fit as Fit,
    NotFittedError as NotFittedError,
    Progress as Progress,
    Training as Training,
)
from .settings import (
    check_batch as check_batch,
    history_of as history_of,
    known_boundary as known_boundary,
    known_gaps as known_gaps,
    prepare as prepare,
    without_bad as without_bad,
)
from .stream import learn_stream as learn_stream
from .sums import learn as learn, merge as merge

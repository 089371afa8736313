"""The search: everything that is chosen from the data, by one rule and one gate.

policy      every tuned number, with its reason
problem     settings as they were given, and what the data says
checks      bad pairs, and ends that are no neighbours
folds       what is held out
build       from a plan to the parts of a model
held_out    errors of plans on what was held out, from sums kept for each fold
rule        the simplest within one standard error of the best
option      a plan with its errors
extents     sizes of windows
beside      what windows are told: the mean, potentials, surroundings, position
symmetry    the group that the data obeys
given       what was given, and what the search starts with
growth      how many random units
stability   trial forecasts
gate        the least error with which they stay in range
simple      the mean state and persistence
search      the stages in order
"""

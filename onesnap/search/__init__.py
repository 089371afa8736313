"""The search: everything that is chosen from the data.

policy      every tuned number, with its reason
problem     settings as they were given, and what the data says
folds       what is held out
probe       small quick models, judged by windows they have not seen
extents     sizes of windows
beside      the mean, potentials and position
symmetry    the group that the data obeys
draft       plans with everything settled but window and noise
build       from a plan to the parts of a model
candidate   drafts fitted to a part of the windows
stability   trial forecasts
search      the least error with which a forecast stays in range
"""

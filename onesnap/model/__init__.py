"""The model: the learned map, its forecasts, its files.

plan             every setting with its value and its reason
stepper          the learned map `u -> u_next`
spectral_limit   waves get no stronger than in training
length           how long a forecast may be
rollout          forecasts with a status
shard            the part of a grid that a device holds
mesh             which device holds what
devices          forecasts on many devices
slabs            forecasts of states larger than memory
forecaster       what anything that forecasts looks like
file             model files
validation       what a model file may say
forecast_file    long forecasts into files
forecast_parts   forecasts of many processes into one file
"""

"""How good a forecast is, and how far it can be trusted.

metrics       relative squared error, valid time, skill, moments, spectra
baseline      the linear window
ensemble      readouts beside the model's own, and the band they make
request       what a forecast is asked for, and what makes it
calibration   how wide that band has to be
verdict       errors beside those of simple models, and what they mean
observations  what users have of them, checked and filled
assimilate    the trajectory of a model that fits noisy observations best
background    what is typical of states, in waves
variational   4D-Var
kalman        an ensemble that goes from one observation to the next
localisation  how far an observation counts
transform     weights of members from observations
relearn       learning and smoothing in turn
trust         a model judged by data that it has not learned from
"""

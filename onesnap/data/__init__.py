"""Data files: every format gives the same `Dataset`, read a few steps at a time.

errors       what is wrong with a file, in one error that names it
axes         what names and points of axes tell
trajectory   their length, how states are read, and which to hold out
field        a named quantity, by how it moves when the axes do
numbering    pairs of states by their numbers
dataset      what a file holds: fields, grid, step, boundary, trajectories
provenance   what a forecast of ours says about itself
layout       which axis of an array is time, which are space
sizes        what is read, capped by what is stored
hdf5         careful access to HDF5: no links out of the file, no surprises in size
named        named arrays of a file, some of them states, others axes and steps
arrays       .npy and .npz
matlab       .mat of version 5
quantity     fields of The Well by their flags, and what they are to a model
well         HDF5 as The Well publishes it
pdebench     HDF5 as PDEBench publishes it
pdearena     HDF5 as PDEArena publishes it
plain        any other HDF5, by the names of its arrays and axes
store        Zarr stores: a look at their metadata before they are opened
gridded      NetCDF and Zarr through xarray
vectors      channels that are the components of one vector
beside       known numbers and fields beside the states, which may change in time
opening      which of these a file is, by its content
source       where a dataset comes from: another process opens it anew
collection   several files, a pattern or a folder as one dataset
choice       parts of a dataset by time and by number
lag          how noisy a sequence is, and how far apart the states of its pairs are
sequence     arrays in memory, and sequences of states among them, as pairs
pairs        states before and after a step, with their context
gaps         cells without values
fingerprint  states that were learned from, known again
card         what a model remembers of its data
stream       the pairs of a dataset, in batches that fit into memory
atomic       files that are there whole or not at all
sealed       arrays and settings in a file with a digest
checkpoint   what an interrupted fit had learned
locked       files that one process holds while it writes them
partial      a forecast that is under way, a piece at a time
writing      forecasts into files of every format
"""

from .collection import open as open
from .dataset import Dataset as Dataset
from .errors import DataError as DataError
from .field import Field as Field

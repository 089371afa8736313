"""Data files: every format gives the same `Dataset`, read a few steps at a time.

dataset    what a file holds: fields, grid, step, boundary, trajectories
hdf5       careful access to HDF5: no links out of the file, no surprises in size
layout     which axis of an array is time, which are space
arrays     .npy and .npz
well       HDF5 as The Well publishes it
pdebench   HDF5 as PDEBench publishes it
plain      any other HDF5, by the names of its datasets and axes
gridded    NetCDF and Zarr through xarray
opening    finds out which of these a file is, by its content
writing    forecasts into files, a piece at a time
"""

from .dataset import DataError as DataError, Dataset as Dataset, Field as Field
from .opening import open as open

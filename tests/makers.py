"""Small data files of every format, made from their published schemas, quirks included."""

import h5py
import numpy as np
import scipy.io
import xarray as xr

RANDOM = np.random.default_rng(0)
STATES = RANDOM.normal(size=(6, 2, 16)).astype(np.float32)  # (time, channel, x)


def npy(path):
    np.save(path, STATES)


def npz(path):
    np.savez(path, states=STATES, dt=0.5, x=np.arange(16) * 0.25, system="waves")


def plain(path):
    with h5py.File(path, "w") as file:
        file["run/u"] = STATES[:, 0]
        file["run/v"] = STATES[:, 1]
        file["run/t"] = np.arange(6) * 0.5
        file["run/x"] = np.arange(16) * 0.25


def well(path):
    """2 × 6 × (8, 9), every kind of field, and what published files get wrong."""
    with h5py.File(path, "w") as file:
        file.attrs.update(dataset_name="d", grid_type="cartesian", n_spatial_dims=2, n_trajectories=2)
        file.attrs["simulation_parameters"] = ["nu"]
        file.attrs["nu"] = 0.1
        axes = file.create_group("dimensions")
        axes.attrs["spatial_dims"] = ["x", "y"]
        for name, size, step in (("time", 6, 0.5), ("x", 8, 0.25), ("y", 9, 0.125)):
            axes[name] = (np.arange(size) * step).astype(np.float32)
            axes[name].attrs["sample_varying"] = False  # and no time_varying
        edges = file.create_group("boundary_conditions")
        one = edges.create_group("x_periodic")
        one.attrs.update(associated_dims="x", bc_type="PERIODIC", sample_varying=False)  # a string
        one["mask"] = np.zeros(8, bool)  # marks nothing
        two = edges.create_group("y_wall")
        two.attrs.update(associated_dims=["y"], bc_type="Wall", sample_varying=False)
        two["mask"] = np.eye(1, 9, 0, dtype=bool)[0]
        scalars = file.create_group("scalars")
        scalars.attrs["field_names"] = ["forcing", "drift"]
        scalars["forcing"] = np.array([1.0, 2.0])
        scalars["forcing"].attrs.update(sample_varying=True, time_varying=False)
        scalars["drift"] = np.arange(6.0)
        scalars["drift"].attrs.update(sample_varying=False, time_varying=True)
        sizes = {"t0_fields": (), "t1_fields": (2,), "t2_fields": (2, 2)}
        groups = {name: file.create_group(name) for name in sizes}
        fields = [
            ("t0_fields", "pressure", (2, 6, 8, 9), True, True, [True, True]),
            ("t0_fields", "floor", (8,), False, False, [True, False]),
            ("t1_fields", "velocity", (2, 6, 8, 9, 2), True, True, [True, True]),
        ]
        for group, name, shape, sample, time, along in fields:
            item = groups[group].create_dataset(name, data=RANDOM.normal(size=shape).astype("f4"))
            item.attrs.update(sample_varying=sample, time_varying=time, dim_varying=along)
        for name, group in groups.items():
            group.attrs["field_names"] = [n for g, n, *_ in fields if g == name]
        groups["t0_fields"]["unlisted"] = np.zeros(3)  # field_names decide, not keys


def flat(path):
    """PDEBench A, with a time too many."""
    with h5py.File(path, "w") as file:
        file["tensor"] = RANDOM.normal(size=(3, 6, 16)).astype("f4")
        file["x-coordinate"] = np.arange(16) * 0.25
        file["t-coordinate"] = np.arange(7) * 0.5
        file.attrs["beta"] = 0.4


def device(path):
    """PDEBench A as made by its generator: an axis of devices in front."""
    with h5py.File(path, "w") as file:
        file["tensor"] = RANDOM.normal(size=(1, 3, 6, 16)).astype("f4")
        file["x-coordinate"] = np.arange(16) * 0.25


def gas(path):
    """PDEBench B."""
    with h5py.File(path, "w") as file:
        for name in ("density", "pressure", "Vx", "Vy"):
            file[name] = RANDOM.normal(size=(2, 6, 8, 9)).astype("f4")
        for name, size in (("x", 8), ("y", 9)):
            file[f"{name}-coordinate"] = (np.arange(size) + 0.5) / size
        file["t-coordinate"] = np.arange(7) * 0.05
        file.attrs.update(eta=0.1, zeta=0.1, M=0.5)


def seeds(path):
    """PDEBench C; the seeds are not 0 … N-1, and the second trajectory is shorter."""
    with h5py.File(path, "w") as file:
        for seed, steps in (("0003", 6), ("0023", 5)):
            group = file.create_group(seed)
            group["data"] = RANDOM.normal(size=(steps, 8, 9, 2)).astype("f4")
            group["grid/x"], group["grid/y"] = np.arange(8) * 0.25, np.arange(9) * 0.25
            group["grid/t"] = np.arange(steps) * 0.5
            group.attrs["config"] = "sim:\n  t: 5.0\n"


def flow(path):
    """PDEBench D."""
    with h5py.File(path, "w") as file:
        chunked = {"chunks": True, "compression": "lzf"}
        file.create_dataset("velocity", data=RANDOM.normal(size=(2, 6, 8, 8, 2)), **chunked)
        file.create_dataset("particles", data=RANDOM.normal(size=(2, 6, 8, 8, 1)), **chunked)
        file["force"] = RANDOM.normal(size=(2, 8, 8, 2))
        file["t"] = np.tile(np.arange(6) * 0.5, (2, 1))
        file.attrs["latestIndex"] = 1


def grid() -> xr.Dataset:
    """Packed integers with gaps, on (time, level, lat, lon), as weather services write them."""
    values = np.round(RANDOM.normal(size=(6, 1, 8, 9)) * 100) / 100 + 280
    values[:, :, 2:4, 3] = np.nan
    axes = {
        "time": np.arange(6) * 6.0,
        "level": [500.0],
        "lat": np.arange(8.0),
        "lon": np.arange(9.0),
    }
    data = xr.Dataset({"t2m": (tuple(axes), values)}, axes)
    data["time"].attrs["units"] = "hours since 2000-01-01"
    data["t2m"].attrs["units"] = "K"
    data["t2m"].encoding.update(dtype="int16", scale_factor=0.01, add_offset=280.0, _FillValue=-9999)
    return data


def netcdf(path):
    grid().to_netcdf(path, engine="h5netcdf")


def netcdf3(path):
    grid().to_netcdf(path, engine="scipy", format="NETCDF3_CLASSIC")


def zarr(path):
    grid().to_zarr(path, zarr_format=3, consolidated=False)


def zarr2(path):
    data = grid()
    data["t2m"].encoding.pop("_FillValue")
    data["t2m"].encoding.clear()
    data.to_zarr(path, zarr_format=2, consolidated=False)


def matlab(path):
    """Version 5: axes in MATLAB's order, points beside them as columns."""
    beside = {"x": np.arange(16)[:, None] * 0.25, "t": np.arange(6)[None] * 0.5}
    scipy.io.savemat(path, {"u": STATES[:, 0].T, "v": STATES[:, 1].T, **beside}, do_compression=True)


def write_matlab73(path, arrays):
    """HDF5 behind a block of MATLAB's own; axes come in reverse order."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = array
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116))


def matlab73(path):
    """Version 7.3."""
    beside = {"x": np.arange(16)[None] * 0.25, "t": np.arange(6)[:, None] * 0.5}
    write_matlab73(path, {"u": STATES[:, 0], "v": STATES[:, 1], **beside})


FILES = {
    "array.npy": npy,
    "archive.npz": npz,
    "plain.h5": plain,
    "well.hdf5": well,
    "1D_Advection_Sols_beta0.4.hdf5": flat,
    "device.hdf5": device,
    "2D_CFD_Rand_M0.5_Eta0.1_Zeta0.1_periodic_8_Train.hdf5": gas,
    "2D_diff-react_NA_NA.h5": seeds,
    "ns_incom_inhom_2d_512-0.h5": flow,
    "grid.nc": netcdf,
    "old.nc": netcdf3,
    "grid.zarr": zarr,
    "grid2.zarr": zarr2,
    "old.mat": matlab,
    "new.mat": matlab73,
}
OPTIONS = {
    "plain.h5": {"field": "run/u,run/v", "dims": "time,x"},
    "old.mat": {"field": "u,v"},
    "new.mat": {"field": "u,v"},
}

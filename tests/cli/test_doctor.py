"""What the doctor says: versions that are there, and how to get what is missing."""

from importlib import metadata

from typer.testing import CliRunner

import onesnap
from onesnap.cli import app, doctor
from onesnap.network.native.library import Library, compiled


def test_it_names_versions_devices_and_native_code():
    rows = {what: (value, words) for what, value, words in doctor.examine()}
    assert rows["onesnap"][0] == onesnap.__version__
    assert rows["devices"][0].startswith("cpu:0")
    assert rows["native code"][0] == compiled().about
    assert f"jax {metadata.version('jax')}" in rows["packages"][0]
    assert rows["packages"][1] == ""
    assert "h5py" in rows["extra data (HDF5, NetCDF, Zarr)"][0]


def test_it_tells_how_to_get_what_is_missing(monkeypatch):
    monkeypatch.setattr(doctor, "installed", lambda name: None if name == "optax" else "1.0")
    none = Library(None, "none: there is no C++ compiler")
    monkeypatch.setattr("onesnap.network.native.library.compiled", lambda: none)
    rows = {what: (value, words) for what, value, words in doctor.examine()}
    wanted = ("none", "missing: optax; pip install 'onesnap[assimilate]'")
    assert rows["extra assimilate (snap.assimilate)"] == wanted
    assert rows["native code"][1] == "JAX does the same, but slower"


def test_extras_are_those_of_the_package():
    packages = doctor.needs()
    assert all(packages[extra] for extra in doctor.EXTRAS)
    assert "numpy" in packages[""]


def test_the_command_prints_it():
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert "native code" in result.stdout

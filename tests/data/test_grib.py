"""GRIB, as weather services write it: messages of one grid and level, read through cfgrib."""

import eccodes
import numpy as np
import pytest

import onesnap as snap
from onesnap.data import DataError

RANDOM = np.random.default_rng(0)
WIND = RANDOM.normal(size=(4, 2, 6, 8))  # (time, u and v, latitude, longitude)
NUMBERS = {"u": 131, "v": 132}


def write_grib(path) -> None:
    """Wind at 500 hPa every six hours, a message for each component and time."""
    with path.open("wb") as stream:
        for time, state in enumerate(WIND):
            for name, values in zip(NUMBERS, state, strict=True):
                message = eccodes.codes_grib_new_from_samples("regular_ll_pl_grib1")
                known = {
                    "Ni": 8, "Nj": 6, "latitudeOfFirstGridPointInDegrees": 50.0,
                    "latitudeOfLastGridPointInDegrees": 45.0,
                    "longitudeOfFirstGridPointInDegrees": 0.0,
                    "longitudeOfLastGridPointInDegrees": 7.0,
                    "iDirectionIncrementInDegrees": 1.0, "jDirectionIncrementInDegrees": 1.0,
                    "dataDate": 20200101, "dataTime": 600 * time, "level": 500,
                    "indicatorOfParameter": NUMBERS[name], "bitsPerValue": 24,
                }  # fmt: skip
                for key, value in known.items():
                    eccodes.codes_set(message, key, value)
                eccodes.codes_set_values(message, values.ravel())
                eccodes.codes_write(message, stream)
                eccodes.codes_release(message)


def test_wind_is_a_vector_on_latitude_and_longitude(tmp_path):
    write_grib(tmp_path / "wind.grib")
    data = snap.open(tmp_path / "wind.grib", boundary=("open", "periodic"))
    assert (data.format, data.axes, data.space) == ("GRIB", ("latitude", "longitude"), (6, 8))
    assert data.kinds == ("vector",)
    assert data.names == ["v", "u"]  # latitude is the first axis
    assert data.dt == 6 * 3600
    np.testing.assert_allclose(data.states(), WIND[:, ::-1], atol=1e-5)
    assert not [file for file in tmp_path.iterdir() if file.suffix == ".idx"]  # no pickles beside


@pytest.mark.parametrize("end", [100, -20])  # in the first message, and in the last
def test_a_damaged_file_is_one_error(tmp_path, end, capfd):
    write_grib(tmp_path / "wind.grib")
    content = (tmp_path / "wind.grib").read_bytes()
    (tmp_path / "cut.grib").write_bytes(content[:end])
    with pytest.raises(DataError, match="cut.grib"):
        snap.open(tmp_path / "cut.grib")
    assert capfd.readouterr() == ("", "")


def test_a_message_that_never_comes_is_waited_for_by_nobody(tmp_path):
    """The library goes on to the next message of these eight bytes for ever, if it may."""
    (tmp_path / "short.grib").write_bytes(b"GRIB\0\0\4\1")
    with pytest.raises(DataError, match="short.grib"):
        snap.open(tmp_path / "short.grib")


def test_without_the_package_it_is_named(tmp_path, monkeypatch):
    write_grib(tmp_path / "wind.grib")
    monkeypatch.setitem(__import__("sys").modules, "cfgrib", None)
    with pytest.raises(ImportError, match=r"GRIB: .*pip install 'onesnap\[grib\]'"):
        snap.open(tmp_path / "wind.grib")

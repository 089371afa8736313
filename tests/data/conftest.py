"""A folder with a small file of every format, and datasets from it."""

import makers
import pytest

import onesnap as snap


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data files é")
    for name, make in makers.FILES.items():
        make(folder / name)
    return folder


@pytest.fixture
def read(folder):
    """Opens a file of the folder by its name."""
    return lambda name, **more: snap.open(folder / name, **makers.OPTIONS.get(name, {}) | more)

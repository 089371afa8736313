"""A fit on a Dask cluster of real processes, one of which is killed in the middle."""

import os
import signal
import time

import numpy as np
import pytest
from heat import cooling

import onesnap as snap

pytestmark = pytest.mark.slow

SETTINGS = {"extent": 1, "stride": 2, "hidden": 40, "noise": 1e-2, "symmetry": None, "context": 0}
SETTINGS |= {"mean": "keep", "boundary": "wall", "windows": None}


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "data.npy"
    np.save(path, cooling(400, 1, 64, 32).astype(np.float32))
    return snap.open(path)


def content(model, folder) -> bytes:
    model.save(folder / "model", force=True)
    return (folder / "model").read_bytes()


@pytest.mark.filterwarnings("ignore")  # what the engine says when a worker is gone
def test_a_worker_is_killed_in_the_middle_and_the_model_is_the_same(client, data, tmp_path):
    model, pieces = snap.Surrogate(**SETTINGS), 12
    whole = content(model.fit(data, executor=client.get_executor(), pieces=pieces), tmp_path)
    killed = []

    def kill(done, total):
        """As soon as the first piece is there: others are under way."""
        if not killed:
            workers = client.run(os.getpid)
            killed.append(next(iter(workers.values())))
            os.kill(killed[0], signal.SIGKILL)

    executor = client.get_executor()
    again = model.fit(data, executor=executor, pieces=pieces, progress=kill)
    assert content(again, tmp_path) == whole
    deadline = time.monotonic() + 60
    while killed[0] in client.run(os.getpid).values() and time.monotonic() < deadline:
        time.sleep(0.5)
    assert killed[0] not in client.run(os.getpid).values()
    with pytest.raises(ValueError, match="data in memory"):
        snap.Surrogate(**SETTINGS).fit(_in_memory(), executor=executor)


def _in_memory():
    from onesnap.data.arrays import from_array

    return from_array(cooling(3, 1, 64, 32))

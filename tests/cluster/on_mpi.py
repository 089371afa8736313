"""A fit on workers of MPI, compared with one on threads; a program.

mpiexec -n 3 python -m mpi4py.futures on_mpi.py FOLDER
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from mpi4py.futures import MPIPoolExecutor

sys.path.insert(0, str(Path(__file__).parents[1]))
from heat import cooling

import onesnap as snap

SETTINGS = {"extent": 1, "stride": 2, "hidden": 40, "noise": 1e-2, "symmetry": None, "context": 0}
SETTINGS |= {"mean": "keep", "boundary": "wall", "windows": None}

if __name__ == "__main__":
    folder, contents = Path(sys.argv[1]), []
    np.save(folder / "data.npy", cooling(60, 1, 64, 32).astype(np.float32))
    data = snap.open(folder / "data.npy")
    for executor in (ThreadPoolExecutor(1), MPIPoolExecutor(2)):
        with executor:
            model = snap.Surrogate(**SETTINGS).fit(data, executor=executor, pieces=5)
        model.save(folder / "model", force=True)
        contents.append((folder / "model").read_bytes())
    assert contents[0] == contents[1]

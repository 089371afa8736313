"""One of two processes that forecast together, over gloo; a program.

python in_processes.py PORT NUMBER FOLDER
"""

import sys
from pathlib import Path

import jax
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from untrained import restless, untrained

if __name__ == "__main__":
    port, number, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, number)

    from onesnap.model.devices import forecast_on
    from onesnap.model.mesh import make_mesh
    from onesnap.model.rollout import forecast

    assert (len(jax.devices()), len(jax.local_devices())) == (4, 2)
    stepper = untrained((2, 2), (2, 1), ("open", "periodic"), channels=2)
    states = 0.7 * restless(1, (1, 2, 24, 16))
    mesh = make_mesh(4, stepper, (24, 16))
    (many,) = forecast_on(mesh, stepper, states, 20)
    with jax.default_device(jax.local_devices()[0]):
        (one,) = forecast(stepper, states, 20)
    np.testing.assert_array_equal(many.states, one.states)
    jax.distributed.shutdown()

"""One of two processes that forecast together, over gloo, what each forecasts alone; a program.

python in_processes.py PORT NUMBER STEPS [CASE ...]
"""

import sys

import jax

if __name__ == "__main__":
    port, number, steps = map(int, sys.argv[1:4])
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    jax.distributed.initialize(f"127.0.0.1:{port}", 2, number)  # before anything else is asked of JAX

    from on_devices import CASES, compare

    assert (len(jax.devices()), len(jax.local_devices())) == (4, 2)
    for case in sys.argv[4:] or CASES:
        compare(case, steps, counts=(4,))
    jax.distributed.shutdown()

"""Shapes in annotations are checked, examples are drawn the same way in every run."""

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

settings.register_profile(
    "house",
    deadline=None,  # compilation makes first examples slow
    max_examples=16,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")
# The numeric core; what users call directly checks its arguments itself, with better words.
CORE = ("symmetry", "grid", "network", "model.stepper", "model.spectral_limit", "model.rollout")
_hook = install_import_hook([f"onesnap.{name}" for name in CORE], "beartype.beartype")


@pytest.fixture
def strict():
    """No silent change of precision: float32 and float64 may not be mixed."""
    import jax

    with jax.numpy_dtype_promotion("strict"):
        yield

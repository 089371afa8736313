"""Shapes in annotations are checked, dtype promotion is strict, examples are drawn the same way."""

import jax
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

jax.config.update("jax_numpy_dtype_promotion", "strict")
settings.register_profile(
    "house",
    deadline=None,  # compilation makes first examples slow
    max_examples=20,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")
_hook = install_import_hook("onesnap", "beartype.beartype")

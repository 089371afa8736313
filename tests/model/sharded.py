"""What a compiled step on a mesh consists of, and gradients and batches on one; a program."""

import re
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from untrained import restless, untrained

from onesnap.model.devices import STATE, forecast_on, place, spread, trajectories
from onesnap.model.mesh import make_mesh
from onesnap.model.rollout import forecast, trajectory
from onesnap.model.stepper import stack, with_readout

COLLECTIVE = r"(all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)(?:-start)?\("


def collectives(stepper, space, devices=4) -> list[str]:
    """What a compiled step sends."""
    mesh = make_mesh(devices, stepper, space)
    state = place(np.zeros((stepper.channels, *space), np.float32), mesh, STATE)
    text = jax.jit(spread(stepper, mesh)).lower(state).compile().as_text()
    return re.findall(COLLECTIVE, text)


def check_messages() -> None:
    line = untrained((3,), (2,), ("open",), position=(2,), surroundings=(3,))
    assert collectives(line, (120,)) == ["collective-permute"] * 2
    plane = untrained((2, 2), (1, 1), (0.5, "periodic"), channels=2, surroundings=(3,))
    square = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 2), ("x", "y"))
    assert collectives(plane, (48, 48), square) == ["collective-permute"] * 4  # two an axis
    # A mean is a few numbers of each device, beside the cells.
    assert "all-gather" in collectives(untrained((3,), (2,), mean="remove"), (48,))


def permutes(jaxpr, looped: bool = False) -> int:
    """How often a loop sends something, each time around."""
    count = 0
    for equation in jaxpr.eqns:
        count += looped and equation.primitive.name == "ppermute"
        inside = looped or equation.primitive.name == "scan"
        for value in equation.params.values():
            for part in value if isinstance(value, tuple | list) else [value]:
                if hasattr(part := getattr(part, "jaxpr", part), "eqns"):
                    count += permutes(part, inside)
    return count


def check_known_fields() -> None:
    """A mask that never changes is sent before the first step; the state in every one."""
    mask = (restless(5, (1, 32)) < 0.8).astype(float)
    masked = untrained((2,), (2,), "wall", fields=mask, fill=np.array([0.2]))
    mesh, state = make_mesh(4, masked, (32,)), np.zeros((1, 1, 32), np.float32)
    program = jax.make_jaxpr(lambda u: trajectories(masked, u, mesh, 5, 2))(state)
    assert permutes(program.jaxpr) == 2
    once = masked.inputs.once(np.float32)
    assert once.known is not None
    assert once.bind(fields=1.0 - mask).known is None


def check_gradient() -> None:
    """Through a forecast on a mesh, by the state and by the readout; and of a step."""
    stepper, state = untrained((2,), (2,), "wall"), 0.7 * restless(1, (1, 1, 32))
    mesh = make_mesh(4, stepper, (32,))

    def loss(readout, states, run):
        moved = with_readout(stepper, readout)
        return jnp.mean(run(moved, states) ** 2)

    def many(s, u):
        return trajectories(s, u, mesh, 4)[0]

    def one(s, u):
        return trajectory(s, u[0], 4)[0][None]

    with jax.enable_x64(True):
        readout = jnp.asarray(stepper.network.readout)
        here = jax.grad(loss, (0, 1))(readout, jnp.asarray(state), one)
        there = jax.grad(loss, (0, 1))(readout, place(state, mesh), many)
        for a, b in zip(here, there, strict=True):
            np.testing.assert_allclose(np.asarray(b), np.asarray(a), rtol=1e-9, atol=1e-12)
        assert np.abs(np.asarray(here[0])).max() > 1e-6


def check_batch() -> None:
    """A batch is dealt out first; what is left over cuts the grid."""
    stepper, states = untrained((2,), (2,)), 0.7 * restless(2, (2, 1, 32))
    mesh = make_mesh(4, stepper, (32,), 2)
    assert dict(mesh.shape) == {"batch": 2, "x": 2}
    many = forecast_on(mesh, stepper, states, 6, every=2)
    for one, other in zip(forecast(stepper, states, 6, every=2), many, strict=True):
        np.testing.assert_array_equal(one.states, other.states)


def check_members() -> None:
    """Members of an ensemble, each with a readout of its own, are dealt out with their states."""
    one = untrained((2,), (2,), "wall", fields=restless(4, (1, 32)))
    members = [one, with_readout(one, 0.9 * one.network.readout)]
    state = np.float32(0.7 * restless(2, (1, 1, 32)))
    mesh = make_mesh(4, one, (32,), 2)
    states, _, good = trajectories(
        stack(members), place(np.concatenate([state, state]), mesh), mesh, 5, stacked=True
    )
    assert list(np.asarray(good)) == [5, 5]
    for member, many in zip(members, np.asarray(states), strict=True):
        np.testing.assert_array_equal(many, forecast(member, state, 5, dtype="float32")[0].states[1:])


def check_divergence() -> None:
    """A forecast that diverges in one place ends everywhere, at the step at which one device does."""
    stepper = untrained((2,), (2,), "wall", hidden=0)
    stepper = with_readout(stepper, 30.0 * stepper.network.readout)
    states = 1e-4 * restless(3, (1, 1, 32))
    states[..., 20] = 0.01
    mesh = make_mesh(4, stepper, (32,))
    (one,), (many,) = forecast(stepper, states, 40), forecast_on(mesh, stepper, states, 40)
    assert one.diverged_at is not None
    assert many.diverged_at == one.diverged_at
    np.testing.assert_array_equal(many.states, one.states)


if __name__ == "__main__":
    check_messages()
    check_known_fields()
    check_gradient()
    check_batch()
    check_members()
    check_divergence()

"""A step on many devices: what it costs here, and what it would cost on a large machine.

    t = flops of a part / rate + Σ over cut axes of 2 · (latency + bytes of an edge / link speed)

python -m studies.speed.devices [--measure]

The model is an upper bound: sending is counted as if no device computed meanwhile.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A network on a grid of cubes, as far as cost depends on it; float32."""

    name: str
    dimension: int
    extent: int = 2
    stride: int = 2
    hidden: int = 600
    channels: int = 1

    @property
    def flops(self) -> float:
        """Multiplications and additions for a cell: two products, and ten for an activation."""
        cells = self.channels * (2 * self.extent + self.stride) ** self.dimension
        answers = self.channels * self.stride**self.dimension
        return self.hidden * (2 * cells + 2 * answers + 10) / self.stride**self.dimension

    def edges(self, part: Sequence[float], counts: Sequence[int]) -> list[float]:
        """Bytes of one message along each axis that is cut; the later hold corners of the earlier."""
        local, sizes = list(part), list[float]()
        for axis, count in enumerate(counts):
            if count > 1:
                others = math.prod(local) / local[axis]
                sizes.append(4.0 * self.channels * self.extent * others)
            local[axis] += 2 * self.extent  # one that is not cut is continued just as well
        return sizes


@dataclass(frozen=True)
class Machine:
    """Devices in nodes: as their makers publish them, as others measured them, and what is assumed.

    docs/scale.md names the source of each number.
    """

    flops: float = 67e12  # float32 without tensor cores, H100 SXM: published
    memory: float = 3.35e12  # bytes a second, H100 SXM: published
    inside: float = 380e9  # bytes a second one way over NVLink: measured, of 450 published
    between: float = 50e9  # a 400 Gb/s port a device: published
    node: int = 8  # devices: published
    near: float = 3e-6  # a small message within a node: measured
    far: float = 34e-6  # one between two nodes, of older devices: measured
    share: float = 0.3  # of the peak rate that a step reaches: assumed, see `memory_share`

    def memory_share(self, case: Case) -> float:
        """The share at which memory would be the limit, if hidden units go there and back twice."""
        traffic = 4 * 4.0 * case.hidden / case.stride**case.dimension  # bytes a cell
        return case.flops / self.flops / (traffic / self.memory)


def split(devices: int, dimension: int) -> list[int]:
    """So many devices, a power of two, along the axes: as near to a cube as can be."""
    counts, power = [1] * dimension, devices.bit_length() - 1
    for turn in range(power):
        counts[turn % dimension] *= 2
    return counts


def step_time(
    case: Case, machine: Machine, part: Sequence[float], devices: int
) -> tuple[float, float, float]:
    """Seconds of a step on parts with these sides: compute, bytes of the edges, latency."""
    sizes = case.edges(part, split(devices, case.dimension))
    compute = math.prod(part) * case.flops / (machine.share * machine.flops)
    speed, latency = machine.inside, machine.near
    if devices > machine.node:
        speed, latency = machine.between, machine.far
    return compute, sum(2 * size / speed for size in sizes), 2 * len(sizes) * latency


STRONG = [
    (Case("2-D", 2), 65_536),
    *((Case("3-D", 3), points) for points in (1024, 2048, 4096)),
]
DEVICES = (1, 8, 64, 512, 4096, 8192, 16_384)
WEAK = [(Case("2-D", 2), 8192), (Case("3-D", 3), 256)]  # points a side that each device has


def strong_rows(machine: Machine) -> list[list[str]]:
    """Milliseconds of a step, and the share of them that is work, for grids of fixed size."""
    rows = []
    for case, points in STRONG:
        row = [f"{case.name} {points:,}"]
        for devices in DEVICES:
            counts = split(devices, case.dimension)
            part = [points / count for count in counts]
            work, sent, waited = step_time(case, machine, part, devices)
            total = work + sent + waited
            row.append(f"{1e3 * total:,.3g} ({work / total:.0%})")
        rows.append(row)
    return rows


def weak_rows(machine: Machine) -> list[list[str]]:
    """The same where each device has as much to do, however many there are."""
    rows = []
    for case, side in WEAK:
        row = [f"{case.name} {side:,} a device"]
        for devices in DEVICES:
            work, sent, waited = step_time(case, machine, [side] * case.dimension, devices)
            total = work + sent + waited
            row.append(f"{1e3 * total:,.3g} ({work / total:.0%})")
        rows.append(row)
    return rows


def measure(points: int = 512, kept: int = 8) -> dict[int, float]:
    """Seconds of a step in the plane on 1, 2 and 4 devices, those that this process has."""
    import jax
    import numpy as np

    from onesnap.model.devices import place, trajectories
    from onesnap.model.mesh import make_mesh

    from .cases import Case as Trained
    from .timing import cast, repeated

    case = Trained("ks-2d", points, 2, 2, 600, 36, mean="keep")
    stepper, seconds = cast(case.stepper(), "float32"), {}
    for count in (1, 2, 4):
        mesh = make_mesh(count, stepper, (points, points))
        state = place(np.asarray(case.state("float32"))[None], mesh)

        def some(states, mesh=mesh):
            return trajectories(stepper, states, mesh, 1, kept)[0][:, -1]

        seconds[count] = repeated(jax.jit(some), state, 2) / kept
    return seconds


def main(arguments: Sequence[str]) -> None:
    """Print the tables, and with --measure what steps take here."""
    if "--child" in arguments:
        print(json.dumps(measure()))
        return
    if "--measure" in arguments:
        flags = os.environ | {"XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
        command = [sys.executable, "-m", "studies.speed.devices", "--child"]
        said = subprocess.run(command, env=flags, check=True, capture_output=True, text=True).stdout
        for count, seconds in json.loads(said.splitlines()[-1]).items():
            print(f"512² on {count} virtual devices of this machine: {1e3 * seconds:.3g} ms a step")
    for case, _ in WEAK:
        print(
            f"{case.name}: {Machine().memory_share(case):.2f} of the peak rate if memory is the limit"
        )
    for title, rows in (("strong", strong_rows(Machine())), ("weak", weak_rows(Machine()))):
        header = [f"{title}: ms a step (share that is work)", *(f"{n:,}" for n in DEVICES)]
        for row in (header, ["---"] * len(header), *rows):
            print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])

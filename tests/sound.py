"""Linear acoustics in the plane, p_t = -∇·v, v_t = -∇p: the exact solution of random states."""

import numpy as np


def sound(seed: int, count: int, points: int, time: float, length: float = 3.0):
    """Pressure and velocity `(pair, 3, points, points)`, and what they are after a time.

    Waves cross a cell in a unit of time, and are as smooth as `length` cells demand. Along a wave
    number k, pressure and velocity along k turn into each other by the angle |k| t.
    """
    random = np.random.default_rng(seed)
    waves = 2 * np.pi * np.stack(np.meshgrid(*[np.fft.fftfreq(points)] * 2, indexing="ij"))
    speed = np.sqrt(np.sum(waves**2, axis=0))
    along = 1j * waves / np.where(speed > 0, speed, 1.0)
    # The fastest waves of the grid have no direction.
    kept = np.exp(-0.5 * (speed * length) ** 2) * np.all(np.abs(waves) < np.pi, axis=0)
    noise = kept * np.fft.fft2(random.normal(size=(3, count, 1, points, points)))
    pressure, driven, steady = noise[0], noise[1], 0.3 * noise[2]
    cosine, sine = np.cos(speed * time), np.sin(speed * time)

    def state(pressure, driven):
        velocity = along * driven + along[::-1] * steady * np.array([-1, 1])[:, None, None]
        return np.fft.ifft2(np.concatenate([pressure, velocity], axis=1)).real

    before = state(pressure, driven)
    after = state(cosine * pressure + sine * driven, cosine * driven - sine * pressure)
    return before / before.std(), after / before.std()

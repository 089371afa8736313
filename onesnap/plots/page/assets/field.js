"use strict";
// What can be done to a state: drawn anew at random, brushed, turned.

/** A small generator of random numbers with a seed, uniform in [0, 1). */
function randomFrom(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Means over 2 radius + 1 cells along an axis of a periodic grid. */
function blurred(field, space, axis, radius) {
  const out = new Float64Array(field.length), length = space[axis];
  const apart = space.slice(axis + 1).reduce((a, b) => a * b, 1);
  for (let line = 0; line < field.length / length; line++) {
    const first = Math.floor(line / apart) * apart * length + (line % apart);
    const at = (i) => first + ((i + radius * length) % length) * apart;
    let total = 0;
    for (let k = -radius; k <= radius; k++) total += field[at(k)];
    for (let i = 0; i < length; i++) {
      out[at(i)] = total / (2 * radius + 1);
      total += field[at(i + radius + 1)] - field[at(i - radius)];
    }
  }
  return out;
}

/** Smooth noise with the mean, the deviation and the correlation length of the data. */
function randomState(model, data, seed) {
  const uniform = randomFrom(seed), cells = volume(model.space);
  const state = new Float64Array(model.channels * cells);
  for (let c = 0; c < model.channels; c++) {
    let noise = Float64Array.from({ length: cells }, () => uniform() - 0.5);
    for (let pass = 0; pass < 3; pass++)
      for (const axis of [0, 1, 2]) {
        const radius = Math.min(Math.ceil(data.smooth / 2), (model.space[axis] - 1) >> 1);
        if (radius > 0) noise = blurred(noise, model.space, axis, radius);
      }
    const mean = noise.reduce((sum, value) => sum + value, 0) / cells;
    const spread = Math.sqrt(noise.reduce((sum, value) => sum + (value - mean) ** 2, 0) / cells) || 1;
    const [low, high] = [data.low[c], data.high[c]], free = model.mean === "remove";
    for (let i = 0; i < cells; i++) {
      const value = data.average[c] + (data.deviation[c] * (noise[i] - mean)) / spread;
      state[c * cells + i] = free ? value : Math.min(Math.max(value, low), high);
    }
  }
  return state;
}

/** The cells within a brush around one of them, each with its weight, across periodic ends. */
function touched(model, cell, size) {
  const { space, boundary } = model, middle = placeOf(cell, space), cells = [];
  const reach = space.map((points) => Math.min(Math.ceil(2 * size), (points - 1) >> 1));
  const along = (axis, by) => {
    const i = middle[axis] + by, points = space[axis];
    return boundary[axis][0] === "periodic" ? (i + points) % points : i >= 0 && i < points ? i : null;
  };
  for (let i = -reach[0]; i <= reach[0]; i++)
    for (let j = -reach[1]; j <= reach[1]; j++)
      for (let k = -reach[2]; k <= reach[2]; k++) {
        const [x, y, z] = [along(0, i), along(1, j), along(2, k)];
        if (x === null || y === null || z === null) continue;
        cells.push([(x * space[1] + y) * space[2] + z, Math.exp((-2 * (i * i + j * j + k * k)) / (size * size))]);
      }
  return cells;
}

/** Brush a state in place; `stroke` is {cell, channel, brush, size, value}. */
function brush(model, state, stroke) {
  const { cell: middle, channel, size, value } = stroke, cells = volume(model.space);
  const field = state.subarray(channel * cells, (channel + 1) * cells);
  const near = touched(model, middle, size);
  if (stroke.brush === "smooth") {
    const weight = near.reduce((sum, [, w]) => sum + w, 0);
    const mean = near.reduce((sum, [cell, w]) => sum + w * field[cell], 0) / weight;
    for (const [cell, w] of near) field[cell] += 0.5 * w * (mean - field[cell]);
    return;
  }
  const uniform = randomFrom(1 + middle);
  for (const [cell, w] of near)
    field[cell] += w * value * (stroke.brush === "noise" ? 2 * uniform() - 1 : 1);
}

/** A symmetry applied to a state: new axis i reads old axis axes[i], reversed where flips[i]. */
function turned({ axes, flips, source, signs }, state, space, channels) {
  const out = new state.constructor(state.length), cells = volume(space);
  for (let at = 0; at < cells; at++) {
    const old = [0, 0, 0];
    placeOf(at, space).forEach((cell, axis) => (old[axes[axis]] = flips[axis] ? space[axis] - 1 - cell : cell));
    const from = (old[0] * space[1] + old[1]) * space[2] + old[2];
    for (let c = 0; c < channels; c++) out[c * cells + at] = signs[c] * state[source[c] * cells + from];
  }
  return out;
}

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

/** Means over 2 radius + 1 cells along an axis of a periodic plane. */
function blurred(field, [rows, columns], axis, radius) {
  const out = new Float32Array(field.length), length = axis ? columns : rows;
  const at = (line, i) => (axis ? line * columns + i : i * columns + line);
  for (let line = 0; line < field.length / length; line++) {
    let total = 0;
    for (let k = -radius; k <= radius; k++) total += field[at(line, (k + radius * length + length) % length)];
    for (let i = 0; i < length; i++) {
      out[at(line, i)] = total / (2 * radius + 1);
      total += field[at(line, (i + radius + 1) % length)] - field[at(line, (i - radius + radius * length) % length)];
    }
  }
  return out;
}

/** Smooth noise with the mean, the deviation and the correlation length of the data. */
function randomState(model, data, seed) {
  const uniform = randomFrom(seed), cells = model.space[0] * model.space[1];
  const state = new Float32Array(model.channels * cells);
  for (let c = 0; c < model.channels; c++) {
    let noise = Float32Array.from({ length: cells }, () => uniform() - 0.5);
    for (let pass = 0; pass < 3; pass++)
      for (const axis of [0, 1]) {
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

/** The cells within a brush around (row, column), each with its weight, across periodic ends. */
function touched(model, row, column, size) {
  const cells = [], [rows, columns] = model.space, reach = Math.ceil(2 * size);
  const wrap = (i, points, axis) =>
    model.boundary[axis][0] === "periodic" ? ((i % points) + points) % points : i;
  const tall = Math.min(reach, (rows - 1) >> 1), broad = Math.min(reach, (columns - 1) >> 1);
  for (let i = -tall; i <= tall; i++)
    for (let j = -broad; j <= broad; j++) {
      const [r, c] = [wrap(row + i, rows, 0), wrap(column + j, columns, 1)];
      const inside = r >= 0 && r < rows && c >= 0 && c < columns;
      if (inside) cells.push([r * columns + c, Math.exp((-2 * (i * i + j * j)) / (size * size))]);
    }
  return cells;
}

/** Brush a state in place; `stroke` is {row, column, channel, brush, size, value}. */
function brush(model, state, stroke) {
  const { row, column, channel, size, value } = stroke, cells = model.space[0] * model.space[1];
  const field = state.subarray(channel * cells, (channel + 1) * cells);
  const near = touched(model, row, column, size);
  if (stroke.brush === "smooth") {
    const weight = near.reduce((sum, [, w]) => sum + w, 0);
    const mean = near.reduce((sum, [cell, w]) => sum + w * field[cell], 0) / weight;
    for (const [cell, w] of near) field[cell] += 0.5 * w * (mean - field[cell]);
    return;
  }
  const uniform = randomFrom(1 + row * 7919 + column);
  for (const [cell, w] of near)
    field[cell] += w * value * (stroke.brush === "noise" ? 2 * uniform() - 1 : 1);
}

/** A symmetry applied to a state: new axis i reads old axis axes[i], reversed where flips[i]. */
function turned(element, state, [rows, columns], channels) {
  const out = new state.constructor(state.length), cells = rows * columns, { axes, flips } = element;
  for (let c = 0; c < channels; c++)
    for (let i = 0; i < rows; i++)
      for (let j = 0; j < columns; j++) {
        const old = [0, 0];
        old[axes[0]] = flips[0] ? rows - 1 - i : i;
        old[axes[1]] = flips[1] ? columns - 1 - j : j;
        out[c * cells + i * columns + j] =
          element.signs[c] * state[element.source[c] * cells + old[0] * columns + old[1]];
      }
  return out;
}

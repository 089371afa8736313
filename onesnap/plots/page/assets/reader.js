"use strict";
// From a state to what windows read: scaled, limited, continued beyond its edges, averaged.

const BOXES = 5; // averages over boxes along an axis

/** Where the cells of a padded axis come from: index, sign, and which end's held value is added. */
function beyond(points, reach, more, [low, high]) {
  const length = points + 2 * reach + more;
  const axis = { source: new Int32Array(length), sign: new Float64Array(length).fill(1), end: new Int8Array(length) };
  for (let i = 0; i < length; i++) {
    const cell = i - reach, out = cell < 0 ? low : high;
    axis.source[i] = cell;
    if (cell >= 0 && cell < points) continue;
    if (out === "periodic") axis.source[i] = ((cell % points) + points) % points;
    else if (out === "open") axis.source[i] = cell < 0 ? 0 : points - 1;
    else {
      axis.source[i] = cell < 0 ? -1 - cell : 2 * points - 1 - cell;
      if (out !== "wall") [axis.sign[i], axis.end[i]] = [-1, cell < 0 ? 1 : 2];
    }
  }
  return axis;
}

class Reader {
  /** `more` cells beyond the end of each axis are those that the last windows reach. */
  constructor(model, more) {
    this.model = model;
    this.more = more;
    this.cells = volume(model.space);
    this.fields = model.fields ? this.pad(model.fields, model.known, model.extent, true).data : null;
    this.place = model.space.map((points, axis) => this.cosines(points, axis));
    this.waves = model.gradients || model.amplitudes ? new Waves(model.space) : null;
  }

  /** Rows of cos(2^j π x / L) for blocks that start at each cell of an axis. */
  cosines(points, axis) {
    const { position, stride } = this.model;
    return Array.from({ length: position[axis] }, (_, power) =>
      Float64Array.from({ length: points }, (_, cell) =>
        Math.cos((2 ** power * Math.PI * (cell + (stride[axis] - 1) / 2)) / points)));
  }

  /** Put what lies beyond the boundary around channels of fields; `levels` of held values. */
  pad(field, channels, reach, known = false, levels = null) {
    const { space, boundary } = this.model;
    const kinds = boundary.map((ends) => ends.map((end) => (known && typeof end === "number" ? "open" : end)));
    const [x, y, z] = space.map((points, axis) => beyond(points, reach[axis], this.more[axis], kinds[axis]));
    const shape = [x, y, z].map(({ source }) => source.length);
    const padded = new Float64Array(channels * volume(shape));
    for (let c = 0, at = 0; c < channels; c++) {
      const held = (axis, end) => (levels ? 2 * levels[c][axis][end - 1] : 0);
      const base = [0, 1, 2].map((axis) => [0, held(axis, 1), held(axis, 2)]);
      for (let i = 0; i < shape[0]; i++) {
        const plane = (c * space[0] + x.source[i]) * space[1], first = base[0][x.end[i]];
        for (let j = 0; j < shape[1]; j++) {
          const row = (plane + y.source[j]) * space[2], sign = x.sign[i] * y.sign[j];
          const second = base[1][y.end[j]] + y.sign[j] * first;
          for (let k = 0; k < shape[2]; k++, at++)
            padded[at] = base[2][z.end[k]] + z.sign[k] * (second + sign * field[row + z.source[k]]);
        }
      }
    }
    return { data: padded, shape };
  }

  /** Averages over boxes that start at each cell of a padded field, along one axis after the other. */
  averages({ data, shape }, sides) {
    let means = data;
    const channels = data.length / volume(shape), now = [...shape];
    sides.forEach((side, axis) => {
      if (side === 1) return;
      const apart = now.slice(axis + 1).reduce((a, b) => a * b, 1), length = now[axis];
      now[axis] = length - side + 1;
      const next = new Float64Array(channels * volume(now));
      for (let outer = 0, at = 0; at < next.length; outer++)
        for (let i = 0; i < now[axis]; i++)
          for (let inner = 0; inner < apart; inner++, at++) {
            let total = 0;
            for (let k = 0; k < side; k++) total += means[(outer * length + i + k) * apart + inner];
            next[at] = total / side;
          }
      means = next;
    });
    return { data: means, shape: now };
  }

  limit(data) {
    const { margin } = this.model;
    return margin === null ? data : data.map((value) => Math.min(Math.max(value, -margin), 1 + margin));
  }

  /** Gradients of potentials of a scaled field, in units of their own range. */
  gradients(scaled) {
    const { channels, dimension, gradients } = this.model, axes = [0, 1, 2].slice(3 - dimension);
    const count = channels * dimension, all = new Float64Array(count * this.cells);
    const state = this.limit(scaled);
    for (let c = 0; c < channels; c++)
      this.waves.gradients(state.subarray(c * this.cells, (c + 1) * this.cells), axes).forEach((along, axis) => {
        const number = c * dimension + axis, low = gradients.low[number], width = gradients.width[number];
        all.set(along.map((value) => (value - low) / width), number * this.cells);
      });
    return this.pad(all, count, this.model.extent, true).data;
  }

  /** What windows read of a centred field: arrays, and the offset of each cell of a window. */
  read(field, mean) {
    const { channels, low, width, extent, stride, boundary, surroundings, dimension } = this.model;
    const scaled = field.map((value, i) => (value - low[(i / this.cells) | 0]) / width[(i / this.cells) | 0]);
    const levels = Array.from({ length: channels }, (_, c) =>
      boundary.map((ends) => ends.map((end) =>
        typeof end === "number" ? (end - (this.model.mean === "remove" ? mean[c] : 0) - low[c]) / width[c] : 0)));
    const { data, shape } = this.pad(scaled, channels, extent, false, levels);
    const limited = this.limit(data), sides = extent.map((reach, axis) => 2 * reach + stride[axis]);
    const parts = [{ raw: data, limited, shape, count: channels, sides, apart: [1, 1, 1] }];
    const beside = [this.fields, this.model.gradients ? this.gradients(scaled) : null];
    for (const fixed of beside.filter((each) => each))
      parts.push({ raw: fixed, limited: fixed, shape, count: fixed.length / volume(shape), sides, apart: [1, 1, 1] });
    for (const nominal of surroundings) {
      const missing = (axis) => axis < 3 - dimension;
      const box = stride.map((step, axis) =>
        missing(axis) ? 1 : nominal + ((((nominal - step) % 2) + 2) % 2));
      const count = [0, 1, 2].map((axis) => (missing(axis) ? 1 : BOXES));
      const reach = box.map((side, axis) => Math.floor((count[axis] * side - stride[axis]) / 2));
      const wide = this.pad(scaled, channels, reach, false, levels);
      const means = this.averages({ data: this.limit(wide.data), shape: wide.shape }, box);
      parts.push({ raw: means.data, limited: means.data, shape: means.shape, count: channels, sides: count, apart: box });
    }
    return parts;
  }
}

"use strict";
// From a state to what windows read: scaled, limited, continued beyond its edges, averaged.

const BOXES = 5; // averages over boxes along an axis

/** Where the cells of a padded axis come from: index, sign, and which end's held value is added. */
function beyond(points, reach, more, [low, high]) {
  const length = points + 2 * reach + more;
  const axis = { source: new Int32Array(length), sign: new Float32Array(length).fill(1), end: new Int8Array(length) };
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
    this.cells = model.space[0] * model.space[1];
    this.fields = model.fields ? this.pad(model.fields, model.known, model.extent, true) : null;
    this.place = model.space.map((points, axis) => this.cosines(points, axis));
  }

  /** Rows of cos(2^j π x / L) for blocks that start at each cell of an axis. */
  cosines(points, axis) {
    const { position, stride } = this.model;
    return Array.from({ length: position[axis] }, (_, power) =>
      Float32Array.from({ length: points }, (_, cell) =>
        Math.cos((2 ** power * Math.PI * (cell + (stride[axis] - 1) / 2)) / points)));
  }

  /** Put what lies beyond the boundary around channels of fields; `levels` of held values. */
  pad(field, channels, reach, known = false, levels = null) {
    const { space, boundary } = this.model;
    const kinds = boundary.map((ends) => ends.map((end) => (known && typeof end === "number" ? "open" : end)));
    const [down, along] = space.map((points, axis) => beyond(points, reach[axis], this.more[axis], kinds[axis]));
    const shape = [down.source.length, along.source.length];
    const padded = new Float32Array(channels * shape[0] * shape[1]);
    for (let c = 0, at = 0; c < channels; c++) {
      const level = levels ? levels[c] : null;
      const held = (axis, end) => (end ? 2 * level[axis][end - 1] : 0);
      for (let i = 0; i < shape[0]; i++) {
        const first = c * this.cells + down.source[i] * space[1], outer = held(0, down.end[i]);
        for (let j = 0; j < shape[1]; j++, at++) {
          const inner = outer + down.sign[i] * field[first + along.source[j]];
          padded[at] = held(1, along.end[j]) + along.sign[j] * inner;
        }
      }
    }
    return { data: padded, shape };
  }

  /** Averages over boxes that start at each cell of a padded field. */
  averages({ data, shape }, sides) {
    const [height, width] = shape, rows = height - sides[0] + 1, columns = width - sides[1] + 1;
    const channels = data.length / (height * width), sum = new Float64Array(height * columns);
    const means = new Float32Array(channels * rows * columns);
    for (let c = 0; c < channels; c++) {
      for (let i = 0; i < height; i++)
        for (let j = 0; j < columns; j++) {
          let total = 0;
          for (let k = 0; k < sides[1]; k++) total += data[(c * height + i) * width + j + k];
          sum[i * columns + j] = total;
        }
      for (let i = 0; i < rows; i++)
        for (let j = 0; j < columns; j++) {
          let total = 0;
          for (let k = 0; k < sides[0]; k++) total += sum[(i + k) * columns + j];
          means[(c * rows + i) * columns + j] = total / (sides[0] * sides[1]);
        }
    }
    return { data: means, shape: [rows, columns] };
  }

  limit(data) {
    const { margin } = this.model;
    return margin === null ? data : data.map((value) => Math.min(Math.max(value, -margin), 1 + margin));
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
    const parts = [{ raw: data, limited, shape, count: channels, sides, apart: [1, 1] }];
    if (this.fields) {
      const fixed = this.fields.data;
      parts.push({ raw: fixed, limited: fixed, shape, count: this.model.known, sides, apart: [1, 1] });
    }
    for (const nominal of surroundings) {
      const box = stride.map((step, axis) =>
        dimension === 1 && axis === 0 ? 1 : nominal + ((((nominal - step) % 2) + 2) % 2));
      const count = [dimension === 1 ? 1 : BOXES, BOXES];
      const reach = box.map((side, axis) => Math.floor((count[axis] * side - stride[axis]) / 2));
      const wide = this.pad(scaled, channels, reach, false, levels);
      const means = this.averages({ data: this.limit(wide.data), shape: wide.shape }, box);
      parts.push({ raw: means.data, limited: means.data, shape: means.shape, count: channels, sides: count, apart: box });
    }
    return parts;
  }
}

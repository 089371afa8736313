"use strict";
// The learned map u -> u_next: the same steps as those of `Stepper` in Python, in float64.
//
// Every grid has three axes here; of a plane the first one has one cell, of a line the second one too.
// A state is a Float64Array of (channel, *space).

const BLOCK_BYTES = 262144; // of hidden units at a time: they stay in the cache
const ACTIVATIONS = {
  softplus: (x) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x))),
  sin: Math.sin,
  tanh: Math.tanh,
  linear: (x) => x,
};
const four = (count) => 4 * Math.ceil(count / 4);

class Engine {
  constructor(model, plain = false) {
    this.model = model;
    const { space, stride } = model;
    this.cells = volume(space);
    this.tiles = space.map((points, axis) => Math.ceil(points / stride[axis]));
    this.reader = new Reader(model, space.map((points, axis) => this.tiles[axis] * stride[axis] - points));
    this.layOut(plain);
  }

  /** One memory for the matrices and what they are applied to. */
  layOut(plain) {
    const { weights, basis, bias, versions, hidden, rank, inputs, linear, twice, windowCells } = this.model;
    this.beside = inputs - windowCells;
    this.hidden = four(hidden);
    // Of a panel: hidden units, what a linear part sees, and what they see themselves if that is limited.
    this.answering = this.hidden + (linear ? inputs : 0);
    this.rows = this.hidden + inputs * (twice ? 2 : 1);
    this.panels = Math.max(1, Math.min(16, Math.floor(BLOCK_BYTES / (this.rows * ROW))));
    const seen = rank ? four(rank) + this.beside : inputs;
    const sizes = {
      weights: this.hidden * seen, bias: this.hidden, basis: four(rank) * windowCells,
      nothing: four(rank), panel: this.panels * this.rows * LANES, reduced: this.panels * seen * LANES,
    };
    // The model's own readout and those of members beside it; at open ends each has another one.
    const readouts = versions.flatMap((version, v) => [[v, "", version], [v, "patch", version.patch]]);
    const there = readouts.filter(([, , readout]) => readout);
    for (const [v, kind, { constant }] of there) {
      sizes[`readout${kind}${v}`] = four(constant.length) * this.answering;
      sizes[`constant${kind}${v}`] = four(constant.length);
    }
    sizes.answer = this.panels * LANES * Math.max(...there.map(([, , { constant }]) => four(constant.length)));
    let bytes = 0;
    this.at = {};
    for (const [name, size] of Object.entries(sizes)) {
      this.at[name] = bytes;
      bytes += four(size) * BYTES;
    }
    this.kernel = makeKernel(bytes, plain);
    this.memory = new Float64Array(this.kernel.buffer);
    this.seen = seen;
    // Units, directions and outputs are filled up to fours by zeros.
    const skip = (row) => (rank && row >= rank ? row + four(rank) - rank : row);
    this.store("weights", weights, hidden, seen, skip);
    this.store("basis", basis, rank, windowCells);
    const behind = (row) => (row >= hidden ? row + this.hidden - hidden : row);
    this.memory.set(bias, this.at.bias / BYTES);
    for (const [v, kind, { readout, constant }] of there) {
      this.store(`readout${kind}${v}`, readout, constant.length, this.answering, behind);
      this.memory.set(constant, this.at[`constant${kind}${v}`] / BYTES);
    }
    this.there = there;
  }

  /** Steps from here on are those of other parameters: they only add to what is constant. */
  bind(values) {
    const { parameters, bias } = this.model, off = values.map((value, p) => value - parameters.given[p]);
    const moved = (base, slopes) => base.map((b, i) => off.reduce((sum, by, p) => sum + by * slopes[p * base.length + i], b));
    this.memory.set(moved(bias, parameters.slopes), this.at.bias / BYTES);
    for (const [v, kind, { constant, slopes }] of this.there)
      this.memory.set(moved(constant, slopes), this.at[`constant${kind}${v}`] / BYTES);
  }

  /** Store a matrix (column, row) in groups of four rows. */
  store(name, matrix, rows, columns, place = (column) => column) {
    const first = this.at[name] / BYTES;
    for (let i = 0; i < (rows ? matrix.length / rows : 0); i++)
      for (let row = 0; row < rows; row++)
        this.memory[first + ((row >> 2) * columns + place(i)) * 4 + (row & 3)] = matrix[i * rows + row];
  }

  /** Write windows that start at some cells into panels, a row for each input. */
  gather(parts, starts, which, at, step) {
    const count = starts[0].length, memory = this.memory;
    let row = 0;
    const fill = (value) => {
      for (let w = 0; w < count; w++)
        memory[(at + (w >> 2) * step) / BYTES + row * LANES + (w & 3)] = value(w);
      row++;
    };
    for (const part of parts) {
      const data = part[which], { shape, apart, sides } = part, size = volume(shape);
      const first = starts[0].map((start, w) => (start * shape[1] + starts[1][w]) * shape[2] + starts[2][w]);
      for (let c = 0; c < part.count; c++)
        for (let i = 0; i < sides[0]; i++)
          for (let j = 0; j < sides[1]; j++)
            for (let k = 0; k < sides[2]; k++) {
              const from = c * size + (i * apart[0] * shape[1] + j * apart[1]) * shape[2] + k * apart[2];
              fill((w) => data[from + first[w]]);
            }
    }
    this.reader.place.forEach((cosines, axis) => {
      for (const cosine of cosines) fill((w) => cosine[starts[axis][w]]);
    });
  }

  /** The network on windows that start at these cells of each axis: its answers are left in memory. */
  evaluate(parts, starts, which, outputs) {
    const { hidden, rank, twice, activation, inputs, windowCells } = this.model, { at, kernel } = this;
    const panels = Math.ceil(starts[0].length / LANES), step = this.rows * ROW;
    const linear = at.panel + this.hidden * ROW, behind = linear + (twice ? inputs * ROW : 0);
    this.gather(parts, starts, hidden ? "limited" : "raw", behind, step);
    if (twice) this.gather(parts, starts, "raw", linear, step);
    if (hidden) {
      let [seen, apart] = [behind, step];
      if (rank) {
        const by = this.seen * ROW, head = four(rank) * LANES, cells = windowCells * LANES;
        kernel.product(at.basis, seen, at.reduced, at.nothing, four(rank) / 4, windowCells, panels, apart, by);
        for (let panel = 0; panel < panels; panel++) {
          const from = (seen + panel * apart) / BYTES + cells;
          this.memory.copyWithin((at.reduced + panel * by) / BYTES + head, from, from + this.beside * LANES);
        }
        [seen, apart] = [at.reduced, by];
      }
      kernel.product(at.weights, seen, at.panel, at.bias, this.hidden / 4, this.seen, panels, apart, step);
      for (let panel = 0; panel < panels; panel++) this.bend(activation, at.panel + panel * step);
    }
    const groups = four(outputs) / 4;
    kernel.product(at[`readout${which}`], at.panel, at.answer, at[`constant${which}`], groups, this.answering, panels, step, groups * 4 * ROW);
  }

  /** The activation of all units of a panel, in place. */
  bend(name, panel) {
    if (name === "squareplus") return this.kernel.squareplus(panel, this.hidden);
    const act = ACTIVATIONS[name], memory = this.memory;
    for (let i = panel / BYTES, end = i + this.hidden * LANES; i < end; i++) memory[i] = act(memory[i]);
  }

  /** What a version of the network makes of a centred field. */
  advance(field, mean, version) {
    const { space, stride, versions, patch } = this.model, outputs = versions[version].constant.length;
    const parts = this.reader.read(field, mean), block = volume(stride), tiles = this.tiles;
    const following = new Float64Array(field.length);
    const startOf = (w) => [Math.floor(w / (tiles[1] * tiles[2])), Math.floor(w / tiles[2]) % tiles[1], w % tiles[2]]
      .map((tile, axis) => tile * stride[axis]);
    const within = Array.from({ length: outputs }, (_, o) => [Math.floor(o / block), ...placeOf(o % block, stride)]);
    this.over(volume(tiles), startOf, (starts) => this.evaluate(parts, starts, `${version}`, outputs),
      (at, answer) => {
        within.forEach(([c, i, j, k], o) => {
          const [x, y, z] = [at[0] + i, at[1] + j, at[2] + k];
          if (x < space[0] && y < space[1] && z < space[2])
            following[((c * space[0] + x) * space[1] + y) * space[2] + z] = this.memory[answer(o, outputs)];
        });
      });
    if (patch) this.mend(parts, following, version);
    return following;
  }

  /** Blocks of windows through the network, and what is done with the answers of each window. */
  over(total, startOf, evaluate, use) {
    const most = this.panels * LANES;
    for (let first = 0; first < total; first += most) {
      const count = Math.min(most, total - first);
      const at = Array.from({ length: count }, (_, w) => startOf(first + w));
      evaluate([0, 1, 2].map((axis) => Int32Array.from(at, (start) => start[axis])));
      for (let w = 0; w < count; w++)
        use(at[w], (o, outputs) =>
          this.at.answer / BYTES + ((w >> 2) * four(outputs) + o) * LANES + (w & 3), first + w);
    }
  }

  /** Cells near open ends, predicted by windows that keep inside, all blocks of each. */
  mend(parts, following, version) {
    const { windows, cells, sources } = this.model.patch, { channels, versions } = this.model;
    const total = windows.length / 3, outputs = versions[version].patch.constant.length, size = outputs / channels;
    const answers = new Float64Array(outputs * total);
    this.over(total, (w) => [0, 1, 2].map((axis) => windows[axis * total + w]),
      (starts) => this.evaluate(parts, starts, `patch${version}`, outputs),
      (at, answer, w) => {
        for (let o = 0; o < outputs; o++) answers[o * total + w] = this.memory[answer(o, outputs)];
      });
    for (let c = 0; c < channels; c++)
      cells.forEach((cell, i) => (following[c * this.cells + cell] = answers[c * size * total + sources[i]]));
  }

  means(state) {
    const means = new Float64Array(this.model.channels);
    state.forEach((value, i) => (means[(i / this.cells) | 0] += value));
    return means.map((total) => total / this.cells);
  }

  /** The state a step later, by the model or by a member. */
  step(before, version = 0) {
    const { mean: treatment, low, width, margin, fading } = this.model, cells = this.cells;
    const state = covered(this.model, before);
    const mean = this.means(state), removed = treatment === "remove";
    const field = removed ? state.map((value, i) => value - mean[(i / cells) | 0]) : state;
    const next = this.advance(field, mean, version);
    if (fading && margin !== null)
      for (let i = 0; i < next.length; i++) {
        const c = (i / cells) | 0, scaled = (field[i] - low[c]) / width[c];
        next[i] += fading * (scaled - Math.min(Math.max(scaled, -margin), 1 + margin)) * width[c];
      }
    this.turnDown(next);
    if (treatment === "keep") return covered(this.model, next);
    const after = removed ? mean : this.means(next).map((value, c) => mean[c] - value);
    return covered(this.model, next.map((value, i) => value + after[(i / cells) | 0]));
  }

  /** Waves that are stronger than in training are turned down, in place. */
  turnDown(state) {
    const { amplitudes, channels, dimension } = this.model, { cells } = this, bands = amplitudes ? amplitudes.length / channels : 0;
    for (let c = 0; c < channels && bands; c++) {
      const channel = state.slice(c * cells, (c + 1) * cells), most = amplitudes.subarray(c * bands, (c + 1) * bands);
      state.set(this.reader.waves.limited(channel, most, dimension), c * cells);
    }
  }

  /** By how many training ranges a state lies outside them. */
  excess(state) {
    const { low, width, mean } = this.model, shift = mean === "remove" ? this.means(state) : null;
    let most = -Infinity;
    for (let i = 0; i < state.length; i++) {
      const c = (i / this.cells) | 0, scaled = (state[i] - (shift ? shift[c] : 0) - low[c]) / width[c];
      const outside = Math.max(scaled - 1, -scaled);
      most = Number.isFinite(outside) ? Math.max(most, outside) : Infinity;
    }
    return most;
  }

  relativeError(forecast, truth) {
    return relativeError(forecast, truth, this.model);
  }
}

"use strict";
// The equation itself, where it is known: ETDRK4 in Fourier space, the steps that exponax takes.
//
// Waves are {re, im}. An operator is [a, b, c, d]: derivatives along the three axes, and powers of the Laplacian.

const ROOTS = 16; // of a circle, over which coefficients are averaged

/** The factors of a step for one z = ℒ dt: exp(z), exp(z/2), and what weighs the nonlinear terms. */
function factorsOf(x, y, dt) {
  const times = ([a, b], [c, d]) => [a * c - b * d, a * d + b * c];
  const over = ([a, b], [c, d]) => times([a, b], [c / (c * c + d * d), -d / (c * c + d * d)]);
  const exp = ([a, b]) => [Math.exp(a) * Math.cos(b), Math.exp(a) * Math.sin(b)];
  const sum = (...terms) => terms.reduce(([a, b], [factor, [c, d]]) => [a + factor * c, b + factor * d], [0, 0]);
  const means = Array.from({ length: 4 }, () => [0, 0]), one = [1, 0];
  for (let i = 0; i < ROOTS; i++) {
    const angle = (2 * Math.PI * (i + 0.5)) / ROOTS, z = [x + Math.cos(angle), y + Math.sin(angle)];
    const square = times(z, z), cube = times(square, z), whole = exp(z), half = exp([z[0] / 2, z[1] / 2]);
    const each = [
      over(sum([1, half], [-1, one]), z),
      over(sum([-4, one], [-1, z], [1, times(whole, sum([4, one], [-3, z], [1, square]))]), cube),
      over(sum([2, one], [1, z], [1, times(whole, sum([-2, one], [1, z]))]), cube),
      over(sum([-4, one], [-3, z], [-1, square], [1, times(whole, sum([4, one], [-1, z]))]), cube),
    ];
    each.forEach((value, n) => (means[n] = sum([1, means[n]], [dt / ROOTS, value])));
  }
  return [exp([x, y]), exp([x / 2, y / 2]), ...means];
}

class Solver {
  constructor({ dx, dt, substeps, cutoff, linear, products, forcing }, space) {
    Object.assign(this, { waves: new Waves(space), cells: volume(space), substeps, products });
    const { numbers, squares } = this.waves, { cells } = this;
    this.slopes = numbers.map((along) => along.map((number) => (2 * Math.PI * number) / dx));
    this.laplace = squares.map((square) => -square * ((2 * Math.PI) / dx) ** 2);
    this.kept = Float64Array.from({ length: cells }, (_, i) =>
      numbers.every((along, axis) => Math.abs(along[i]) * space[axis] < cutoff + 0.5) ? 1 : 0);
    this.operators = new Map();
    this.factors = linear.map((terms) => this.factorise(terms, dt));
    this.read = [...new Set(products.flatMap(({ of }) => of.map((field) => field.join())))];
    this.forcing = forcing && linear.map((_, c) => this.transform(forcing.slice(c * cells, (c + 1) * cells)));
  }

  transform(field) {
    const re = Float64Array.from(field), im = new Float64Array(this.cells);
    this.waves.apply(re, im);
    return { re, im };
  }

  nothing() {
    return { re: new Float64Array(this.cells), im: new Float64Array(this.cells) };
  }

  /** The size of an operator for each wave; it turns waves by as many quarters as it has derivatives. */
  operator(key) {
    if (!this.operators.has(key)) {
      const [a, b, c, d] = key.split(",").map(Number), [x, y, z] = this.slopes;
      const inverse = (power) => (d < 0 && power === 0 ? 0 : power ** d);
      const size = this.laplace.map((power, i) => x[i] ** a * y[i] ** b * z[i] ** c * inverse(power));
      this.operators.set(key, { size, turn: (a + b + c) % 4 });
    }
    return this.operators.get(key);
  }

  /** Add an operator applied to waves to others; `mask` says which of them count. */
  add(sum, key, { re, im }, factor = 1, mask = this.kept) {
    const { size, turn } = this.operator(key);
    const c = factor * [1, 0, -1, 0][turn], s = factor * [0, 1, 0, -1][turn];
    for (let i = 0; i < this.cells; i++) {
      const weight = size[i] * mask[i];
      sum.re[i] += weight * (c * re[i] - s * im[i]);
      sum.im[i] += weight * (s * re[i] + c * im[i]);
    }
    return sum;
  }

  factorise(terms, dt) {
    const all = new Float64Array(this.cells).fill(1), one = { re: all, im: new Float64Array(this.cells) };
    const symbol = this.nothing(), known = new Map();
    for (const [factor, operator] of terms) this.add(symbol, operator.join(), one, factor, all);
    const factors = Array.from({ length: 6 }, () => this.nothing());
    for (let i = 0; i < this.cells; i++) {
      const [x, y] = [symbol.re[i] * dt, symbol.im[i] * dt], key = `${x} ${y}`;
      if (!known.has(key)) known.set(key, factorsOf(x, y, dt));
      known.get(key).forEach(([re, im], n) => ([factors[n].re[i], factors[n].im[i]] = [re, im]));
    }
    return factors;
  }

  /** Every field that a product needs, two of them by one transform. */
  fields(waves) {
    const fields = {};
    for (let n = 0; n < this.read.length; n += 2) {
      const both = this.nothing(), pair = this.read.slice(n, n + 2);
      pair.forEach((name, second) => {
        const [channel, ...operator] = name.split(","), { re, im } = this.add(this.nothing(), operator.join(), waves[channel]);
        for (let i = 0; i < this.cells; i++) {
          both.re[i] += second ? -im[i] : re[i];
          both.im[i] += second ? re[i] : im[i];
        }
      });
      this.waves.inverse(both.re, both.im);
      pair.forEach((name, second) => (fields[name] = second ? both.im : both.re));
    }
    return fields;
  }

  /** The nonlinear terms of each channel, as waves. */
  nonlinear(waves) {
    const fields = this.fields(waves), sums = new Map();
    for (const { into, factor, by, of } of this.products) {
      const key = `${into} ${by.join()}`, parts = of.map((field) => fields[field.join()]);
      if (!sums.has(key)) sums.set(key, new Float64Array(this.cells));
      const sum = sums.get(key);
      for (let i = 0; i < this.cells; i++) sum[i] += parts.reduce((product, part) => product * part[i], factor);
    }
    const out = waves.map(() => this.nothing());
    for (const [key, sum] of sums) {
      const [into, by] = key.split(" ");
      this.add(out[into], by, this.transform(sum));
    }
    if (this.forcing)
      out.forEach(({ re, im }, c) => {
        for (let i = 0; i < this.cells; i++) [re[i], im[i]] = [re[i] + this.forcing[c].re[i], im[i] + this.forcing[c].im[i]];
      });
    return out;
  }

  /** Σ factor · weight · waves for each channel; weights by their number among the factors. */
  mixed(...terms) {
    return this.factors.map((factors, c) => {
      const sum = this.nothing();
      for (const [number, waves, factor] of terms) {
        const { re, im } = waves[c], weight = factors[number];
        for (let i = 0; i < this.cells; i++) {
          sum.re[i] += factor * (weight.re[i] * re[i] - weight.im[i] * im[i]);
          sum.im[i] += factor * (weight.re[i] * im[i] + weight.im[i] * re[i]);
        }
      }
      return sum;
    });
  }

  /** The state a step later. */
  step(state) {
    const { cells } = this, channel = (_, c) => this.transform(state.subarray(c * cells, (c + 1) * cells));
    let waves = this.factors.map(channel);
    for (let n = 0; n < this.substeps; n++) {
      const at0 = this.nonlinear(waves), first = this.mixed([1, waves, 1], [2, at0, 1]);
      const at1 = this.nonlinear(first), second = this.mixed([1, waves, 1], [2, at1, 1]);
      const at2 = this.nonlinear(second), third = this.mixed([1, first, 1], [2, at2, 2], [2, at0, -1]);
      const at3 = this.nonlinear(third);
      waves = this.mixed([0, waves, 1], [3, at0, 1], [4, at1, 2], [4, at2, 2], [5, at3, 1]);
    }
    const next = new Float64Array(state.length);
    waves.forEach(({ re, im }, c) => next.set(this.waves.field(re, im), c * cells));
    return next;
  }
}

"use strict";
// What a field does at a distance: gradients of potentials, and a limit to waves, by Fourier transforms.

/** A transform of one length: by halves, or for lengths that are no power of two by Bluestein's chirp. */
class Transform {
  constructor(length) {
    this.length = length;
    this.halving = (length & (length - 1)) === 0;
    const angle = (i, turn) => (turn * Math.PI * i) / length;
    if (this.halving) {
      this.cosine = Float64Array.from({ length: length / 2 }, (_, i) => Math.cos(angle(i, -2)));
      this.sine = Float64Array.from({ length: length / 2 }, (_, i) => Math.sin(angle(i, -2)));
      return;
    }
    const size = 2 ** Math.ceil(Math.log2(2 * length - 1));
    this.inner = new Transform(size);
    // The square modulo 2 n, for the sine of a large angle has few digits.
    this.chirp = Array.from({ length }, (_, i) => angle((i * i) % (2 * length), -1));
    this.work = [new Float64Array(size), new Float64Array(size)];
    this.kernel = [new Float64Array(size), new Float64Array(size)];
    this.chirp.forEach((turn, i) => {
      for (const at of new Set([i, (size - i) % size]))
        [this.kernel[0][at], this.kernel[1][at]] = [Math.cos(turn), -Math.sin(turn)];
    });
    this.inner.apply(...this.kernel);
  }

  /** In place, from numbers re + i im to their sums with exp(−2πi jk/n). */
  apply(re, im) {
    if (this.halving) this.halve(re, im);
    else this.chirped(re, im);
  }

  halve(re, im) {
    const n = this.length;
    for (let i = 1, j = 0; i < n; i++) {
      let bit = n >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
    }
    for (let half = 1; half < n; half *= 2)
      for (let first = 0, step = n / (2 * half); first < n; first += 2 * half)
        for (let k = 0; k < half; k++) {
          const a = first + k, b = a + half, c = this.cosine[k * step], s = this.sine[k * step];
          const x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
          re[b] = re[a] - x;
          im[b] = im[a] - y;
          re[a] += x;
          im[a] += y;
        }
  }

  chirped(re, im) {
    const [x, y] = this.work, [p, q] = this.kernel, n = this.length, size = x.length;
    x.fill(0);
    y.fill(0);
    const turn = (i, a, b) => {
      const c = Math.cos(this.chirp[i]), s = Math.sin(this.chirp[i]);
      return [a * c - b * s, a * s + b * c];
    };
    for (let i = 0; i < n; i++) [x[i], y[i]] = turn(i, re[i], im[i]);
    this.inner.apply(x, y);
    // Back again is the transform of what is conjugate.
    for (let i = 0; i < size; i++) [x[i], y[i]] = [x[i] * p[i] - y[i] * q[i], -(x[i] * q[i] + y[i] * p[i])];
    this.inner.apply(x, y);
    for (let i = 0; i < n; i++) [re[i], im[i]] = turn(i, x[i] / size, -y[i] / size);
  }
}

/** Waves on a periodic grid. */
class Waves {
  constructor(space) {
    this.space = space;
    this.cells = volume(space);
    this.transforms = space.map((points) => new Transform(points));
    const numbers = space.map((points) =>
      Float64Array.from({ length: points }, (_, i) => (2 * i < points ? i : i - points) / points));
    this.numbers = [0, 1, 2].map((axis) =>
      Float64Array.from({ length: this.cells }, (_, cell) => numbers[axis][placeOf(cell, space)[axis]]));
    this.squares = Float64Array.from({ length: this.cells }, (_, cell) =>
      this.numbers.reduce((sum, along) => sum + along[cell] ** 2, 0));
  }

  /** The transform along all axes, in place. */
  apply(re, im) {
    const { space } = this;
    space.forEach((points, axis) => {
      if (points === 1) return;
      const apart = space.slice(axis + 1).reduce((a, b) => a * b, 1);
      const [x, y] = [new Float64Array(points), new Float64Array(points)];
      for (let line = 0; line < this.cells / points; line++) {
        const first = Math.floor(line / apart) * apart * points + (line % apart);
        for (let i = 0; i < points; i++) [x[i], y[i]] = [re[first + i * apart], im[first + i * apart]];
        this.transforms[axis].apply(x, y);
        for (let i = 0; i < points; i++) [re[first + i * apart], im[first + i * apart]] = [x[i], y[i]];
      }
    });
  }

  /** Back from waves to numbers, in place. */
  inverse(re, im) {
    for (let i = 0; i < this.cells; i++) im[i] = -im[i];
    this.apply(re, im);
    for (let i = 0; i < this.cells; i++) [re[i], im[i]] = [re[i] / this.cells, -im[i] / this.cells];
  }

  /** The real field of some waves; they are used up. */
  field(re, im) {
    this.inverse(re, im);
    return re;
  }

  /** ∇Δ⁻¹u along one axis after the other, of a channel; the mean counts as zero. */
  gradients(channel, axes) {
    const re = Float64Array.from(channel), im = new Float64Array(this.cells);
    this.apply(re, im);
    return axes.map((axis) => {
      const [a, b] = [new Float64Array(this.cells), new Float64Array(this.cells)];
      for (let i = 1; i < this.cells; i++) {
        // The fastest wave of an even number of points has no slope: its sign is not known.
        const number = Math.abs(this.numbers[axis][i]) < 0.5 ? this.numbers[axis][i] : 0;
        const slope = number / (2 * Math.PI * this.squares[i]);
        [a[i], b[i]] = [im[i] * slope, -re[i] * slope];
      }
      return this.field(a, b);
    });
  }

  /** A channel with waves turned down that are stronger, in their band, than `most`. */
  limited(channel, most, dimension) {
    const re = Float64Array.from(channel), im = new Float64Array(this.cells), count = most.length;
    this.apply(re, im);
    const power = new Float64Array(count), band = this.bands(count, dimension);
    for (let i = 0; i < this.cells; i++) power[band[i]] += (re[i] ** 2 + im[i] ** 2) / this.cells ** 2;
    const factor = power.map((each, b) => (b && each > most[b] ** 2 ? most[b] / Math.sqrt(each) : 1));
    if (factor.every((each) => each === 1)) return channel;
    for (let i = 0; i < this.cells; i++) {
      re[i] *= factor[band[i]];
      im[i] *= factor[band[i]];
    }
    return this.field(re, im);
  }

  /** The band of wave numbers, of `count`, of each wave; 0 is the mean. */
  bands(count, dimension) {
    const most = 0.5 * Math.sqrt(dimension);
    return Int32Array.from(this.squares, (square) =>
      square > 0 ? 1 + Math.min((Math.sqrt(square) / most) * (count - 1), count - 2) : 0);
  }
}

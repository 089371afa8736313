"use strict";
// Matrix products on panels of four windows in float64: WebAssembly with vectors of two, or plain JavaScript.
//
// A panel holds rows of four numbers, one for each window. A matrix is stored in groups of four
// rows, `(rows / 4, columns, 4)`. All arrays lie in one memory; addresses are in bytes.

const LANES = 4;
const BYTES = 8; // of a number
const ROW = LANES * BYTES;
const PAGE_BYTES = 65536;

function leb(value) {
  const bytes = [];
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0));
    value >>>= 7;
  } while (value);
  return bytes;
}

const I32 = 127, V128 = 123, VOID = 64;
const get = (i) => [0x20, ...leb(i)];
const set = (i) => [0x21, ...leb(i)];
const number = (value) => [0x41, value]; // 0 to 63
const ADD = 0x6a, MULTIPLY = 0x6c, BELOW = 0x49;
const simd = (code, ...more) => [0xfd, ...leb(code), ...more];
const vector = (offset) => simd(0x00, 4, ...leb(offset)); // v128.load
const splat = (offset) => simd(0x0a, 3, ...leb(offset)); // v128.load64_splat
const store = (offset) => simd(0x0b, 4, ...leb(offset));
const shift = (local, by) => [...get(local), ...by, ADD, ...set(local)];
const loop = (body) => [0x03, VOID, ...body, 0x0b];
const again = (counter, end) => [...shift(counter, number(1)), ...get(counter), ...get(end), BELOW, 0x0d, 0];

/** product(a, x, c, bias, groups, columns, panels, xStep, cStep): c = a x + bias. */
function productCode() {
  const [a, x, c, bias, groups, columns, panels, xStep, cStep] = Array(9).keys();
  const [group, panel, column, pa, px, pc] = [9, 10, 11, 12, 13, 14]; // then vectors
  const left = 15, right = 16, weight = 17, sums = 18;
  const accumulate = (sum, seen) => [
    ...get(sum), ...get(weight), ...get(seen), ...simd(0xf2), ...simd(0xf0), ...set(sum),
  ];
  const rows = [0, 1, 2, 3];
  const start = rows.flatMap((r) => [
    ...get(bias), ...splat(BYTES * r), ...set(sums + 2 * r), ...get(sums + 2 * r), ...set(sums + 2 * r + 1),
  ]);
  const inner = [
    ...get(px), ...vector(0), ...set(left), ...get(px), ...vector(16), ...set(right),
    ...rows.flatMap((r) => [
      ...get(pa), ...splat(BYTES * r), ...set(weight),
      ...accumulate(sums + 2 * r, left), ...accumulate(sums + 2 * r + 1, right),
    ]),
    ...shift(pa, number(4 * BYTES)), ...shift(px, number(ROW)),
    ...again(column, columns),
  ];
  const finish = rows.flatMap((r) => [
    ...get(pc), ...get(sums + 2 * r), ...store(ROW * r),
    ...get(pc), ...get(sums + 2 * r + 1), ...store(ROW * r + 16),
  ]);
  const overPanels = [
    ...get(a), ...set(pa),
    ...get(x), ...get(panel), ...get(xStep), MULTIPLY, ADD, ...set(px),
    ...get(c), ...get(panel), ...get(cStep), MULTIPLY, ADD, ...set(pc),
    ...start, ...number(0), ...set(column), ...loop(inner), ...finish,
    ...again(panel, panels),
  ];
  const overGroups = [
    ...number(0), ...set(panel), ...loop(overPanels),
    ...get(pa), ...set(a), // the next group of rows begins where this one ended
    ...shift(c, [0x41, ...leb(4 * ROW)]), ...shift(bias, number(4 * BYTES)),
    ...again(group, groups),
  ];
  const locals = [2, 6, I32, 11, V128];
  return [...locals, ...number(0), ...set(group), ...loop(overGroups), 0x0b];
}

/** squareplus(panel, units): ½ (z + √(z² + 4)) of each number z of a panel, in place. */
function squareplusCode() {
  const [panel, units, unit, z] = [0, 1, 2, 3];
  const [sqrt, add, multiply] = [0xef, 0xf0, 0xf2].map((code) => simd(code));
  const constant = (value) => [0x44, ...new Uint8Array(new Float64Array([value]).buffer), ...simd(0x14)];
  const half = (offset) => [
    ...get(panel), ...get(panel), ...vector(offset), ...set(z),
    ...get(z), ...get(z), ...get(z), ...multiply, ...constant(4), ...add, ...sqrt, ...add,
    ...constant(0.5), ...multiply, ...store(offset),
  ];
  const body = [...half(0), ...half(16), ...shift(panel, number(ROW)), ...again(unit, units)];
  return [2, 1, I32, 1, V128, ...number(0), ...set(unit), ...loop(body), 0x0b];
}

function moduleBytes() {
  const section = (id, content) => [id, ...leb(content.length), ...content];
  const text = (word) => [word.length, ...new TextEncoder().encode(word)];
  const type = (count) => [0x60, count, ...Array(count).fill(I32), 0];
  const code = (body) => [...leb(body.length), ...body];
  return new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    ...section(1, [2, ...type(9), ...type(2)]),
    ...section(2, [1, ...text("page"), ...text("memory"), 2, 0, 1]),
    ...section(3, [2, 0, 1]),
    ...section(7, [2, ...text("product"), 0, 0, ...text("squareplus"), 0, 1]),
    ...section(10, [2, ...code(productCode()), ...code(squareplusCode())]),
  ]);
}

/** The same two functions without WebAssembly. */
function plainKernel(buffer) {
  const f = new Float64Array(buffer);
  function product(a, x, c, bias, groups, columns, panels, xStep, cStep) {
    for (let group = 0; group < groups; group++) {
      const first = a / BYTES + group * columns * 4, start = bias / BYTES + group * 4;
      for (let panel = 0; panel < panels; panel++) {
        const seen = (x + panel * xStep) / BYTES, out = (c + panel * cStep) / BYTES + group * 4 * LANES;
        for (let lane = 0; lane < LANES; lane += 2) {
          let s = f[start], t = f[start + 1], u = f[start + 2], v = f[start + 3];
          let s2 = s, t2 = t, u2 = u, v2 = v;
          for (let k = 0, pa = first, px = seen + lane; k < columns; k++, pa += 4, px += LANES) {
            const left = f[px], right = f[px + 1];
            const w0 = f[pa], w1 = f[pa + 1], w2 = f[pa + 2], w3 = f[pa + 3];
            s += w0 * left; s2 += w0 * right; t += w1 * left; t2 += w1 * right;
            u += w2 * left; u2 += w2 * right; v += w3 * left; v2 += w3 * right;
          }
          [s, s2, t, t2, u, u2, v, v2].forEach((sum, i) => (f[out + (i >> 1) * LANES + lane + (i & 1)] = sum));
        }
      }
    }
  }
  function squareplus(panel, units) {
    for (let i = panel / BYTES, end = i + units * LANES; i < end; i++)
      f[i] = 0.5 * (f[i] + Math.sqrt(f[i] * f[i] + 4));
  }
  return { kind: "JavaScript", buffer, product, squareplus };
}

/** A memory of so many bytes, and the quicker functions on it that this browser has. */
function makeKernel(bytes, plain = false) {
  const pages = Math.ceil(bytes / PAGE_BYTES);
  try {
    const code = moduleBytes();
    if (!plain && WebAssembly.validate(code)) {
      const memory = new WebAssembly.Memory({ initial: pages });
      const made = new WebAssembly.Instance(new WebAssembly.Module(code), { page: { memory } });
      return { kind: "WebAssembly", buffer: memory.buffer, ...made.exports };
    }
  } catch (error) {
    // Not there, or forbidden: plain JavaScript gives the same numbers.
  }
  return plainKernel(new ArrayBuffer(pages * PAGE_BYTES));
}

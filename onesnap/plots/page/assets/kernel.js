"use strict";
// Matrix products on panels of eight windows: WebAssembly with vectors of four, or plain JavaScript.
//
// A panel holds rows of eight numbers, one for each window. A matrix is stored in groups of four
// rows, `(rows / 4, columns, 4)`. All arrays lie in one memory; addresses are in bytes.

const LANES = 8;
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
const splat = (offset) => simd(0x09, 2, ...leb(offset)); // v128.load32_splat
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
    ...get(sum), ...get(weight), ...get(seen), ...simd(0xe6), ...simd(0xe4), ...set(sum),
  ];
  const rows = [0, 1, 2, 3];
  const start = rows.flatMap((r) => [
    ...get(bias), ...splat(4 * r), ...set(sums + 2 * r), ...get(sums + 2 * r), ...set(sums + 2 * r + 1),
  ]);
  const inner = [
    ...get(px), ...vector(0), ...set(left), ...get(px), ...vector(16), ...set(right),
    ...rows.flatMap((r) => [
      ...get(pa), ...splat(4 * r), ...set(weight),
      ...accumulate(sums + 2 * r, left), ...accumulate(sums + 2 * r + 1, right),
    ]),
    ...shift(pa, number(16)), ...shift(px, number(32)),
    ...again(column, columns),
  ];
  const finish = rows.flatMap((r) => [
    ...get(pc), ...get(sums + 2 * r), ...store(32 * r),
    ...get(pc), ...get(sums + 2 * r + 1), ...store(32 * r + 16),
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
    ...shift(c, [0x41, ...leb(128)]), ...shift(bias, number(16)),
    ...again(group, groups),
  ];
  const locals = [2, 6, I32, 11, V128];
  return [...locals, ...number(0), ...set(group), ...loop(overGroups), 0x0b];
}

/** squareplus(panel, centres, units): what ½ (z + √(z² + 4)) has beyond its tangent, in place.
 *
 * Rows of the panel hold d = z - b, with b the centre of a unit. With r = √(b² + 4), q = √(z² + 4):
 * ½ d² (r - b (2 b + d) / (q + r)) / (r (q + r)), which loses no digits where d is small.
 */
function squareplusCode() {
  const [panel, centres, units] = [0, 1, 2], unit = 3;
  const [d, b, r, sum] = [4, 5, 6, 7];
  const [sqrt, add, subtract, multiply, divide] = [0xe3, 0xe4, 0xe5, 0xe6, 0xe7].map((code) => simd(code));
  const constant = (value) => [0x43, ...new Uint8Array(new Float32Array([value]).buffer), ...simd(0x13)];
  const root = (z) => [...z, ...z, ...multiply, ...constant(4), ...add, ...sqrt];
  const half = (offset) => [
    ...get(panel), ...get(panel), ...vector(offset), ...set(d),
    ...root([...get(d), ...get(b), ...add]), ...get(r), ...add, ...set(sum),
    ...get(r), ...get(b), ...get(b), ...get(b), ...add, ...get(d), ...add, ...multiply,
    ...get(sum), ...divide, ...subtract,
    ...get(d), ...get(d), ...multiply, ...constant(0.5), ...multiply, ...multiply,
    ...get(r), ...get(sum), ...multiply, ...divide, ...store(offset),
  ];
  const body = [
    ...get(centres), ...splat(0), ...set(b), ...root(get(b)), ...set(r),
    ...half(0), ...half(16),
    ...shift(panel, number(32)), ...shift(centres, number(4)), ...again(unit, units),
  ];
  return [2, 1, I32, 4, V128, ...number(0), ...set(unit), ...loop(body), 0x0b];
}

function moduleBytes() {
  const section = (id, content) => [id, ...leb(content.length), ...content];
  const text = (word) => [word.length, ...new TextEncoder().encode(word)];
  const type = (count) => [0x60, count, ...Array(count).fill(I32), 0];
  const code = (body) => [...leb(body.length), ...body];
  return new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    ...section(1, [2, ...type(9), ...type(3)]),
    ...section(2, [1, ...text("page"), ...text("memory"), 2, 0, 1]),
    ...section(3, [2, 0, 1]),
    ...section(7, [2, ...text("product"), 0, 0, ...text("squareplus"), 0, 1]),
    ...section(10, [2, ...code(productCode()), ...code(squareplusCode())]),
  ]);
}

/** The same two functions without WebAssembly. */
function plainKernel(buffer) {
  const f = new Float32Array(buffer);
  function product(a, x, c, bias, groups, columns, panels, xStep, cStep) {
    for (let group = 0; group < groups; group++) {
      const first = a / 4 + group * columns * 4;
      for (let panel = 0; panel < panels; panel++) {
        const seen = (x + panel * xStep) / 4, out = (c + panel * cStep) / 4 + group * 4 * LANES;
        for (let lane = 0; lane < LANES; lane += 2) {
          let s = f[bias / 4 + group * 4], t = f[bias / 4 + group * 4 + 1];
          let u = f[bias / 4 + group * 4 + 2], v = f[bias / 4 + group * 4 + 3];
          let s2 = s, t2 = t, u2 = u, v2 = v;
          for (let k = 0, pa = first, px = seen + lane; k < columns; k++, pa += 4, px += LANES) {
            const left = f[px], right = f[px + 1];
            const w0 = f[pa], w1 = f[pa + 1], w2 = f[pa + 2], w3 = f[pa + 3];
            s += w0 * left; s2 += w0 * right; t += w1 * left; t2 += w1 * right;
            u += w2 * left; u2 += w2 * right; v += w3 * left; v2 += w3 * right;
          }
          const at = out + lane;
          f[at] = s; f[at + 1] = s2; f[at + 8] = t; f[at + 9] = t2;
          f[at + 16] = u; f[at + 17] = u2; f[at + 24] = v; f[at + 25] = v2;
        }
      }
    }
  }
  function squareplus(panel, centres, units) {
    for (let unit = 0; unit < units; unit++) {
      const b = f[centres / 4 + unit], r = Math.sqrt(b * b + 4);
      for (let i = panel / 4 + unit * LANES, end = i + LANES; i < end; i++) {
        const d = f[i], sum = Math.sqrt((b + d) * (b + d) + 4) + r;
        f[i] = (0.5 * d * d * (r - (b * (2 * b + d)) / sum)) / (r * sum);
      }
    }
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

"use strict";
// From numbers to pixels: colour maps, maps, waterfalls, curves, legends.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A table of 256 colours, from bytes (r, g, b), as pixels. */
function colourTable(bytes) {
  const pixel = (r, g, b) => (255 << 24) | (b << 16) | (g << 8) | r;
  const table = Uint32Array.from({ length: 257 }, (_, i) => pixel(...bytes.subarray(3 * i, 3 * i + 3)));
  table[256] = 0; // nothing is known: the card shines through
  return table;
}

function colourOf(value, { table, low, high }) {
  if (!Number.isFinite(value)) return table[256];
  return table[Math.max(0, Math.min(255, Math.floor((256 * (value - low)) / (high - low))))];
}

/** Paint width × height values, given from the top left corner on, into a canvas. */
function paintPixels(canvas, width, height, valueAt, scale) {
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let y = 0, at = 0; y < height; y++)
    for (let x = 0; x < width; x++, at++) pixels[at] = colourOf(valueAt(x, y), scale);
  context.putImageData(image, 0, 0);
}

/** Paint a small canvas into another one at its size on the screen; returns its context in cells. */
function paintEnlarged(canvas, small) {
  const ratio = window.devicePixelRatio || 1, width = (canvas.clientWidth || 300) * ratio;
  const height = (canvas.clientHeight || 100) * ratio;
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  context.drawImage(small, 0, 0, width, height);
  context.scale(width / small.width, height / small.height);
  return context;
}

/** A canvas as sharp as the screen; returns its context in units of CSS pixels, and its size. */
function sharp(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 300;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = "12px system-ui, sans-serif";
  return [context, width, height];
}

function line(context, points, colour, thick = 2) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.lineJoin = "round";
  context.stroke();
}

/** Curves over the cells of a line: (values, colour, thickness) each; a mark at a cell or null. */
function paintCurve(canvas, curves, scale, mark) {
  const [context, width, height] = sharp(canvas, 170), edge = 10;
  let { low, high } = scale; // farther where somebody has drawn higher
  for (const [values] of curves)
    for (const value of values) [low, high] = [value < low ? value : low, value > high ? value : high];
  const y = (value) => edge + ((height - 2 * edge) * (high - value)) / (high - low);
  line(context, [[0, y(0)], [width, y(0)]], css("--line"), 1);
  for (const [values, colour, thick] of curves) {
    const step = width / values.length;
    line(context, Array.from(values, (value, i) => [(i + 0.5) * step, y(value)]), colour, thick);
    if (mark !== null && curves[curves.length - 1][0] === values) {
      context.fillStyle = css("--ink");
      context.beginPath();
      context.arc((mark + 0.5) * step, y(values[mark]), 5, 0, 7);
      context.fill();
    }
  }
}

const brief = (value) => Number(value.toPrecision(4)).toString().replaceAll("-", "−");

/** A legend: the colours from low to high. */
function paintScale(canvas, { table, low, high }, name) {
  const [context, width, height] = sharp(canvas, 34);
  for (let x = 0; x < width; x++) {
    const colour = table[Math.min(255, Math.floor((256 * x) / width))];
    context.fillStyle = `rgb(${colour & 255} ${(colour >> 8) & 255} ${(colour >> 16) & 255})`;
    context.fillRect(x, 0, 1.5, 12);
  }
  context.fillStyle = css("--faint");
  context.textBaseline = "bottom";
  [[0, "left", brief(low)], [width / 2, "center", name], [width, "right", brief(high)]].forEach(([x, align, words]) => {
    context.textAlign = align;
    context.fillText(words, x, height);
  });
}

/** 1, 2 or 5 times a power of ten, not below a number. */
function roundUp(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].find((factor) => factor * power >= number * 0.999) * power;
}

/** Errors over time on a logarithmic axis, with the threshold and where they passed it. */
function paintError(canvas, { threshold, time, end, curves }) {
  const [context, width, height] = sharp(canvas, 210), [left, bottom, top, right] = [58, 26, 10, 8];
  const [least, most] = [-6, 3];
  const x = (time) => left + ((width - left - right) * time) / (end || 1);
  const y = (error) => {
    const power = Math.max(least, Math.min(most, Math.log10(Math.max(error, 1e-30))));
    return top + ((height - top - bottom) * (most - power)) / (most - least);
  };
  context.fillStyle = css("--faint");
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (let power = least; power <= most; power++) {
    line(context, [[left, y(10 ** power)], [width - right, y(10 ** power)]], css("--line"), 0.6);
    const words = power < -2 ? `10⁻${"⁰¹²³⁴⁵⁶"[-power]}` : `${10 ** power}`;
    if ((power - least) % 2 === 0) context.fillText(`${words} %`, left - 6, y(10 ** power));
  }
  context.textBaseline = "bottom";
  context.fillText(`t = ${time(end)}`, width - right, height);
  context.textAlign = "left";
  context.fillText("0", left, height);
  context.setLineDash([5, 4]);
  line(context, [[left, y(threshold)], [width - right, y(threshold)]], css("--warn"), 1.2);
  for (const { valid } of curves)
    if (valid !== null) line(context, [[x(valid), top], [x(valid), height - bottom]], css("--ink"), 1.2);
  context.setLineDash([]);
  context.fillText(`${threshold} %`, left + 6, y(threshold) - 2);
  for (const { points, colour, dash } of curves) {
    context.setLineDash(dash);
    line(context, points.map(([time, error]) => [x(time), y(error)]), colour);
  }
  context.setLineDash([]);
}

"use strict";
// The run on the screen: what it says, and what is done to it.

const element = (id) => document.getElementById(id);
const RATES = [1, 2, 5, 10, 30, 60, 120, Infinity]; // steps a second

/** Arrays in place of {type, shape, data}, all the way down. */
function decoded(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value.data === "string" && value.type) {
    const bytes = Uint8Array.from(atob(value.data), (letter) => letter.charCodeAt(0));
    if (value.type === "bytes") return bytes;
    return new { int32: Int32Array, float32: Float32Array, float64: Float64Array }[value.type](bytes.buffer);
  }
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, decoded(part)]));
}

const page = decoded(JSON.parse(element("content").textContent));
page.tables = Object.fromEntries(Object.entries(page.colours).map(([name, bytes]) => [name, colourTable(bytes)]));
page.scales = page.data.scales.map(({ colours, low, high }) => ({ table: page.tables[colours], low, high }));
page.curveScale = (channel) => {
  const { low, high } = page.scales[channel];
  return { low: low - 0.15 * (high - low), high: high + 0.15 * (high - low) };
};

const session = new Session({ ...page, plain: new URLSearchParams(location.hash.slice(1)).has("plain") });
const view = new View(page, session);
const run = { on: false, due: 0, most: 4, last: 0, brush: "add", kernel: "" };

function tell() {
  view.dirty = true;
  element("time").textContent = `t = ${view.time(session.step)}`;
  const words = session.diverged ? "left all bounds: reset, or draw less" : run.on ? "running" : "paused";
  element("state-of-run").textContent = `step ${session.step}, ${words}`;
  element("run").textContent = run.on ? "❚❚ Pause" : "▶ Run";
  const { start } = session.origin;
  element("start-at").textContent = start === undefined ? "random" : `t = ${view.time(start * session.data.every)}`;
  if (start !== undefined) element("start").value = start;
  element("truth-at").textContent = session.solving
    ? session.solved ? "solved here" : "ended: the solver did not get through"
    : session.step > session.horizon ? "ended: no more states are recorded" : "";
  element("verdict").textContent = session.judged ? `Relative squared error of the forecast: ${errorWords(session.errors)}.` : "";
  element("expectation").textContent = session.members
    ? `It expects of itself, by ${session.members.length} members with other weights: ${errorWords(session.expected)}.` : "";
  element("drawn").textContent = session.touched && session.judged
    ? session.solving ? "You have drawn on it, and on the truth." : "You have drawn on it; the truth does not know." : "";
}

/** Errors in words: when they passed the threshold, or what they are now. */
function errorWords(errors) {
  const passed = session.invalid(page.threshold, errors), last = errors[errors.length - 1];
  return passed === null
    ? `below ${page.threshold} % so far, now ${last ? brief(last[1]) : 0} %`
    : `valid until t = ${view.time(passed)}, where it passed ${page.threshold} %`;
}

function start(on) {
  run.on = on && !session.diverged;
  run.last = performance.now();
  run.due = 0;
  tell();
}

async function frame(now) {
  requestAnimationFrame(frame);
  if (!run.on || session.busy) return;
  const rate = RATES[element("speed").value];
  run.due = rate === Infinity ? run.most : Math.min(run.due + (rate * (now - run.last)) / 1000, run.most);
  run.last = now;
  const steps = Math.floor(run.due);
  if (steps < 1) return;
  run.due -= steps;
  const fine = await session.advance(steps).catch(complain);
  // As many at a time as take a tenth of a second, so that the page answers to the hand.
  run.most = Math.max(1, Math.min(16, (100 * steps) / (performance.now() - now + 1)));
  if (!fine) run.on = false;
  if (fine !== undefined) tell();
}

function complain(error) {
  element("state-of-run").textContent = `cannot run here: ${error.message}`;
}

function restart(change) {
  change();
  start(false);
}

/** From the start of this run. */
function startOver() {
  const { start, seed } = session.origin;
  if (start === undefined) session.randomise(seed);
  else session.reset(start);
}

function size() {
  return Number(element("size").value);
}

async function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await view.picture());
  link.download = "onesnap.png";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function turn(index) {
  const symmetry = page.elements[index];
  if (symmetry && symmetry.fits) session.turn(symmetry, index);
  tell();
}

function choose(channel) {
  view.channel = channel;
  [...element("fields").children].forEach((tab, i) => tab.setAttribute("aria-selected", i === channel));
  view.refresh();
  tell();
}

function button(words, act, role) {
  const made = document.createElement("button");
  made.textContent = words;
  if (role) made.setAttribute("role", role);
  made.addEventListener("click", act);
  return made;
}

function chooseBrush(name) {
  run.brush = name;
  document.querySelectorAll("[data-brush]").forEach((each) => each.setAttribute("aria-checked", each.dataset.brush === name));
}

/** A stroke in the middle of the brush; a script gives its height. */
function stroke(cell, value, kind) {
  session.draw({ cell, channel: view.channel, brush: kind, size: size(), value });
  tell();
}

/** A stroke with the chosen brush, in units of the colour scale. */
function paintAt(x, y) {
  const { low, high } = page.scales[view.channel], sign = run.brush === "subtract" ? -1 : 1;
  const value = (sign * 0.25 * (high - low) * Number(element("strength").value)) / 100;
  stroke(view.cellAt(x, y, view.slice), value, run.brush === "subtract" ? "add" : run.brush);
}

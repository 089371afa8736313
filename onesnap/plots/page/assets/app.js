"use strict";
// Buttons, keys, the pointer, and `window.onesnap`.

const element = (id) => document.getElementById(id);
const RATES = [1, 2, 5, 10, 30, 60, 120, Infinity]; // steps a second

/** Arrays in place of {type, shape, data}, all the way down. */
function decoded(value) {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value.data === "string" && value.type) {
    const bytes = Uint8Array.from(atob(value.data), (letter) => letter.charCodeAt(0));
    if (value.type === "bytes") return bytes;
    return value.type === "int32" ? new Int32Array(bytes.buffer) : new Float32Array(bytes.buffer);
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
const run = { on: false, due: 0, last: 0, brush: "add", kernel: "" };

function tell() {
  view.dirty = true;
  element("time").textContent = `t = ${brief(session.step * session.dt)}`;
  const words = session.diverged ? "left all bounds: reset, or draw less" : run.on ? "running" : "paused";
  element("state-of-run").textContent = `step ${session.step}, ${words}`;
  element("run").textContent = run.on ? "❚❚ Pause" : "▶ Run";
  const { start } = session.origin;
  element("start-at").textContent = start === undefined ? "random" : `t = ${brief(start * session.data.every * session.dt)}`;
  if (start !== undefined) element("start").value = start;
  element("truth-at").textContent = session.step > session.horizon ? "ended: no more states are recorded" : "";
  element("verdict").textContent = session.horizon ? `Relative squared error of the forecast: ${errorWords(session.errors)}.` : "";
  element("expectation").textContent = session.members
    ? `It expects of itself, by ${session.members.length} members with other weights: ${errorWords(session.expected)}.` : "";
  element("drawn").textContent = session.touched && session.horizon ? "You have drawn on it; the truth does not know." : "";
}

/** Errors in words: when they passed the threshold, or what they are now. */
function errorWords(errors) {
  const passed = session.invalid(page.threshold, errors), last = errors[errors.length - 1];
  return passed === null
    ? `below ${page.threshold} % so far, now ${last ? brief(last[1]) : 0} %`
    : `valid until t = ${brief(passed * session.dt)}, where it passed ${page.threshold} %`;
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
  run.due = rate === Infinity ? 8 : Math.min(run.due + (rate * (now - run.last)) / 1000, 12);
  run.last = now;
  const steps = Math.floor(run.due);
  if (steps < 1) return;
  run.due -= steps;
  const fine = await session.advance(steps).catch(complain);
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

function stroke(row, column, value, kind) {
  session.draw({ row, column, channel: view.channel, brush: kind, size: size(), value });
  tell();
}

/** A stroke with the chosen brush, in units of the colour scale. */
function paintAt(row, column) {
  const { low, high } = page.scales[view.channel], sign = run.brush === "subtract" ? -1 : 1;
  const value = (sign * 0.25 * (high - low) * Number(element("strength").value)) / 100;
  stroke(row, column, value, run.brush === "subtract" ? "add" : run.brush);
}

function listenToPointer(canvas, cellAt) {
  let drawing = false;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (position, from, length) => Math.max(0, Math.min(0.9999, (position - from) / length));
    return cellAt(share(event.clientX, box.left, box.width), share(event.clientY, box.top, box.height));
  };
  canvas.addEventListener("pointerdown", (event) => {
    drawing = true;
    canvas.setPointerCapture(event.pointerId);
    paintAt(...at(event));
  });
  canvas.addEventListener("pointermove", (event) => drawing && paintAt(...at(event)));
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (drawing = false));
  canvas.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const [rows, columns] = session.model.space, [row, column] = view.cursor || [rows >> 1, columns >> 1];
    const [right, up] = (moves[event.key] || [0, 0]).map((by) => by * Math.max(1, Math.round(size() / 2)));
    const limit = (i, points) => ((i % points) + points) % points;
    if (event.key in moves)
      view.cursor = view.line ? [0, limit(column + right, columns)] : [limit(row + right, rows), limit(column + up, columns)];
    else if (event.key === "Enter") paintAt(row, column);
    else return;
    event.preventDefault();
    view.dirty = true;
  });
  canvas.addEventListener("blur", () => ([view.cursor, view.dirty] = [null, true]));
}

async function save() {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await view.picture());
  link.download = "onesnap.png";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function fits(symmetry) {
  return symmetry.axes[0] === 0 || session.model.space[0] === session.model.space[1];
}

function turn(index) {
  const symmetry = page.elements[index];
  if (symmetry && fits(symmetry)) session.turn(symmetry, index);
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

function setUp() {
  const { model } = session;
  element("from").hidden = session.recorded < 2;
  element("start").max = Math.max(0, session.recorded - 1);
  if (page.names.length > 1)
    page.names.forEach((name, channel) => element("fields").append(button(name, () => choose(channel), "tab")));
  page.elements.forEach((symmetry, index) => {
    const made = button(symmetry.name, () => turn(index));
    made.disabled = !fits(symmetry);
    element("elements").append(made);
  });
  const side = (axis) => 2 * model.extent[axis] + model.stride[axis];
  const of = (number) => (view.line ? `${number(1)}` : `${number(0)} × ${number(1)}`);
  element("window-words").textContent =
    `One small network reads a window of ${of(side)} cells and predicts the ${of((axis) => model.stride[axis])} in its ` +
    `middle a step later; copies of it side by side make the field. It has ${model.hidden} random units.`;
  element("symmetry-words").textContent = page.elements.length > 1
    ? "Click one: the field turns, the truth turns with it, and so does the forecast from there on."
    : "The model knows none but the identity.";
  element("hint").textContent = view.line
    ? "Draw on the curve. Below, time runs downwards."
    : "Draw on the forecast, even while it runs.";
  element("size").value = Math.max(2, Math.min(24, Math.round(Math.max(...model.space) / 24)));
  const rate = () => (element("rate").textContent = isFinite(RATES[element("speed").value]) ? `${RATES[element("speed").value]} / s` : "fastest");
  const acts = {
    run: () => start(!run.on), step: () => onesnap.step(1), save, share,
    reset: () => restart(startOver),
    random: () => restart(() => session.randomise(Math.floor(Math.random() * 1e6))),
  };
  for (const [id, act] of Object.entries(acts)) element(id).addEventListener("click", act);
  element("speed").addEventListener("input", rate);
  element("beside").parentElement.hidden = model.versions.length < 2;
  element("beside").checked = session.expecting;
  element("beside").addEventListener("change", ({ target }) => restart(() => {
    session.beside = target.checked;
    startOver();
  }));
  element("start").addEventListener("input", () => restart(() => session.reset(Number(element("start").value))));
  document.querySelectorAll("[data-brush]").forEach((each) => each.addEventListener("click", () => chooseBrush(each.dataset.brush)));
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|BUTTON/.test(event.target.tagName) && event.key === " ") return;
    const keys = { " ": acts.run, s: acts.step, r: acts.reset, n: acts.random, p: save, h: share };
    const brushes = { 1: "add", 2: "subtract", 3: "smooth", 4: "noise" };
    if (brushes[event.key]) chooseBrush(brushes[event.key]);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
  listenToPointer(element("curve"), (x) => [0, Math.floor(x * model.space[1])]);
  if (!view.line)
    listenToPointer(element("forecast"), (x, y) => [Math.floor(x * model.space[0]), model.space[1] - 1 - Math.floor(y * model.space[1])]);
  chooseBrush("add");
  rate();
  follow();
  choose(view.channel);
}

/** For scripts. x counts cells of the first axis, y of the second one; on a line y is 0. */
const api = {
  ready: session.ready.then((kind) => {
    run.kernel = kind;
    tell();
  }),
  /** Take n steps, and resolve to the state. */
  async step(n = 1) {
    await api.ready;
    for (let left = n; left > 0 && !session.diverged; ) {
      if (session.busy) await new Promise((resolve) => setTimeout(resolve));
      else {
        const steps = Math.min(left, 16);
        left -= steps;
        await session.advance(steps);
      }
    }
    tell();
    return api.state();
  },
  /** {step, time, shape, values, rse, expected, diverged, kernel}; values are a copy. */
  state() {
    const { model, step, errors, expected: all } = session, last = errors[errors.length - 1];
    const expected = all.length ? all[all.length - 1][1] : null;
    const shape = [model.channels, ...model.space.slice(2 - model.dimension)];
    const rse = last && last[0] === step ? last[1] : null;
    return { step, time: step * session.dt, shape, values: session.state.slice(), rse, expected, diverged: session.diverged, kernel: run.kernel };
  },
  /** Add a bump of this height, with the width of the brush, to the field that is shown. */
  draw(x, y, value) {
    const [row, column] = view.line ? [0, x] : [x, y];
    stroke(Math.floor(row), Math.floor(column), value, "add");
  },
  /** Start again from recorded state i, or without recorded states from random state i. */
  reset(i = 0) {
    restart(() => (session.recorded ? session.reset(i) : session.randomise(i)));
  },
};
window.onesnap = Object.freeze(api);
api.ready.catch(complain);
setUp();
requestAnimationFrame(frame);

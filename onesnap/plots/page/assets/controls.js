"use strict";
// Buttons, sliders, keys, the pointer.

/** Let a canvas be drawn on: by the pointer or a finger, or by arrow keys and Enter. */
function listenToPointer(canvas) {
  const [width, height] = view.sides;
  let drawing = false;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const share = (position, from, length) => Math.max(0, Math.min(0.9999, (position - from) / length));
    const x = Math.floor(share(event.clientX, box.left, box.width) * width);
    return [x, view.line ? 0 : height - 1 - Math.floor(share(event.clientY, box.top, box.height) * height)];
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
    const [x, y] = view.cursor || [width >> 1, height >> 1];
    const [right, up] = (moves[event.key] || [0, 0]).map((by) => by * Math.max(1, Math.round(size() / 2)));
    const limit = (i, points) => ((i % points) + points) % points;
    if (event.key in moves) view.cursor = [limit(x + right, width), limit(y + up, height)];
    else if (event.key === "Enter") paintAt(x, y);
    else return;
    event.preventDefault();
    view.dirty = true;
  });
  canvas.addEventListener("blur", () => ([view.cursor, view.dirty] = [null, true]));
}

const acts = {
  run: () => start(!run.on), step: () => onesnap.step(1), save, share,
  reset: () => restart(startOver),
  random: () => restart(() => session.randomise(Math.floor(Math.random() * 1e6))),
};

function listenToKeys() {
  const keys = { " ": acts.run, s: acts.step, r: acts.reset, n: acts.random, p: save, h: share };
  const brushes = { 1: "add", 2: "subtract", 3: "smooth", 4: "noise" };
  document.addEventListener("keydown", (event) => {
    // A button that has the focus takes the space bar itself.
    const own = /INPUT|BUTTON|SUMMARY/.test(event.target.tagName) && event.key === " ";
    if (event.ctrlKey || event.metaKey || event.altKey || own) return;
    if (brushes[event.key]) chooseBrush(brushes[event.key]);
    else if (keys[event.key]) keys[event.key]();
    else return;
    event.preventDefault();
  });
}

function listenToSliders() {
  const on = (id, act) => element(id).addEventListener("input", act), { model } = session;
  const rate = () => {
    const steps = RATES[element("speed").value];
    element("rate").textContent = isFinite(steps) ? `${steps} / s` : "fastest";
  };
  on("speed", rate);
  rate();
  on("start", () => restart(() => session.reset(Number(element("start").value))));
  element("from").hidden = session.recorded < 2;
  element("start").max = Math.max(0, session.recorded - 1);
  on("slice", () => view.choose(Number(element("slice").value)));
  element("through").hidden = view.sides[2] === 1;
  element("slice").max = view.sides[2] - 1;
  element("slice").value = view.slice;
  element("size").value = Math.max(2, Math.min(24, Math.round(Math.max(...model.space) / 24)));
  element("beside").parentElement.hidden = model.versions.length < 2;
  element("beside").checked = session.expecting;
  element("solve").parentElement.hidden = !session.terms;
  element("solve").checked = session.solvable;
  for (const id of ["beside", "solve"])
    on(id, ({ target }) => restart(() => {
      session[id] = target.checked;
      startOver();
    }));
}

/** A slider for each parameter. */
function addParameters() {
  const { parameters } = session.model;
  element("steer").hidden = !parameters;
  page.inputs.forEach((name, index) => {
    const label = document.createElement("label"), input = document.createElement("input"), output = document.createElement("output");
    const { low, high } = parameters, told = () => {
      input.value = session.parameters[index];
      output.textContent = brief(session.parameters[index]);
    };
    Object.assign(input, { type: "range", min: low[index], max: high[index], step: "any" });
    input.setAttribute("aria-label", name);
    input.addEventListener("input", () => {
      session.steer(index, Number(input.value));
      told();
      tell();
    });
    label.append(`${name} `, input, output);
    element("parameters").append(label);
    told();
  });
  element("held").textContent = page.held.length
    ? `${page.held.join(", ")} changed in time where the states were recorded. Here it is held at what the sliders say, at first its mean, so that the truth is another.`
    : "Parameters of the equation; the truth does not know of changes.";
}

/** Words and buttons that depend on the model. */
function explain() {
  const { model } = session, missing = 3 - model.dimension;
  const of = (number) => [0, 1, 2].slice(missing).map(number).join(" × ");
  element("window-words").textContent =
    `One small network reads a window of ${of((axis) => 2 * model.extent[axis] + model.stride[axis])} cells and ` +
    `predicts the ${of((axis) => model.stride[axis])} in its middle a step later; copies of it side by side make ` +
    `the field. It has ${model.hidden} random units.`;
  element("symmetry-words").textContent = page.elements.length > 1
    ? "Click one: the field turns, the truth turns with it, and so does the forecast from there on."
    : "The model knows none but the identity.";
  element("hint").textContent = view.line
    ? "Draw on the curve. Below, time runs downwards."
    : "Draw on the forecast, even while it runs.";
  if (page.names.length > 1)
    page.names.forEach((name, channel) => element("fields").append(button(name, () => choose(channel), "tab")));
  page.elements.forEach((symmetry, index) => {
    const turning = button(symmetry.name, () => turn(index));
    turning.disabled = !symmetry.fits;
    element("elements").append(turning);
  });
}

function setUp() {
  for (const [id, act] of Object.entries(acts)) element(id).addEventListener("click", act);
  document.querySelectorAll("[data-brush]").forEach((each) => each.addEventListener("click", () => chooseBrush(each.dataset.brush)));
  element("share").hidden = location.protocol === "about:"; // in the frame of a notebook
  explain();
  listenToSliders();
  listenToKeys();
  listenToPointer(element("curve"));
  if (!view.line) listenToPointer(element("forecast"));
  chooseBrush("add");
  follow();
  addParameters();
  choose(view.channel);
}

"use strict";
// What is shown of a run.

class View {
  constructor(page, session) {
    Object.assign(this, { page, session, channel: 0, cursor: null, dirty: true });
    const { space, dimension } = session.model;
    this.line = dimension === 1;
    this.sides = [...space.slice(3 - dimension), 1, 1].slice(0, 3); // cells to the right, upwards, through
    this.slice = this.sides[2] >> 1;
    this.canvas = Object.fromEntries(
      ["curve", "forecast", "truth", "difference", "error", "scale", "scale-difference", "before", "after"]
        .map((id) => [id, document.getElementById(id)]));
    document.querySelector("main").classList.toggle("plane", !this.line);
    for (const id of ["forecast", "truth", "difference", "before", "after"])
      this.canvas[id].style.aspectRatio =
        this.line ? (id in { before: 1, after: 1 } ? "3" : "4 / 3") : `${this.sides[0]} / ${this.sides[1]}`;
    this.nameAxes();
    if (!this.line) this.canvas.forecast.classList.add("draws");
    new ResizeObserver(() => this.refresh()).observe(document.body);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (this.dirty = true));
    const frame = () => {
      if (this.dirty) this.paint();
      requestAnimationFrame(frame);
    };
    frame();
  }

  /** The number of the cell at (x, y) of a slice. */
  cellAt(x, y, z = this.slice) {
    return (x * this.sides[1] + y) * this.sides[2] + z;
  }

  /** Show another slice of a volume. */
  choose(slice) {
    this.slice = slice;
    this.nameAxes();
    this.refresh();
  }

  /** A number of steps as a time. */
  time(steps) {
    return `${brief(steps * this.session.dt)}${this.page.timeUnits ? ` ${this.page.timeUnits}` : ""}`;
  }

  /** Where axes begin and end, in units of length where these are known, else in cells. */
  nameAxes() {
    const { dx, axes } = this.page, words = (axis, cells) => brief(dx ? dx[axis] * cells : cells);
    const name = (axis) => `${axes[axis]}${dx ? "" : ", cells"}`;
    document.querySelectorAll(".axis").forEach((row) => {
      const each = ["0", name(0), words(0, this.sides[0])].map((text) => {
        const span = document.createElement("span");
        span.textContent = text;
        return span;
      });
      row.replaceChildren(...each);
    });
    if (!this.line) this.setUpward(`${axes[1]} 0 … ${words(1, this.sides[1])} ↑`);
    document.getElementById("slice-at").textContent = `${axes[2] || ""} = ${words(2, this.slice)}`;
  }

  /** Beside the heading of each map: the axis that runs up or down. */
  setUpward(words) {
    document.querySelectorAll(".upward").forEach((place) => (place.textContent = words));
  }

  /** Paint all anew: another size, field or colour scheme. */
  refresh() {
    this.dirty = true;
    if (this.page.pair) this.paintPair(this.page.pair);
  }

  /** The values of the chosen field, without the mean where the model does not know it. */
  values(state) {
    const { cells, model } = this.session, { mask } = model;
    const field = state.subarray(this.channel * cells, (this.channel + 1) * cells);
    const mean = model.mean === "remove" ? field.reduce((sum, value) => sum + value, 0) / cells : 0;
    return mean || mask ? field.map((value, cell) => (mask && !mask[cell] ? NaN : value - mean)) : field;
  }

  /** Paint a plane or a slice, its first axis to the right and its second one upwards. */
  paintPlane(canvas, field, scale) {
    const [width, height] = this.sides;
    paintPixels(canvas, width, height, (x, y) => (field ? field[this.cellAt(x, height - 1 - y)] : NaN), scale);
  }

  /** The largest difference shown, rounded up to 1, 2 or 5 times a power of ten. */
  differenceScale(differences) {
    const { low, high } = this.page.scales[this.channel];
    let most = 1e-4 * (high - low);
    for (const field of differences) for (const value of field) if (Math.abs(value) > most) most = Math.abs(value);
    const limit = roundUp(most);
    return { table: this.page.tables.difference, low: -limit, high: limit };
  }

  paint() {
    this.dirty = false;
    const { session } = this, scale = this.page.scales[this.channel];
    const main = document.querySelector("main");
    main.classList.toggle("untold", !session.judged);
    main.classList.toggle("unjudged", !session.judged && !session.members);
    const shown = this.line ? this.paintLine(scale) : this.paintMaps(scale);
    paintScale(this.canvas.scale, scale, this.page.names[this.channel]);
    if (session.judged) paintScale(this.canvas["scale-difference"], shown, "forecast − truth");
    if (session.judged || session.members) this.paintErrors();
  }

  /** The error over time, and the one that the forecast expects of itself. */
  paintErrors() {
    const { session } = this, { threshold } = this.page, { dt, errors, expected } = session;
    const curve = (steps) => steps.map(([step, error]) => [step * dt, error]);
    const at = (steps) => (steps === null ? null : steps * dt);
    const last = Math.max(session.horizon, expected.length || session.solving ? session.step : 0, 100);
    paintError(this.canvas.error, {
      threshold, time: (steps) => this.time(Math.round(steps / dt)), end: (session.horizon >= session.step ? session.horizon : roundUp(last)) * dt,
      curves: [
        { points: curve(expected), colour: css("--expected"), dash: [2, 4], valid: null },
        { points: session.judged ? curve(errors) : [], colour: css("--accent"), dash: [], valid: at(session.invalid(threshold)) },
      ],
    });
  }

  paintMaps(scale) {
    const { session } = this, { forecast, truth, difference } = this.canvas;
    this.paintPlane(forecast, this.values(session.state), scale);
    if (this.cursor) {
      const context = forecast.getContext("2d");
      const [x, y] = this.cursor;
      context.strokeStyle = "#000";
      context.strokeRect(x - 1.5, this.sides[1] - 1 - y - 1.5, 4, 4);
    }
    if (!session.judged) return null;
    const real = this.values(session.seen), guess = this.values(session.seenForecast);
    const wrong = guess.map((value, i) => value - real[i]), own = this.differenceScale([wrong]);
    this.paintPlane(truth, real, scale);
    this.paintPlane(difference, wrong, own);
    return own;
  }

  paintLine(scale) {
    const { session } = this, now = this.values(session.state), known = session.truth();
    const curves = [[now, css("--accent"), 2]];
    if (known) curves.unshift([this.values(known), css("--truth"), 1.4]);
    paintCurve(this.canvas.curve, curves, this.page.curveScale(this.channel), this.cursor ? this.cursor[0] : null);
    const rows = session.history.map(({ state, truth }) => {
      const guess = this.values(state), real = truth && this.values(truth);
      return { guess, real, wrong: real && guess.map((value, i) => value - real[i]) };
    });
    const [first] = session.history, last = session.history[session.history.length - 1];
    this.setUpward(`t ${brief(first.step * session.dt)} … ${this.time(last.step)} ↓`);
    const own = this.differenceScale(rows.filter(({ wrong }) => wrong).map(({ wrong }) => wrong));
    const paint = (canvas, name, colours) =>
      paintPixels(canvas, now.length, KEPT, (x, y) => (rows[y] && rows[y][name] ? rows[y][name][x] : NaN), colours);
    paint(this.canvas.forecast, "guess", scale);
    if (!session.judged) return null;
    paint(this.canvas.truth, "real", scale);
    paint(this.canvas.difference, "wrong", own);
    return own;
  }

  /** The training pair, with one window and the block that is predicted from it. */
  paintPair(pair) {
    const { model, size } = this.session, missing = 3 - model.dimension;
    const [width, height] = this.line ? [this.sides[0], 24] : this.sides;
    document.getElementById("pair").hidden = false;
    ["before", "after"].forEach((id, moment) => {
      const state = pair.subarray(moment * size, (moment + 1) * size), field = this.values(state);
      const scale = this.page.scales[this.channel], small = document.createElement("canvas");
      if (this.line) paintPixels(small, width, height, (x) => field[x], scale);
      else this.paintPlane(small, field, scale);
      const context = paintEnlarged(this.canvas[id], small);
      const side = (axis) => (moment ? 0 : 2 * model.extent[axis]) + model.stride[axis];
      const [wide, tall] = [side(missing), this.line ? 16 : side(missing + 1)];
      context.beginPath();
      context.rect((width - wide) / 2, (height - tall) / 2, wide, tall);
      context.save();
      context.resetTransform(); // lines are measured in pixels, boxes in cells
      for (const [colour, thick] of [["#fff", 5], ["#000", 2]]) {
        [context.strokeStyle, context.lineWidth] = [colour, thick];
        context.stroke();
      }
      context.restore();
    });
  }

  /** The panels side by side, as the content of a PNG file. */
  picture() {
    const panels = ["forecast", ...(this.session.judged ? ["truth", "difference"] : [])];
    const side = 420, canvas = document.createElement("canvas"), context = canvas.getContext("2d");
    const shape = this.line ? 0.75 : this.sides[1] / this.sides[0];
    [canvas.width, canvas.height] = [panels.length * (side + 20) + 20, Math.round(side * shape) + 96];
    context.fillStyle = css("--paper");
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.fillStyle = css("--ink");
    context.font = "600 18px system-ui, sans-serif";
    context.fillText(`${this.page.title}, ${document.getElementById("time").textContent}`, 20, 32, canvas.width - 40);
    context.font = "15px system-ui, sans-serif";
    panels.forEach((id, i) => {
      const x = 20 + i * (side + 20);
      context.fillText(id, x, 64);
      context.drawImage(this.canvas[id], x, 74, side, side * shape);
    });
    return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  }
}

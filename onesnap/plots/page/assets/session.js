"use strict";
// A run: where it started, the state now, what was kept of it, and the worker that makes steps.

const KEPT = 240; // moments of a waterfall
const QUICK = 4096; // cells up to which members go along unasked
const SOLVED = 16384; // cells up to which the equation is solved unasked

class Session {
  constructor({ model, data, terms, dt, plain = false }) {
    Object.assign(this, { model, data, terms, dt });
    this.cells = volume(model.space);
    this.size = model.channels * this.cells;
    this.recorded = data.states ? data.states.length / this.size : 0;
    this.busy = false;
    this.parameters = model.parameters && model.parameters.given.slice(); // as the sliders say
    this.beside = this.cells <= QUICK;
    this.solve = this.cells <= SOLVED;
    const code = document.getElementById("engine").textContent;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data: { ready } }) => resolve(ready);
      this.worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
    });
    this.worker.postMessage({ model, terms, plain });
    if (this.recorded) this.reset(0);
    else this.randomise(1);
  }

  reset(index) {
    const start = Math.max(0, Math.min(this.recorded - 1, Math.floor(index) || 0));
    this.begin({ start }, this.data.states.slice(start * this.size, (start + 1) * this.size));
  }

  randomise(seed) {
    this.begin({ seed }, randomState(this.model, this.data, seed));
  }

  begin(origin, given) {
    const state = covered(this.model, Float64Array.from(given));
    Object.assign(this, { origin, state, step: 0, diverged: false, touched: false });
    this.number = (this.number || 0) + 1; // answers to earlier questions no longer count
    this.pose = Float64Array.from({ length: this.size }, (_, i) => i + 1);
    this.edits = []; // strokes and turns before the first step, in their order
    this.waiting = []; // those that came while the worker was busy
    this.errors = [];
    this.history = [];
    this.expected = [];
    this.members = this.expecting ? Array(this.model.versions.length - 1).fill(state) : null;
    this.expect(0);
    this.solving = this.solvable;
    this.solved = this.solving ? state : null;
    this.keep();
  }

  /** Whether the equation is solved from the next start on: the truth knows of strokes then. */
  set solve(wanted) {
    this.solvable = wanted && Boolean(this.terms);
  }

  /** Whether forecasts of this run are compared with anything. */
  get judged() {
    return this.solving || this.horizon > 0;
  }

  /** Whether members go along from the next start on, which tell what error to expect. */
  set beside(wanted) {
    this.expecting = wanted && this.model.versions.length > 1;
  }

  /** A copy of a state, without the values of cells that never have one. */
  known(state) {
    const { mask } = this.model;
    return mask ? state.map((value, i) => (mask[i % this.cells] ? value : NaN)) : state.slice();
  }

  expect(error) {
    if (this.members) this.expected.push([this.step, error]);
  }

  /** The solution or the recorded state of this step, turned as the forecast was; null where there is none. */
  truth() {
    if (this.solving) return this.solved;
    const ahead = this.step / this.data.every;
    if (this.origin.start === undefined || ahead !== Math.floor(ahead)) return null;
    const index = this.origin.start + ahead;
    if (index >= this.recorded) return null;
    const state = this.data.states.subarray(index * this.size, (index + 1) * this.size);
    return Float64Array.from(this.pose, (from) => Math.sign(from) * state[Math.abs(from) - 1]);
  }

  /** Steps from the start to the last recorded state. */
  get horizon() {
    return this.origin.start === undefined ? 0 : (this.recorded - 1 - this.origin.start) * this.data.every;
  }

  keep() {
    const truth = this.truth();
    if (truth) {
      const error = relativeError(this.state, truth, this.model);
      if (this.errors.length && this.errors[this.errors.length - 1][0] === this.step) this.errors.pop();
      this.errors.push([this.step, error]);
      this.seen = truth;
      this.seenForecast = this.state;
    }
    // Moments without a recorded state would be gaps in the truth.
    if (this.model.dimension > 1 || (!this.solving && this.horizon && this.step % this.data.every)) return;
    if (this.history.length && this.history[this.history.length - 1].step === this.step) this.history.pop();
    this.history.push({ step: this.step, state: this.state, truth });
    if (this.history.length > KEPT) this.history.shift();
  }

  /** Change the state now, or as soon as the worker has answered. */
  edit(what, change) {
    if (this.busy) return void this.waiting.push([what, change]);
    if (this.step === 0) this.edits.push(what);
    const changed = (state) => covered(this.model, change(state));
    this.state = changed(this.state);
    if (this.members) this.members = this.members.map(changed);
    if (this.solved) this.solved = changed(this.solved);
    if (what.turn !== undefined) this.pose = change(this.pose);
    this.keep();
  }

  draw(stroke) {
    this.touched = true;
    this.edit({ stroke }, (state) => {
      const copy = state.slice();
      brush(this.model, copy, stroke);
      return copy;
    });
  }

  /** Other parameters from the next step on, within what was learned from. */
  steer(index, value) {
    const { low, high } = this.model.parameters;
    this.parameters[index] = Math.max(low[index], Math.min(high[index], value));
  }

  /** Whether steps are those of other parameters than the page was made with. */
  get steered() {
    return Boolean(this.parameters) && this.parameters.some((value, i) => value !== this.model.parameters.given[i]);
  }

  /** Turn the state, and the truth with it. */
  turn(element, index) {
    this.edit({ turn: index }, (state) => turned(element, state, this.model.space, this.model.channels));
  }

  /** Take some steps; resolves to whether the run goes on. */
  async advance(steps) {
    if (this.busy || this.diverged || steps < 1) return !this.diverged;
    this.busy = true;
    const answer = await this.ask(steps).finally(() => (this.busy = false));
    if (answer.number === this.number) {
      answer.states.forEach((next, i) => {
        this.state = next;
        this.step += 1;
        this.solved = answer.truths[i];
        this.expect(answer.expected[i]);
        this.keep();
      });
      this.members = answer.members;
      this.diverged = answer.diverged;
    }
    this.waiting.splice(0).forEach((each) => this.edit(...each));
    return !this.diverged;
  }

  async ask(steps) {
    await this.ready;
    const { number, state, members, solved: truth, parameters } = this;
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => resolve(data);
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.postMessage({ state, members, truth, parameters, steps, number, margin: this.model.farthest });
    });
  }

  /** The step at which errors first passed a threshold; null if they have not. */
  invalid(threshold, errors = this.errors) {
    const passed = errors.find(([, error]) => error > threshold);
    return passed ? passed[0] : null;
  }
}

"use strict";
// A run: where it started, the state now, what was kept of it, and the worker that makes steps.

const KEPT = 240; // moments of a waterfall

class Session {
  constructor({ model, data, dt, plain = false }) {
    Object.assign(this, { model, data, dt });
    this.cells = model.space[0] * model.space[1];
    this.size = model.channels * this.cells;
    this.recorded = data.states ? data.states.length / this.size : 0;
    this.busy = false;
    const code = document.getElementById("engine").textContent;
    const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
    this.worker = new Worker(address);
    this.ready = new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data: { ready } }) => resolve(ready);
      this.worker.onerror = (event) => reject(new Error(event.message || "the worker did not start"));
    });
    this.worker.postMessage({ model, plain });
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

  begin(origin, state) {
    Object.assign(this, { origin, state, step: 0, diverged: false, touched: false });
    this.number = (this.number || 0) + 1; // answers to earlier questions no longer count
    this.pose = Float64Array.from({ length: this.size }, (_, i) => i + 1);
    this.edits = []; // strokes and turns before the first step, in their order
    this.waiting = []; // those that came while the worker was busy
    this.errors = [];
    this.history = [];
    this.keep();
  }

  /** The recorded state of this step, turned as the forecast was; null where there is none. */
  truth() {
    const ahead = this.step / this.data.every;
    if (this.origin.start === undefined || ahead !== Math.floor(ahead)) return null;
    const index = this.origin.start + ahead;
    if (index >= this.recorded) return null;
    const state = this.data.states.subarray(index * this.size, (index + 1) * this.size);
    return Float32Array.from(this.pose, (from) => Math.sign(from) * state[Math.abs(from) - 1]);
  }

  /** Steps from the start to the last recorded state. */
  get horizon() {
    return this.origin.start === undefined ? 0 : (this.recorded - 1 - this.origin.start) * this.data.every;
  }

  keep() {
    const truth = this.truth();
    if (truth) {
      const error = relativeError(this.state, truth, this.cells);
      if (this.errors.length && this.errors[this.errors.length - 1][0] === this.step) this.errors.pop();
      this.errors.push([this.step, error]);
      this.seen = truth;
      this.seenForecast = this.state;
    }
    // Moments without a recorded state would be gaps in the truth.
    if (this.model.dimension === 2 || (this.horizon && this.step % this.data.every)) return;
    if (this.history.length && this.history[this.history.length - 1].step === this.step) this.history.pop();
    this.history.push({ step: this.step, state: this.state, truth });
    if (this.history.length > KEPT) this.history.shift();
  }

  /** Change the state now, or as soon as the worker has answered. */
  edit(what, change) {
    if (this.busy) return void this.waiting.push([what, change]);
    if (this.step === 0) this.edits.push(what);
    this.state = change(this.state);
    this.keep();
  }

  draw(stroke) {
    this.edit({ stroke }, (state) => {
      const copy = state.slice();
      brush(this.model, copy, stroke);
      this.touched = true;
      return copy;
    });
  }

  /** Turn the state, and the truth with it. */
  turn(element, index) {
    this.edit({ turn: index }, (state) => {
      this.pose = turned(element, this.pose, this.model.space, this.model.channels);
      return turned(element, state, this.model.space, this.model.channels);
    });
  }

  /** Take some steps; resolves to whether the run goes on. */
  async advance(steps) {
    if (this.busy || this.diverged || steps < 1) return !this.diverged;
    this.busy = true;
    const answer = await this.ask(steps).finally(() => (this.busy = false));
    if (answer.number === this.number) {
      for (const next of answer.states) {
        this.state = next;
        this.step += 1;
        this.keep();
      }
      this.diverged = answer.diverged;
    }
    this.waiting.splice(0).forEach((each) => this.edit(...each));
    return !this.diverged;
  }

  async ask(steps) {
    await this.ready;
    const { number, state } = this;
    return new Promise((resolve, reject) => {
      this.worker.onmessage = ({ data }) => resolve(data);
      this.worker.onerror = (event) => reject(new Error(event.message));
      this.worker.postMessage({ state, steps, number, margin: this.model.farthest });
    });
  }

  /** The step at which the error first passed a threshold; null if it has not. */
  invalid(threshold) {
    const passed = this.errors.find(([, error]) => error > threshold);
    return passed ? passed[0] : null;
  }
}

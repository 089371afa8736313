"use strict";
// The worker: it holds the model, and answers each message {state, steps} by the states it makes.

if (typeof document === "undefined" && typeof self !== "undefined") {
  let engine = null;
  self.onmessage = ({ data }) => {
    if (data.model) {
      engine = new Engine(data.model, data.plain);
      self.postMessage({ ready: engine.kernel.kind });
      return;
    }
    const states = [];
    let state = data.state, diverged = false;
    for (let n = 0; n < data.steps && !diverged; n++) {
      const next = engine.step(state);
      diverged = !(engine.excess(next) <= data.margin);
      if (!diverged) states.push((state = next));
    }
    self.postMessage({ states, diverged, number: data.number }, states.map((each) => each.buffer));
  };
}

"use strict";
// The worker: it holds the model, and answers each message {state, steps} by the states it makes. With
// states of members, these go along, and the answer holds the errors that they expect; with a truth, the
// equation is solved from there on, and the answer holds a truth for each state, null where it is lost.

if (typeof document === "undefined" && typeof self !== "undefined") {
  let engine = null, solver = null, terms = null;
  self.onmessage = ({ data }) => {
    if (data.model) {
      engine = new Engine(data.model, data.plain);
      terms = data.terms;
      self.postMessage({ ready: engine.kernel.kind });
      return;
    }
    const states = [], expected = [], truths = [], { margin } = data;
    let { members, truth } = data;
    if (data.parameters) engine.bind(data.parameters);
    if (truth && !solver) solver = new Solver(terms, engine.model.space);
    let state = data.state, diverged = false;
    for (let n = 0; n < data.steps && !diverged; n++) {
      const next = engine.step(state);
      diverged = !(engine.excess(next) <= margin);
      if (diverged) break;
      states.push((state = next));
      truth = truth && solver.step(truth);
      if (truth && !truth.every(Number.isFinite)) truth = null;
      truths.push(truth);
      if (!members) continue;
      members = members.map((member, m) => {
        const moved = engine.step(member, 1 + m);
        return engine.excess(moved) <= margin ? moved : member; // one that diverges stands still
      });
      expected.push(members.reduce((sum, member) => sum + engine.relativeError(member, state), 0) / members.length);
    }
    const { number } = data, moved = [...states, ...truths.filter((each) => each)].map((each) => each.buffer);
    self.postMessage({ states, members, expected, truths, diverged, number }, moved);
  };
}

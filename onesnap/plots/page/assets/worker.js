"use strict";
// The worker: it holds the model, and answers each message {state, steps} by the states it makes. With
// states of members, these go along, and the answer holds the errors that they expect.

if (typeof document === "undefined" && typeof self !== "undefined") {
  let engine = null;
  self.onmessage = ({ data }) => {
    if (data.model) {
      engine = new Engine(data.model, data.plain);
      self.postMessage({ ready: engine.kernel.kind });
      return;
    }
    const states = [], expected = [], { margin } = data;
    let members = data.members;
    let state = data.state, diverged = false;
    for (let n = 0; n < data.steps && !diverged; n++) {
      const next = engine.step(state);
      diverged = !(engine.excess(next) <= margin);
      if (diverged) break;
      states.push((state = next));
      if (!members) continue;
      members = members.map((member, m) => {
        const moved = engine.step(member, 1 + m);
        return engine.excess(moved) <= margin ? moved : member; // one that diverges stands still
      });
      expected.push(members.reduce((sum, member) => sum + engine.relativeError(member, state), 0) / members.length);
    }
    const { number } = data, moved = states.map((each) => each.buffer);
    self.postMessage({ states, members, expected, diverged, number }, moved);
  };
}

"use strict";
// `window.onesnap`, and the start of it all.

/** For scripts. x, y and z count cells of the axes; on a line y is 0, and z is that of the slice shown. */
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
    const shape = [model.channels, ...model.space.slice(3 - model.dimension)];
    const rse = last && last[0] === step ? last[1] : null;
    return { step, time: step * session.dt, shape, values: session.known(session.state), rse, expected, diverged: session.diverged, kernel: run.kernel };
  },
  /** Add a bump of this height, with the width of the brush, to the field that is shown. */
  draw(x, y, value, z = view.slice) {
    const place = [x, y, z].map((at, axis) => Math.max(0, Math.min(view.sides[axis] - 1, Math.floor(at))));
    stroke(view.cellAt(...place), value, "add");
  },
  /** Hold parameter i at a value from the next step on, within what was learned from. */
  steer(i, value) {
    if (!session.parameters || !(i in session.parameters) || !Number.isFinite(value)) return;
    session.steer(i, value);
    tell();
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

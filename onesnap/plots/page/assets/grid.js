"use strict";
// Cells of a grid of three axes, the last one fastest, and what both threads ask of states on it.

const volume = ([x, y, z]) => x * y * z;
const placeOf = (cell, [, y, z]) => [Math.floor(cell / (y * z)), Math.floor(cell / z) % y, cell % z];

/** The state with the cells filled that never have a value. */
function covered({ mask, fill, space }, state) {
  if (!mask) return state;
  const cells = volume(space);
  return state.map((value, i) => (mask[i % cells] ? value : fill[(i / cells) | 0]));
}

/** The relative squared error in percent, as `onesnap.rse`: cells without a value do not count. */
function relativeError(forecast, truth, { space, mask }) {
  const cells = volume(space), there = mask ? mask.reduce((sum, known) => sum + known, 0) : cells;
  let error = 0, spread = 0;
  for (let first = 0; first < truth.length; first += cells) {
    let mean = 0;
    for (let i = 0; i < cells; i++) if (!mask || mask[i]) mean += truth[first + i] / there;
    for (let i = 0; i < cells; i++) {
      if (mask && !mask[i]) continue;
      error += (forecast[first + i] - truth[first + i]) ** 2;
      spread += (truth[first + i] - mean) ** 2;
    }
  }
  return error === 0 ? 0 : (100 * error) / spread;
}

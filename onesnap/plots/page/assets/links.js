"use strict";
// Links that bring the same start, strokes and turns. What they hold is untrusted: numbers, or left out.

const KINDS = new Map([["a", "add"], ["s", "smooth"], ["n", "noise"]]);

/** A stroke or a turn as words of a link. */
function written({ stroke, turn }) {
  if (!stroke) return `t${turn}`;
  const { cell, channel, brush, size, value } = stroke;
  return [cell, channel, brush[0], size, Number(value.toPrecision(9))].join("_");
}

/** And back; null for what is not understood. */
function understood(text) {
  if (/^t\d+$/.test(text)) return { turn: Number(text.slice(1)) };
  const [cell, channel, size, value] = text.split("_").filter((_, i) => i !== 2).map(Number);
  const brush = KINDS.get(text.split("_")[2]), below = (i, end) => Number.isInteger(i) && i >= 0 && i < end;
  const fine = below(cell, session.cells) && below(channel, page.names.length);
  if (!fine || !brush || !(size >= 1 && size <= 24) || !Number.isFinite(value)) return null;
  return { stroke: { cell, channel, brush, size, value } };
}

/** Where the run started, what was drawn and turned before its first step: the same again. */
function share() {
  if (element("share").hidden) return;
  const { origin, edits } = session, words = new URLSearchParams();
  if (origin.start === undefined) words.set("random", origin.seed);
  else words.set("start", origin.start);
  if (view.channel) words.set("field", view.channel);
  if (session.steered) words.set("inputs", session.parameters.join("_"));
  if (edits.length) words.set("edits", edits.map(written).join(".."));
  history.replaceState(null, "", `#${words}`);
  const copied = navigator.clipboard ? navigator.clipboard.writeText(location.href) : Promise.reject(new Error("none"));
  copied.then(() => "Link copied", () => "Link is in the address bar").then((said) => {
    element("share").textContent = said;
    setTimeout(() => (element("share").textContent = "Copy link"), 1600);
  });
}

/** What a link says; whatever is not understood is left out. */
function follow() {
  const words = new URLSearchParams(location.hash.slice(1)), whole = (text) => Math.max(0, Math.floor(Number(text)) || 0);
  if (words.has("random")) session.randomise(whole(words.get("random")));
  else if (words.has("start") && session.recorded) session.reset(whole(words.get("start")));
  if (whole(words.get("field")) < page.names.length) choose(whole(words.get("field")));
  const inputs = (words.get("inputs") || "none").split("_").map(Number);
  if (session.parameters && inputs.length === session.parameters.length && inputs.every(Number.isFinite))
    inputs.forEach((value, index) => session.steer(index, value));
  for (const text of (words.get("edits") || "").split("..").slice(0, 2000)) {
    const edit = understood(text);
    if (edit && edit.stroke) session.draw(edit.stroke);
    else if (edit) turn(edit.turn);
  }
}

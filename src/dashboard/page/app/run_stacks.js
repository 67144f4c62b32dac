/** The stacks that the hang watch took: what each rank was doing while others waited, the newest first. */

import { h, note, patch, quiet } from "./element.js";
import { clock } from "./format.js";

export class RunStacks {
  constructor() {
    this.element = h("div", null);
  }

  update(run, now_s) {
    const awaited = new Set(run.view?.wait?.awaited ?? []);
    const newest = (stack) => stack.times.at(-1);
    const stacks = once(run.stacks ?? []).sort((a, b) => awaited.has(b.rank) - awaited.has(a.rank) || a.rank - b.rank || newest(b) - newest(a));
    patch(this.element, stacks.length
      ? stacks.map((stack, at) => h("details", { class: "stack", open: at < 4 || awaited.has(stack.rank), "data-key": `rank${stack.rank}` },
        h("summary", null, `Rank ${stack.rank}`, awaited.has(stack.rank) && h("span", { class: "tag bad" }, "awaited"), " ", quiet(stack.times.map((at) => clock(at, now_s)).join(", "))),
        h("pre", { tabindex: "0", "aria-label": `Stack of rank ${stack.rank}` }, stack.text)))
      : note("No stack has been taken. Headway takes stacks when a run waits for longer than ", h("code", null, "FailureConfig.hang_warn_s"), "; ", h("code", null, "headway stack"), " takes them at once."));
  }
}

/** Equal stacks once, with all their times. */
function once(stacks) {
  const all = new Map();
  for (const { rank, attempt, text, taken_unix_s } of stacks) {
    const key = JSON.stringify([rank, attempt, text]);
    if (!all.has(key)) all.set(key, { rank, text, times: [] });
    all.get(key).times.push(taken_unix_s);
  }
  return [...all.values()];
}

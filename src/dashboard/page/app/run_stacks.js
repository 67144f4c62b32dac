/** The stacks that the hang watch took: what each rank was doing while others waited, the newest first. */

import { h, patch } from "./element.js";
import { clock } from "./format.js";

export class RunStacks {
  constructor() {
    this.element = h("div", null);
  }

  update(run, now_s) {
    const awaited = new Set(run.view?.wait?.awaited ?? []);
    const stacks = [...(run.stacks ?? [])].sort((a, b) => awaited.has(b.rank) - awaited.has(a.rank) || a.rank - b.rank || b.taken_unix_s - a.taken_unix_s);
    patch(this.element, stacks.length
      ? stacks.map((stack, at) => h("details", { class: "stack", open: at < 4 || awaited.has(stack.rank), "data-key": `rank${stack.rank}` },
        h("summary", null, `Rank ${stack.rank}`, awaited.has(stack.rank) && h("span", { class: "tag bad" }, "awaited"), " ", h("span", { class: "quiet" }, clock(stack.taken_unix_s, now_s))),
        h("pre", { tabindex: "0", "aria-label": `Stack of rank ${stack.rank}` }, stack.text)))
      : h("p", { class: "quiet" }, "No stack has been taken. Headway takes stacks when a run waits for longer than ", h("code", null, "FailureConfig.hang_warn_s"), "; ", h("code", null, "headway stack"), " takes them at once."));
  }

  close() {}
}

/** Checkpoints: how large, how long to store, kept or deleted and why, with their metrics. */

import { h, patch } from "./element.js";
import { bytes, clock, counted, duration, number, value } from "./format.js";
import { table } from "./table.js";

const shown_max = 500;

export class RunCheckpoints {
  constructor() {
    this.element = h("div", null);
  }

  update(run, now_s) {
    const all = (run.checkpoints ?? []).toReversed();
    const kept = all.filter((of) => of.kept);
    const names = [...new Set(all.flatMap((of) => Object.keys(of.metrics ?? {}).filter((name) => typeof of.metrics[name] === "number")))].slice(0, 4);
    patch(this.element,
      all.length > 0 && h("p", { class: "quiet" }, `${counted(all.length, "checkpoint")}, ${kept.length} kept, ${bytes(kept.reduce((sum, of) => sum + (of.size_bytes ?? 0), 0))} in storage.`),
      table({ caption: "Checkpoints", rows: all.slice(0, shown_max), key: (of) => of.name, empty: "No checkpoint has been committed.", columns: [
        { title: "Checkpoint", code: true, cell: (of) => of.name },
        { title: "Report", number: true, cell: (of) => number(of.report) },
        { title: "Committed", number: true, cell: (of) => clock(of.committed_unix_s, now_s) },
        { title: "Size", number: true, cell: (of) => bytes(of.size_bytes) },
        { title: "Time to store", number: true, cell: (of) => duration(of.seconds) },
        { title: "State", wide: true, cell: (of) => [of.kept ? "kept" : h("span", { class: "quiet" }, `deleted${of.why_deleted ? `: ${of.why_deleted}` : ""}`), " ", verified(of, now_s), " ", validated(of)] },
        ...names.map((name) => ({ title: name, number: true, cell: (of) => number(of.metrics?.[name]) })),
      ] }),
      all.length > shown_max && h("p", { class: "quiet" }, `The last ${shown_max} are shown.`));
  }

  close() {}
}

/** What `headway checkpoint verify` has found. */
function verified({ verified: of }, now_s) {
  if (!of) return null;
  return of.damage ? h("span", { class: "tag bad", title: of.damage }, `damaged: ${of.damage}`)
    : h("span", { class: "tag good" }, `verified ${clock(of.at_unix_s, now_s)}`);
}

function validated({ validation: of }) {
  if (!of) return null;
  if (of.error) return h("span", { class: "tag bad" }, `validation failed: ${of.error.split("\n")[0]}`);
  return h("span", { class: "tag" }, `validated: ${Object.entries(of.metrics).map(([name, metric]) => `${name} ${value(metric)}`).join(", ")}`);
}

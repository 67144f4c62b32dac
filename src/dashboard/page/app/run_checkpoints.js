/** Checkpoints: how large, how long to store, kept or deleted and why, with their metrics. */

import { h, note, patch, quiet } from "./element.js";
import { bytes, clock, counted, duration, number, value } from "./format.js";
import { digits, table } from "./table.js";

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
      all.length > 0 && note(`${counted(all.length, "checkpoint")}, ${kept.length} kept, ${bytes(kept.reduce((sum, of) => sum + (of.size_bytes ?? 0), 0))} in storage.`),
      table({ caption: "Checkpoints", rows: all.slice(0, shown_max), key: (of) => of.name, empty: "No checkpoint has been committed.", columns: [
        { title: "Checkpoint", code: true, cell: (of) => of.name },
        digits("Report", (of) => number(of.report)),
        digits("Committed", (of) => clock(of.committed_unix_s, now_s)),
        digits("Size", (of) => bytes(of.size_bytes)),
        digits("Time to store", (of) => duration(of.seconds)),
        { title: "State", wide: true, cell: (of) => [of.kept ? "kept" : quiet(`deleted${of.why_deleted ? `: ${of.why_deleted}` : ""}`), " ", verified(of, now_s), " ", validated(of), " ", resumed(of, run.attempts)] },
        ...names.map((name) => ({ title: name, number: true, cell: (of) => number(of.metrics?.[name]) })),
      ] }),
      all.length > shown_max && note(`The last ${shown_max} are shown.`));
  }
}

function resumed({ name }, attempts = []) {
  return attempts.filter((attempt) => attempt.resumed_from === name)
    .map((attempt) => h("span", { class: "tag" }, `attempt ${attempt.number} resumed here`));
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

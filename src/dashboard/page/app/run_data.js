/** Ingest: what each stage of the data set has done, what it waits for, and its memory. */

import { h, patch, quiet } from "./element.js";
import { bytes, duration, number, sentence } from "./format.js";
import { gauge } from "./nodes_view.js";
import { ends } from "./run_overview.js";
import { digits, table } from "./table.js";

export class RunData {
  constructor() {
    this.element = h("div", null);
  }

  update(run) {
    patch(this.element,
      run.data?.words && h("p", { class: run.data.is_data_bound ? "notice wait" : "quiet" }, sentence(run.data.words)),
      (run.budgets ?? []).map(budget),
      table({ caption: "Stages of the data sets", rows: run.ingest ?? [], empty: nothing(run), columns: [
        { title: "Stage", wide: true, cell: (of) => [of.dataset && quiet(`${of.dataset} `), of.name] },
        digits("Rows", (of) => number(of.rows)),
        digits("Bytes", (of) => bytes(of.bytes)),
        digits("Rows/s", (of) => (of.seconds ? number(of.rows / of.seconds, 3) : null)),
        digits("At work", (of) => duration(of.seconds)),
        digits("Waited for input", (of) => duration(of.waited_s)),
        digits("For output", (of) => duration(of.blocked_s)),
        digits("For memory", (of) => duration(of.memory_wait_s)),
        { title: "Memory", cell: (of) => share(of.memory_bytes, of.budget_bytes) },
      ] }));
  }
}

/** The driver writes it now and then. */
function nothing({ state }) {
  return ends.includes(state) ? "The run read no data set of Headway's." : "Nothing is known of data sets yet. Headway looks at them every 30 seconds.";
}

/** Of a data process, by all that it feeds. */
function budget(of) {
  return h("p", { class: "budget" }, `Memory for ${of.dataset}: `, share(of.held_bytes, of.budget_bytes), `, at most ${bytes(of.held_bytes_max)} so far`);
}

function share(held, budget) {
  return budget ? gauge((held ?? 0) / budget, `${bytes(held ?? 0)} of ${bytes(budget)}`, { tight: true }) : held ? bytes(held) : null;
}

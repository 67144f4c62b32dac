/** The table of trials with its filter, and the comparison of those that are chosen. */

import { Compare } from "./compare.js";
import { h } from "./element.js";
import { choose, parse } from "./route.js";
import { TrialsTable } from "./trials_table.js";

export class ExperimentTrials {
  constructor(path, experiment) {
    const { choices } = parse(location.hash);
    this.chosen = new Map();
    this.compare = new Compare(this.chosen, () => this.changed());
    this.table = new TrialsTable(path, experiment, { chosen: this.chosen, choose: () => this.changed() });
    this.input = h("input", { type: "search", size: "36", value: choices.filter ?? "", placeholder: "lr<0.01 optimizer=adam errored", "aria-label": "Filter", "aria-describedby": "filter-help", oninput: () => this.filter() });
    this.element = h("div", null,
      h("form", { class: "controls", onsubmit: (event) => event.preventDefault() }, h("label", null, "Filter ", this.input),
        h("span", { id: "filter-help", class: "quiet hint" }, "Comparisons and words; all must hold. A click on a heading sorts.")),
      this.table.element, this.compare.element);
    this.table.set({ filter: this.input.value, sort: experiment.best ? `last.${experiment.metric}` : "id", descending: experiment.best ? experiment.mode === "max" : false });
  }

  filter() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.setFilter(this.input.value), 200);
  }

  setFilter(filter) {
    if (this.input.value !== filter) this.input.value = filter;
    choose({ filter });
    this.table.set({ filter });
  }

  changed() {
    this.compare.render();
    this.table.render();
  }

  refresh() {
    if (this.waiting) return;
    this.waiting = setTimeout(() => {
      this.waiting = null;
      this.table.refresh();
    }, 2000);
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.waiting);
    this.table.close();
  }
}

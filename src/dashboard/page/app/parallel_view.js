/** Parallel coordinates over the table of the trials that their brushes leave. */

import { alert, h, keep, note, patch } from "./element.js";
import { ExperimentTrials } from "./experiment_trials.js";
import { number } from "./format.js";
import { ParallelPlot } from "./parallel_plot.js";
import { Query } from "./source.js";

const lines_max = 2000;

export class ParallelView {
  constructor(path, experiment) {
    this.plot = new ParallelPlot(() => {
      this.trials.setFilter(this.plot.terms().join(" "));
      this.render();
    });
    this.trials = new ExperimentTrials(path, experiment);
    this.above = h("div", null);
    this.element = h("div", null, this.above, this.trials.element);
    this.query = new Query(`${path}/parallel`, () => {
      if (this.query.data?.rows?.length) this.plot.set(this.query.data);
      this.render();
    }, { parameters: { max: lines_max }, pause_ms: 5000 });
  }

  refresh() {
    this.query.refresh();
    this.trials.refresh();
  }

  render() {
    const { data, error } = this.query;
    const drawn = data?.rows?.length ?? 0;
    const brushes = Object.keys(this.plot.brushes).length;
    patch(this.above,
      alert(error),
      h("div", { class: "controls" },
        drawn > 0 && h("span", { class: "quiet hint" }, data.total > drawn ? `${number(drawn)} of ${number(data.total)} trials are drawn, spread over all. ` : "", "Drag along an axis to choose; click it to take the choice back."),
        brushes > 0 && h("button", { type: "button", onclick: () => this.plot.clear() }, "Choose all")),
      drawn ? keep(this.plot.element) : data && note("No trial has reported yet."));
  }

  close() {
    this.query.close();
    this.plot.close();
    this.trials.close();
  }
}

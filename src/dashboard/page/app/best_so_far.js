/** The value of each trial in the order of their ends, and the best one so far. */

import { Chart } from "./chart.js";
import { alert, h, keep, note, patch } from "./element.js";
import { counted, number, ordinal } from "./format.js";
import { gauge } from "./nodes_view.js";
import { address } from "./route.js";
import { Queried, Query } from "./source.js";

export class BestSoFar extends Queried {
  constructor(path, experiment) {
    super();
    this.experiment = experiment;
    this.chart = new Chart({ title: experiment.metric ?? "metric", sync: `best ${path}`, zoomed: () => {},
      named: (at) => this.named(at), opened: (at) => this.open(at) });
    this.query = new Query(`${path}/best`, () => this.render(), { pause_ms: 2000 });
  }

  update(experiment) {
    this.experiment = experiment;
    this.render();
  }

  /** Trials have their own numbers, by which they began: those of their ends are others. */
  named(at) {
    const id = this.query.data?.ids[at];
    return id && h("span", null, h("strong", null, id), `, the ${ordinal(at + 1)} to end`);
  }

  open(at) {
    location.hash = address("experiment", this.experiment.id, "trials", { filter: `id=${this.query.data.ids[at]}` });
  }

  render() {
    const { data, error } = this.query;
    const { trials = {}, metric, mode } = this.experiment;
    if (data?.x?.length && data !== this.drawn) {
      this.drawn = data;
      const order = data.x.map((_, at) => at + 1);
      this.chart.set([
        { name: "best so far", style: "steps", x: order, last: data.best, min: data.best, max: data.best },
        { name: "each trial", one: metric, style: "dots", x: order, last: data.y, min: data.y, max: data.y },
      ], [], { x: "ended", log: false, smoothing: 0 });
    }
    const { ended = 0 } = trials; // With those that failed.
    patch(this.element,
      alert(error),
      trials.total > 0 && h("p", null, gauge(ended / trials.total, `${number(ended)} of ${counted(trials.total, "trial")} ended`)),
      data?.x?.length ? [note(`${metric}, of which the ${mode === "max" ? "largest" : "smallest"} is the best; trials in the order of their ends. A click on a dot opens its trial.`), keep(this.chart.element)]
        : note("No trial has ended yet."));
  }

  close() {
    this.query.close();
    this.chart.close();
  }
}

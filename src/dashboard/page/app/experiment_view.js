/** One experiment: its verdict, then its trials from several sides. */

import { BestSoFar } from "./best_so_far.js";
import { h, keep, patch } from "./element.js";
import { ExperimentCurves } from "./experiment_curves.js";
import { ExperimentTrials } from "./experiment_trials.js";
import { clock, duration, number } from "./format.js";
import { Lineage } from "./lineage.js";
import { ParallelView } from "./parallel_view.js";
import { address } from "./route.js";
import { Query } from "./source.js";
import { facts } from "./table.js";
import { tabs } from "./tabs.js";
import { verdictHeading } from "./verdict.js";

const parts = { "": BestSoFar, trials: ExperimentTrials, parallel: ParallelView, curves: ExperimentCurves, lineage: Lineage };
const names = { "": "Best so far", trials: "Trials", parallel: "Parallel coordinates", curves: "Curves", lineage: "Lineage" };

// Schedulers whose trials continue from others' checkpoints.
const takes_over = /pbt|pb2|population/i;

export class ExperimentView {
  constructor({ id }, state) {
    this.id = id;
    this.path = `/api/experiments/${encodeURIComponent(id)}`;
    this.state = state;
    this.element = h("div", { class: "view" });
    this.number = null;
    this.part = null;
    this.query = new Query(this.path, () => this.render(), { pause_ms: 1500 });
  }

  show({ tab }) {
    this.tab = tab in parts ? tab : "";
    this.part?.close();
    this.part = null;
    this.render();
  }

  update(state) {
    if (state.number !== this.number) {
      this.number = state.number;
      this.query.refresh();
      this.part?.refresh?.();
    }
    this.render();
  }

  render() {
    const state = this.state();
    const summary = state.experiments?.find((of) => of.id === this.id);
    const of = { ...this.query.data, ...summary };
    this.title = of.name ?? this.id;
    if (!this.query.data) {
      patch(this.element, this.query.error ? h("p", { class: "notice bad", role: "alert" }, this.query.error) : h("p", { class: "quiet" }, "Loading …"));
      return;
    }
    // A part is made once it is known what the experiment has.
    this.part ??= new parts[this.tab ?? ""](this.path, of, this.state);
    this.part.update?.(of, state.taken_unix_s);
    const counts = of.trials ?? {};
    patch(this.element,
      h("p", { class: "crumbs" }, h("a", { href: address() }, "Runs"), " / ", h("span", null, of.name ?? this.id)),
      h("h1", { class: "hidden" }, `Experiment ${of.name ?? this.id}`),
      verdictHeading(of.verdict, state.taken_unix_s),
      facts([
        ["Best", of.best ? h("a", { href: address("experiment", this.id, "trials", { filter: `id=${of.best.trial}` }) }, `${of.metric} ${number(of.best.value)}`) : null],
        ["Trials", number(counts.total)],
        ["At work", counts.running ? number(counts.running) : null],
        ["Waiting", counts.waiting ? number(counts.waiting) : null],
        ["Failed", counts.failed ? number(counts.failed) : null],
        ["Scheduler", of.scheduler],
        ["Time", duration(of.time_total_s)],
        ["Started", of.started_unix_s ? clock(of.started_unix_s, state.taken_unix_s) : null],
      ]),
      tabs("experiment", this.id, Object.fromEntries(Object.entries(names).filter(([tab]) => tab !== "lineage" || takes_over.test(of.scheduler))), this.tab),
      this.query.error && h("p", { class: "notice bad", role: "alert" }, this.query.error),
      h("section", { class: "part", "aria-label": names[this.tab] }, keep(this.part.element)));
  }

  close() {
    this.part?.close();
    this.query.close();
  }
}

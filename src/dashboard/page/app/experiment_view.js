/** One experiment: its verdict, then its trials from several sides. */

import { BestSoFar } from "./best_so_far.js";
import { h } from "./element.js";
import { ExperimentCurves } from "./experiment_curves.js";
import { ExperimentTrials } from "./experiment_trials.js";
import { bestWords, clock, duration, number } from "./format.js";
import { Importances } from "./importances.js";
import { Lineage } from "./lineage.js";
import { ParallelView } from "./parallel_view.js";
import { PartedView } from "./parted_view.js";
import { address } from "./route.js";
import { TrialPlaces } from "./trial_places.js";

const parts = { "": BestSoFar, trials: ExperimentTrials, parallel: ParallelView, curves: ExperimentCurves, places: TrialPlaces, importances: Importances, lineage: Lineage };
const names = { "": "Best so far", trials: "Trials", parallel: "Parallel coordinates", curves: "Curves", places: "Time line", importances: "Importances", lineage: "Lineage" };

// Schedulers whose trials continue from others' checkpoints.
const takes_over = /pbt|pb2|population/i;

export class ExperimentView extends PartedView {
  kind = "Experiment";

  constructor({ id }, state) {
    const path = `/api/experiments/${encodeURIComponent(id)}`;
    const made = Object.entries(parts).map(([tab, Part]) => [tab, (of) => new Part(path, of, state)]);
    super({ view: "experiment", id, path, list: "experiments", parts: Object.fromEntries(made), state, pause_ms: 1500 });
  }

  names(of) {
    return Object.fromEntries(Object.entries(names).filter(([tab]) => tab !== "lineage" || takes_over.test(of.scheduler)));
  }

  above() {
    return h("a", { href: address() }, "Runs");
  }

  /** Which trial is the best, by what it was told to do. */
  below(of) {
    if (!of.best) return null;
    return h("p", { class: "best" }, "Best: ", h("a", { href: address("experiment", this.id, "trials", { filter: `id=${of.best.trial}` }) }, bestWords(of)));
  }

  facts(of, now_s) {
    const counts = of.trials ?? {};
    return [
      ["Trials", number(counts.total)],
      ["At work", counts.running ? number(counts.running) : null],
      ["Waiting", counts.waiting ? number(counts.waiting) : null],
      ["Failed", counts.failed ? number(counts.failed) : null],
      ["Scheduler", of.scheduler],
      ["Time", duration(of.time_total_s)],
      ["Started", of.started_unix_s ? clock(of.started_unix_s, now_s) : null],
    ];
  }
}

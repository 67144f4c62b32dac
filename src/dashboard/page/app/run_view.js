/** One run: its verdict first, then its parts. */

import { h, keep, patch } from "./element.js";
import { clock, duration, number } from "./format.js";
import { address } from "./route.js";
import { RunCheckpoints } from "./run_checkpoints.js";
import { RunData } from "./run_data.js";
import { RunLogs } from "./run_logs.js";
import { RunMetrics } from "./run_metrics.js";
import { RunOverview } from "./run_overview.js";
import { RunStacks } from "./run_stacks.js";
import { RunSteps } from "./run_steps.js";
import { Query } from "./source.js";
import { facts } from "./table.js";
import { tabs } from "./tabs.js";
import { verdictHeading } from "./verdict.js";

const parts = { "": RunOverview, metrics: RunMetrics, steps: RunSteps, checkpoints: RunCheckpoints, data: RunData, logs: RunLogs, stacks: RunStacks };
const names = { "": "Overview", metrics: "Metrics", steps: "Steps", checkpoints: "Checkpoints", data: "Data", logs: "Logs", stacks: "Stacks" };
export const ends = ["finished", "failed", "aborted"];

export class RunView {
  constructor({ id }, state) {
    this.id = id;
    this.state = state;
    this.element = h("div", { class: "view" });
    this.part = null;
    this.number = null;
    this.query = new Query(`/api/runs/${encodeURIComponent(id)}`, () => this.render());
  }

  show({ tab }) {
    const name = tab in parts ? tab : "";
    if (this.part && this.tab === name) return;
    this.part?.close();
    this.tab = name;
    this.part = new parts[name](this.id, this.state);
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
    const summary = state.runs?.find((run) => run.id === this.id);
    const run = { ...this.query.data, ...summary };
    this.title = run.name ?? this.id;
    if (!this.part) return;
    if (!summary && !this.query.data) {
      patch(this.element, this.query.error ? h("p", { class: "notice bad", role: "alert" }, this.query.error) : h("p", { class: "quiet" }, "Loading …"));
      return;
    }
    const now_s = state.taken_unix_s;
    this.part.update(run, now_s);
    patch(this.element,
      h("p", { class: "crumbs" }, run.experiment ? h("a", { href: address("experiment", run.experiment, "trials") }, "Experiment") : h("a", { href: address() }, "Runs"), " / ", h("span", null, run.name ?? this.id)),
      h("h1", { class: "hidden" }, `Run ${run.name ?? this.id}`),
      verdictHeading(run.verdict, now_s),
      causes(this.id, run.causes),
      facts([
        ["State", run.state],
        ["Attempt", run.attempt ? number(run.attempt) : null],
        ["Workers", run.workers ? elastic(run) : null],
        ["Reports", run.reports === undefined ? null : number(run.reports)],
        ["Speed", run.view?.loop?.steps_per_s ? `${number(run.view.loop.steps_per_s, 3)} steps/s` : null],
        ["Epoch ends in", run.view?.loop?.epoch_left_s ? duration(run.view.loop.epoch_left_s) : null],
        ["Time", duration(run.time_total_s)],
        ["Started", run.started_unix_s ? clock(run.started_unix_s, now_s) : null],
      ]),
      tabs("run", this.id, names, this.tab),
      this.query.error && h("p", { class: "notice bad", role: "alert" }, this.query.error),
      h("section", { class: "part", "aria-label": names[this.tab] }, keep(this.part.element)));
  }

  close() {
    this.part?.close();
    this.query.close();
  }
}

/** Why the run is as it is, each with the part that shows more. */
function causes(id, all) {
  if (!all?.length) return null;
  return h("ul", { class: "causes", "aria-label": "Why" }, all.map((of) => h("li", null,
    of.words[0].toUpperCase() + of.words.slice(1), " ", h("a", { href: address("run", id, of.part) }, `See ${names[of.part].toLowerCase()}`))));
}

function elastic(run) {
  const { workers_min: least, workers_max: most } = run.view ?? {};
  return least && most && least !== most ? `${run.workers} (${least} to ${most})` : number(run.workers);
}

/** One run: its verdict first, then its parts. */

import { h, quiet } from "./element.js";
import { clock, duration, number } from "./format.js";
import { PartedView } from "./parted_view.js";
import { address } from "./route.js";
import { meanings } from "./meanings.js";
import { RunCheckpoints } from "./run_checkpoints.js";
import { RunData } from "./run_data.js";
import { RunLogs } from "./run_logs.js";
import { RunMetrics } from "./run_metrics.js";
import { ends, RunOverview } from "./run_overview.js";
import { RunStacks } from "./run_stacks.js";
import { RunSteps } from "./run_steps.js";
import { causeWords } from "./verdict.js";

const parts = { "": RunOverview, metrics: RunMetrics, steps: RunSteps, checkpoints: RunCheckpoints, data: RunData, logs: RunLogs, stacks: RunStacks };
const names = { "": "Overview", metrics: "Metrics", steps: "Steps", checkpoints: "Checkpoints", data: "Data", logs: "Logs", stacks: "Stacks" };

export class RunView extends PartedView {
  kind = "Run";

  constructor({ id }, state) {
    const made = Object.entries(parts).map(([tab, Part]) => [tab, () => new Part(id, state)]);
    super({ view: "run", id, path: `/api/runs/${encodeURIComponent(id)}`, list: "runs", parts: Object.fromEntries(made), state });
  }

  names() {
    return names;
  }

  above(run) {
    return run.experiment ? h("a", { href: address("experiment", run.experiment, "trials") }, "Experiment") : h("a", { href: address() }, "Runs");
  }

  /** Why the run is as it is, each with the part that shows more. */
  below({ causes, restart, attempts }, now_s) {
    // Steps and data say it themselves.
    const shown = (causes ?? []).filter((of) => of.part !== this.tab || of.part === "stacks");
    if (restart) shown.push({ words: restart, part: "checkpoints", at_unix_s: attempts?.at(-2)?.end_s });
    if (!shown.length) return null;
    return h("ul", { class: "causes", "aria-label": "Why" }, shown.map((of) => h("li", null,
      of.at_unix_s && quiet(`${clock(of.at_unix_s, now_s)} `), `${causeWords(of.words, of.since_unix_s, now_s)}.`,
      of.part !== this.tab && [" ", h("a", { href: address("run", this.id, of.part) }, `See ${names[of.part].toLowerCase()}`)])));
  }

  facts(run, now_s) {
    return [
      ["State", ends.includes(run.state) ? null : run.state],
      ["Attempt", run.attempt > 1 ? number(run.attempt) : null],
      ["Workers", run.workers ? elastic(run) : null],
      ["Reports", run.reports === undefined ? null : number(run.reports), meanings.reports],
      ["Speed", run.view?.loop?.steps_per_s ? `${number(run.view.loop.steps_per_s, 3)} steps/s` : null],
      ["Epoch ends in", run.view?.loop?.epoch_left_s ? duration(run.view.loop.epoch_left_s) : null],
      ["Time", duration(run.time_total_s)],
      ["Started", run.started_unix_s ? clock(run.started_unix_s, now_s) : null],
    ];
  }
}

function elastic(run) {
  const { workers_min: least, workers_max: most } = run.view ?? {};
  return least && most && least !== most ? `${run.workers} (${least} to ${most})` : number(run.workers);
}

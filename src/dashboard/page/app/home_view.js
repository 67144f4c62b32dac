/** All runs and experiments, what they do, and who waits for nodes. */

import { h, patch } from "./element.js";
import { clock, duration, number, sentence, value } from "./format.js";
import { address } from "./route.js";
import { table } from "./table.js";
import { sign, verdictHeading, verdictLine } from "./verdict.js";

export class HomeView {
  constructor() {
    this.title = "";
    this.element = h("div", { class: "view" });
  }

  show() {}

  update(state) {
    const now_s = state.taken_unix_s;
    const runs = (state.runs ?? []).filter((run) => !run.experiment);
    const experiments = state.experiments ?? [];
    patch(this.element,
      heading(runs, experiments, now_s),
      runs.length > 0 || !experiments.length ? h("section", { "aria-labelledby": "runs" }, h("h2", { id: "runs" }, "Runs"),
        table({ caption: "Runs", columns: runColumns(now_s), rows: runs.toReversed(), key: (run) => run.id, empty: "No run has been started." })) : null,
      experiments.length > 0 && h("section", { "aria-labelledby": "experiments" }, h("h2", { id: "experiments" }, "Experiments"),
        table({ caption: "Experiments", columns: experimentColumns(now_s), rows: experiments.toReversed(), key: (of) => of.id })),
      state.waiting?.length > 0 && h("section", { "aria-labelledby": "waiting" }, h("h2", { id: "waiting" }, "Waiting for nodes"),
        table({ caption: "Waiting for nodes", columns: waitingColumns, rows: state.waiting })));
  }

  close() {}
}

/** One run speaks for itself; of several, how many are in which state. */
function heading(runs, experiments, now_s) {
  const all = [...runs, ...experiments];
  if (all.length === 1) return verdictHeading(all[0].verdict, now_s);
  const count = (level) => all.filter((of) => of.verdict?.level === level).length;
  const words = [["good", "at work"], ["wait", "waiting"], ["bad", "in trouble"], ["done", "ended"]]
    .filter(([level]) => count(level)).map(([level, said]) => h("span", { class: "count" }, sign(level), ` ${count(level)} ${said}`));
  if (!words.length) return null;
  return h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", { class: "words", role: "status", "aria-live": "polite" }, words));
}

function runColumns(now_s) {
  return [
    { title: "Run", cell: (run) => h("a", { href: address("run", run.id) }, run.name || run.id) },
    { title: "What it does", wide: true, cell: (run) => [verdictLine(run.verdict) ?? run.state, run.cause && h("span", { class: "cause" }, sentence(run.cause))] },
    { title: "Reports", number: true, cell: (run) => number(run.reports) },
    { title: "Last metrics", cell: (run) => metrics(run.last) },
    { title: "Workers", number: true, cell: (run) => number(run.workers || null) },
    { title: "Time", number: true, cell: (run) => duration(run.time_total_s) },
    { title: "Started", number: true, cell: (run) => clock(run.started_unix_s, now_s) },
  ];
}

/** The first few metrics of the last report. */
function metrics(last) {
  const shown = Object.entries(last ?? {}).filter(([, of]) => typeof of === "number").slice(0, 2);
  return h("span", { class: "metrics", title: shown.map(([name, of]) => `${name} ${value(of)}`).join(", ") }, shown.map(([name, of]) => h("span", null, h("span", { class: "quiet" }, `${name} `), value(of))));
}

function experimentColumns(now_s) {
  return [
    { title: "Experiment", cell: (of) => h("a", { href: address("experiment", of.id) }, of.name || of.id) },
    { title: "What it does", wide: true, cell: (of) => verdictLine(of.verdict) ?? of.state },
    { title: "Trials", number: true, cell: (of) => number(of.trials?.total) },
    { title: "Best", cell: (of) => (of.best ? h("span", { class: "metrics" }, h("span", null, h("span", { class: "quiet" }, `${of.metric} `), number(of.best.value))) : null) },
    { title: "Time", number: true, cell: (of) => duration(of.time_total_s) },
    { title: "Started", number: true, cell: (of) => clock(of.started_unix_s, now_s) },
  ];
}

const waitingColumns = [
  { title: "Wanted", wide: true, cell: (waiting) => waiting.wanted },
  { title: "Waits for", cell: (waiting) => (waiting.for_nodes ? "nodes that join" : "others to give back") },
];

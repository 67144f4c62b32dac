/** All runs and experiments, what they do, and who waits for nodes. */

import { h, patch, quiet, section } from "./element.js";
import { bestWords, clock, duration, number, sentence, value } from "./format.js";
import { meanings } from "./meanings.js";
import { address, choose, parse } from "./route.js";
import { digits, table } from "./table.js";
import { causeWords, sign, verdictHeading, verdictLine } from "./verdict.js";

/** What a list can be narrowed to: by its name in the address, its sign and its words. */
const kinds = [
  ["work", "good", "at work"],
  ["waiting", "wait", "waiting"],
  ["failed", "bad", "failed or stalled"],
  ["slow", "wait", "slow"],
  ["restarted", "wait", "restarted"],
  ["lost", "wait", "with failed trials"],
  ["aborted", "done", "aborted"],
  ["fine", "done", "fine"],
];
const searched_from = 12; // Fewer are seen at a glance.

export class HomeView {
  constructor() {
    this.title = "";
    this.element = h("div", { class: "view home" });
    this.show({ choices: parse(location.hash).choices });
  }

  show({ choices }) {
    this.kind = choices.show ?? "";
    this.find = choices.find ?? "";
  }

  update(state) {
    this.state = state;
    const now_s = state.taken_unix_s;
    const runs = newestFirst((state.runs ?? []).filter((run) => !run.experiment));
    const experiments = newestFirst(state.experiments ?? []);
    const all = [...runs, ...experiments];
    const wanted = (of) => (!this.kind || kindOf(of) === this.kind) && found(of, this.find.toLowerCase());
    const empty = runs.length ? "No run is like that." : "No run has been started.";
    const shown = experiments.filter(wanted);
    patch(this.element,
      h("h1", { class: "hidden" }, "Runs and experiments"),
      all.length === 1 ? verdictHeading(all[0].verdict, now_s) : this.heading(all),
      all.length > searched_from && this.search(),
      runs.length > 0 || !experiments.length ? section("runs", "Runs",
        table({ caption: "Runs", columns: runColumns(now_s), rows: runs.filter(wanted), key: (run) => run.id, mark, empty })) : null,
      shown.length > 0 && section("experiments", "Experiments",
        table({ caption: "Experiments", columns: experimentColumns(now_s), rows: shown, key: (of) => of.id, mark })),
      state.waiting?.length > 0 && section("waiting", "Waiting for nodes",
        table({ caption: "Waiting for nodes", columns: waitingColumns, rows: state.waiting })));
  }

  /** How many are in which state; each count is a link that shows those alone. */
  heading(all) {
    const counted = kinds.map(([kind, level, words]) => [kind, level, words, all.filter((of) => kindOf(of) === kind).length]).filter(([kind, , , count]) => count || kind === this.kind);
    if (!counted.length) return null;
    const link = (kind, ...words) => h("a", { class: "count", href: address("", "", "", { ...(kind && { show: kind }), ...(this.find && { find: this.find }) }), "aria-current": kind === this.kind ? "true" : null }, words);
    return h("nav", { class: "verdict", "aria-label": "Show" }, h("p", { class: "words" },
      counted.map(([kind, level, words, count]) => link(kind, sign(level, null), ` ${count} ${words}`)),
      this.kind && link("", `All ${all.length}`)));
  }

  search() {
    return h("p", { class: "controls" }, h("label", null, "Find ", h("input", { type: "search", size: "28", placeholder: "a name or words", value: this.find, oninput: (event) => {
      this.find = event.target.value;
      choose({ find: this.find });
      this.update(this.state);
    } })));
  }
}

function newestFirst(all) {
  return all.toReversed().sort((a, b) => (b.started_unix_s ?? 0) - (a.started_unix_s ?? 0));
}

/** What has ended with a cause could have been faster. */
function kindOf(of) {
  const now = { good: "work", wait: "waiting", bad: "failed" }[of.verdict?.level];
  if (now) return now;
  if (of.state !== "finished") return "aborted";
  if (of.cause) return "slow";
  if (of.attempt > 1) return "restarted";
  return of.trials?.failed ? "lost" : "fine";
}

function found(of, words) {
  return !words || `${of.name} ${of.verdict?.words} ${of.cause ?? ""} ${of.restart ?? ""}`.toLowerCase().includes(words);
}

function mark(of) {
  return { failed: "failed", slow: "slow", restarted: "restarted" }[kindOf(of)] ?? null;
}

function runColumns(now_s) {
  return [
    { title: "Run", cell: (run) => h("a", { href: address("run", run.id) }, run.name || run.id) },
    { title: "What it does, or how it ended", wide: true, cell: (run) => [verdictLine(run.verdict) ?? run.state, why(run, "slow", run.cause && causeWords(run.cause, run.cause_since_unix_s, now_s)), why(run, "restarted", run.restart && sentence(run.restart))] },
    { title: "Reports", means: meanings.reports, number: true, cell: (run) => number(run.reports) },
    { title: "Last metrics", cell: (run) => metrics(run.last) },
    { title: "Workers", means: meanings.workers, number: true, cell: (run) => number(run.workers || null) },
    digits("Time", (run) => duration(run.time_total_s)),
    digits("Started", (run) => clock(run.started_unix_s, now_s)),
  ];
}

function why(run, kind, words) {
  return words && h("span", { class: "cause" }, kindOf(run) === kind && [sign("wait", kind), " "], words);
}

/** The first few metrics of the last report. */
function metrics(last) {
  const shown = Object.entries(last ?? {}).filter(([, of]) => typeof of === "number").slice(0, 2);
  return h("span", { class: "metrics", title: shown.map(([name, of]) => `${name} ${value(of)}`).join(", ") }, shown.map(([name, of]) => h("span", null, quiet(`${name} `), value(of))));
}

function experimentColumns(now_s) {
  return [
    { title: "Experiment", cell: (of) => h("a", { href: address("experiment", of.id) }, of.name || of.id) },
    { title: "What it does, or how it ended", wide: true, cell: (of) => [verdictLine(of.verdict) ?? of.state, of.best && h("span", { class: "cause" }, `Best: ${bestWords(of)}`)] },
    digits("Trials", (of) => number(of.trials?.total)),
    digits("Time", (of) => duration(of.time_total_s)),
    digits("Started", (of) => clock(of.started_unix_s, now_s)),
  ];
}

const waitingColumns = [
  { title: "Wanted", wide: true, cell: (waiting) => waiting.wanted },
  { title: "Waits for", cell: (waiting) => (waiting.for_nodes ? "nodes that join" : "others to give back") },
];

/** What a run is doing now, or why it ended: failure, attempts, ranks. */

import { h, note, patch, quiet, section } from "./element.js";
import { clock, duration, number, percent } from "./format.js";
import { address } from "./route.js";
import { digits, table } from "./table.js";
import { reason, timeLine, whole } from "./time_line.js";

const warnings_max = 20;
export const ends = ["finished", "failed", "aborted"];

export class RunOverview {
  constructor(id) {
    this.id = id;
    this.element = h("div", null);
  }

  update(run, now_s) {
    const over = ends.includes(run.state) ? run.state : null;
    const { view } = run;
    patch(this.element,
      failure(this.id, run.failure ?? view?.failure, run.last_error),
      view?.preemption && h("p", { class: "notice wait" }, `Nodes are being taken away: ${view.preemption.info?.reason ?? "with notice"}.`),
      attempts(run, now_s, over),
      view?.ranks?.length > 0 && ranks(view, over),
      pending(view),
      warnings(run.warnings, now_s, run.attempts?.length > 1),
      run.config && h("details", { class: "config" }, h("summary", null, "Configuration"), h("pre", { tabindex: "0", "aria-label": "Configuration" }, JSON.stringify(run.config, null, 2))),
      run.path && h("p", { class: "quiet path" }, "Folder: ", h("code", null, run.path)));
  }
}

/** What there is to say of one attempt stands above. */
function attempts({ attempts: all }, now_s, over) {
  if (!all || (all.length === 1 && !all[0].resumed_from)) return null;
  return section("attempts", "Attempts", timeLine(all, now_s, over));
}

/** The user's own error first, then which ranks. The verdict above has the message's first line. */
function failure(id, of, last_error) {
  if (!of) return null;
  const [first, ...rest] = of.message.split("\n");
  const details = (of.ranks ?? []).filter((rank) => rank.exception?.traceback || rank.last_lines);
  return h("section", { class: "failure", "aria-labelledby": "failure" },
    h("h2", { id: "failure" }, "Failure"),
    details.slice(0, 8).map((rank, at) => h("details", { open: at === 0, "data-key": `rank${rank.rank}` },
      h("summary", null, `Rank ${rank.rank}`, rank.hostname && ` on ${rank.hostname}`, !first.startsWith(rank.text) && `: ${rank.text}`),
      h("pre", { class: "tail", tabindex: "0", "aria-label": `What rank ${rank.rank} printed last` }, traceback(rank) || rank.last_lines))),
    details.length > 8 && note(`And ${details.length - 8} more ranks.`),
    !details.length && last_error && !first.startsWith(last_error.text) && h("pre", { tabindex: "0", "aria-label": "The last error" }, last_error.text),
    whole(rest.join("\n").replace(details[0]?.exception?.traceback ?? "", ""), !details.length), // It stands above.
    h("p", null, h("a", { href: address("run", id, "logs", of.ranks?.length ? { rank: of.ranks[0].rank } : {}) }, "Read the logs")));
}

/** As Python prints it: what was raised is the last line. */
function traceback({ exception, text }) {
  if (!exception?.traceback) return "";
  const frames = exception.traceback.trimEnd();
  return frames.endsWith(text.trimEnd()) ? frames : `${frames}\n${text}`;
}

function ranks(view, over) {
  const awaited = new Set(over ? [] : view.wait?.awaited ?? []);
  const slowest = (of) => awaited.has(of.rank);
  return section("ranks", "Ranks",
    table({
      caption: "Ranks", rows: [...view.ranks].sort((a, b) => slowest(b) - slowest(a) || a.rank - b.rank), key: (of) => of.rank,
      columns: [
        digits("Rank", (of) => of.rank),
        { title: "Node", cell: (of) => of.hostname || of.node_id },
        digits("Process", (of) => of.pid ?? null),
        { title: "Phase", cell: (of) => [of.gone ? "ended" : of.phase, slowest(of) && h("span", { class: "tag bad" }, "awaited")] },
        digits("For", (of) => (of.gone ? null : duration(of.phase_for_s))),
        { title: "Waits for", wide: true, cell: (of) => of.waits_for },
        digits("Reports", (of) => number(of.reports)),
        digits("Step", (of) => duration(of.steps?.median_s ?? of.report_s)),
        digits("Waiting", (of) => percent(of.steps?.waiting_share)),
      ],
    }));
}

/** What Headway has warned of; the newest first. Of one attempt nobody asks which. */
function warnings(all, now_s, several) {
  if (!all?.length) return null;
  const words = (text) => (several ? text : text.replace(/^(.*) \(attempt 1\)$/m, "$1"));
  return section("warnings", "Warnings", h("ul", null,
    all.slice(-warnings_max).reverse().map((of) => h("li", null, quiet(`${clock(of.at_unix_s, now_s)} `), reason(words(of.text))))));
}

function pending(view) {
  const validations = view?.validations ?? [];
  const stored = view?.pending?.filter((of) => of.checkpoint) ?? [];
  if (!validations.length && !stored.length) return null;
  return section("pending", "Under way", h("ul", null,
    stored.map((of) => h("li", null, `${of.checkpoint}: ${of.stage}`, of.uploading?.length ? `, ranks ${of.uploading.join(", ")} store files` : "")),
    validations.map((of) => h("li", null, `Validation of ${of.checkpoint}: ${of.stage}`, of.running_for_s ? ` for ${duration(of.running_for_s)}` : ""))));
}


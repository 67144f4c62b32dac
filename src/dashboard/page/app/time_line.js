/** The attempts of a run on a line of time, each with the reason of its end. */

import { h, note, quiet } from "./element.js";
import { clock, counted, duration, sentence } from "./format.js";

export function timeLine(attempts, now_s, over) {
  if (!attempts?.length) return note("No attempt has begun.");
  const known = attempts.filter((attempt) => attempt.start_s !== null && attempt.start_s !== undefined);
  const from = Math.min(...known.map((attempt) => attempt.start_s));
  const end = (attempt) => attempt.end_s ?? (over ? attempt.start_s : now_s);
  const to = Math.max(...known.map(end), from + 0.001);
  const share = (seconds) => `${Math.max(0, Math.min(100, (seconds / (to - from)) * 100))}%`;
  const bar = (attempt) => h("span", {
    class: `bar ${level(attempt, attempts, over)}`, title: words(attempt, over).split("\n")[0],
    style: { left: share(attempt.start_s - from), width: share(end(attempt) - attempt.start_s) },
  }, h("span", null, String(attempt.number)));
  return h("div", { class: "time-line" },
    known.length > 1 && h("div", { class: "bars", "aria-hidden": "true" }, known.map(bar)),
    known.length > 1 && h("p", { class: "ends", "aria-hidden": "true" }, h("span", null, clock(from, now_s)), h("span", null, clock(to, now_s))),
    h("ol", { class: "attempts" }, attempts.map((attempt) => h("li", { value: String(attempt.number) },
      h("strong", null, `Attempt ${attempt.number}`), " ",
      quiet([
        attempt.start_s ? clock(attempt.start_s, now_s) + (attempt.end_s ? ` to ${clock(attempt.end_s, now_s)}` : "") : null,
        attempt.start_s && (attempt.end_s || !over) ? duration(end(attempt) - attempt.start_s) : null,
        attempt.workers ? counted(attempt.workers, "worker") : null,
        attempt.resumed_from ? `from ${attempt.resumed_from}` : null,
      ].filter(Boolean).join(" · ")), h("br"),
      reason(words(attempt, over))))));
}

/** The first line of a reason; the rest on demand. */
export function reason(text) {
  const [first, ...rest] = text.split("\n");
  return [h("span", { class: "reason" }, sentence(first)), whole(rest.join("\n"))];
}

/** More of a message, on demand. */
export function whole(text, open = false) {
  const title = "The whole message";
  return text ? h("details", { open }, h("summary", { class: "quiet" }, title), h("pre", { tabindex: "0", "aria-label": title }, text)) : null;
}

function words(attempt, over) {
  return attempt.end_words || (attempt.end_s || over ? "ended" : "under way");
}

/** The last attempt of a run that is not over is under way; those before it ended too early. */
function level(attempt, attempts, over) {
  const last = attempt === attempts[attempts.length - 1];
  if (!last) return "bad";
  return over === "failed" || over === "aborted" ? "bad" : over ? "done" : "good";
}

/** What is going on, in the driver's words, with a sign that needs no colour. */

import { h, note } from "./element.js";
import { clock, duration, sentence } from "./format.js";

const signs = { good: "●", wait: "◆", bad: "▲", done: "✓" };
const meanings = { good: "at work", wait: "waits", bad: "needs you", done: "has ended" };

/** `means`: what a screen reader says for it; null where words beside it say the same. */
export function sign(level, means = meanings[level] ?? level) {
  const said = means === null ? { "aria-hidden": "true" } : { role: "img", "aria-label": means };
  return h("span", { class: `sign ${level in signs ? level : "wait"}`, ...said }, signs[level] ?? "◆");
}

/** Why a run was slow, with when it became so: clocks are those of the reader. */
export function causeWords(words, since_s, now_s) {
  return sentence(since_s ? words.replace(/^slow: /, `slow since ${clock(since_s, now_s)}: `) : words);
}

/** One line of a list. */
export function verdictLine(verdict) {
  if (!verdict) return null;
  return h("span", { class: "verdict-line" }, sign(verdict.level), " ", sentence(verdict.words));
}

/** The heading of a page. How long it has been so is outside of what a screen reader announces. */
export function verdictHeading(verdict, now_s) {
  if (!verdict) return null;
  const since_s = verdict.since_s && verdict.level !== "done" ? now_s - verdict.since_s : 0;
  return h("section", { class: `verdict ${verdict.level}`, "aria-label": "Verdict" },
    h("p", { class: "words", role: "status", "aria-live": "polite" }, sign(verdict.level), " ", sentence(verdict.words)),
    since_s >= 1 ? note(`since ${clock(verdict.since_s, now_s)}, for ${duration(since_s)}`) : null);
}

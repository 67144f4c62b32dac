/** Rows of trials by their place in the sorted list, asked for in pages; old pages are forgotten. */

import { ask } from "./source.js";

const page_rows = 100;
const pages_max = 40;

export class TrialRows {
  constructor(path, changed) {
    Object.assign(this, { path: `${path}/trials`, changed, total: null, error: null });
    this.order = { sort: "id", descending: false, filter: "" };
    this.pages = new Map();
    this.asked = new Map();
  }

  /** The row at `place`, or undefined: it is asked for with `want`. */
  at(place) {
    return this.pages.get(Math.floor(place / page_rows))?.[place % page_rows];
  }

  /** What is seen now. Pages that are asked for and not seen any more are given up. */
  want(from, to) {
    const [first, last] = [Math.floor(from / page_rows), Math.floor(Math.max(from, to - 1) / page_rows)];
    for (const [page, abort] of this.asked) {
      if (page < first - 1 || page > last + 1) {
        abort.abort();
        this.asked.delete(page);
      }
    }
    for (let page = first; page <= last; page += 1) {
      if (!this.pages.has(page) && !this.asked.has(page)) this.load(page);
    }
    this.seen = [first, last];
  }

  async load(page) {
    const abort = new AbortController();
    this.asked.set(page, abort);
    try {
      const { sort, descending, filter } = this.order;
      const part = await ask(this.path, { sort, descending: descending ? "true" : "", filter, from: page * page_rows, count: page_rows }, abort.signal);
      if (abort.signal.aborted) return;
      this.pages.delete(page);
      this.pages.set(page, part.rows);
      this.total = part.total;
      this.error = null;
      if (this.pages.size > pages_max) this.pages.delete(this.pages.keys().next().value);
    } catch (error) {
      if (abort.signal.aborted) return;
      this.error = error.message;
    }
    this.asked.delete(page);
    this.changed();
  }

  /** Another order or filter: everything anew. */
  set(order) {
    this.order = { ...this.order, ...order };
    for (const abort of this.asked.values()) abort.abort();
    this.asked.clear();
    this.pages.clear();
    this.error = null;
    this.load(0);
  }

  /** The same rows again: what is seen first, others when they are wanted. */
  refresh() {
    const [first, last] = this.seen ?? [0, 0];
    for (const page of [...this.pages.keys()]) if (page < first || page > last) this.pages.delete(page);
    for (let page = first; page <= last; page += 1) if (!this.asked.has(page)) this.load(page);
  }

  close() {
    for (const abort of this.asked.values()) abort.abort();
  }
}

/** Where the page's data comes from: JSON routes, and one stream of the driver's state. */

import { h } from "./element.js";

/** Asks a route. Raises an Error with the server's own words. */
export async function ask(path, parameters = {}, signal = undefined) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== null && value !== undefined && value !== "") query.set(name, value);
  }
  const text = query.toString();
  let answer;
  try {
    answer = await fetch(text ? `${path}?${text}` : path, { signal, headers: { Accept: "application/json" } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The driver does not answer.");
  }
  if (answer.status === 401 || answer.status === 403) {
    throw new Error("The driver does not know this page any more. Open the link that it printed last.");
  }
  const body = await answer.json().catch(() => null);
  if (!answer.ok || body === null) throw new Error(body?.error ?? `The driver answered ${path} with status ${answer.status}.`);
  return body;
}

/** The driver's state, kept current by server-sent events. `changed` is called after each change. */
export class Source {
  constructor(changed) {
    this.changed = changed;
    this.state = null;
    this.error = null;
    this.lost_unix_s = null; // Since when the driver does not answer.
    this.retry_ms = 0;
  }

  async start() {
    try {
      this.state = await ask("/api/state");
      this.error = null;
      this.lost_unix_s = null;
    } catch (error) {
      this.error = error.message;
      this.lost_unix_s ??= Date.now() / 1000;
    }
    this.changed();
    this.listen();
  }

  listen() {
    const events = new EventSource("/api/events");
    events.addEventListener("open", () => this.answers());
    for (const type of ["state", "change"]) {
      events.addEventListener(type, (event) => {
        const news = JSON.parse(event.data);
        this.state = news.changed ? merged(this.state, news) : news;
        this.answers();
      });
    }
    // The driver has ended, or has as many pages as it serves: then this one asks from time to time.
    events.addEventListener("error", () => {
      events.close();
      setTimeout(() => this.start(), this.retry_ms);
      this.retry_ms = Math.min(this.retry_ms * 2 + 250, 5000);
    });
  }

  answers() {
    this.lost_unix_s = null;
    this.error = null;
    this.retry_ms = 0;
    this.changed();
  }
}

/** A state with what has changed since: of lists of runs and experiments those alone that differ. */
function merged(state, { changed, gone = {}, ...head }) {
  const next = { ...state, ...head, ...changed };
  for (const list of ["runs", "experiments"]) {
    const parts = new Map((state?.[list] ?? []).map((of) => [of.id, of]));
    for (const of of changed[list] ?? []) parts.set(of.id, of);
    for (const id of gone[list] ?? []) parts.delete(id);
    next[list] = [...parts.values()];
  }
  return next;
}

/**
 * One route's answer, asked again when the state changes, with a pause between two requests. The
 * last good answer stays while the driver does not answer.
 */
export class Query {
  constructor(path, changed, { parameters = {}, pause_ms = 1000 } = {}) {
    Object.assign(this, { path, changed, parameters, pause_ms, data: null, error: null });
    this.abort = new AbortController();
    this.asking = false;
    this.again = false;
    this.refresh();
  }

  async refresh() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.again = false;
    const { signal } = this.abort;
    try {
      this.data = await ask(this.path, this.parameters, signal);
      this.error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error.message;
    }
    if (signal.aborted) return;
    this.changed();
    this.timer = setTimeout(() => {
      this.asking = false;
      if (this.again) this.refresh();
    }, this.pause_ms);
  }

  close() {
    this.abort.abort();
    clearTimeout(this.timer);
  }
}

/** A part that shows what its query has. */
export class Queried {
  element = h("div", null);

  refresh() {
    this.query.refresh();
  }

  close() {
    this.query.close();
    this.canvas?.close();
  }
}

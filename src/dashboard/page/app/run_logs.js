/** The output of one rank: its end, followed while it grows; earlier parts and a search on demand. */

import { h, patch } from "./element.js";
import { bytes } from "./format.js";
import { choose, parse } from "./route.js";
import { ask } from "./source.js";

const kept_characters = 1_000_000;
const pause_ms = 700;
// Colours and other orders to a terminal.
// eslint-disable-next-line no-control-regex
const terminal_codes = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;

export class RunLogs {
  constructor(id) {
    this.path = `/api/runs/${encodeURIComponent(id)}/logs`;
    const { choices } = parse(location.hash);
    this.rank = choices.rank ?? "0";
    this.name = choices.file ?? "";
    this.find = "";
    this.follow = true;
    Object.assign(this, { text: "", from: null, to: null, end: null, words: "", run: {}, last_error: null });
    this.output = h("pre", { class: "log", tabindex: "0", "aria-label": "Output of the rank" });
    this.output.addEventListener("scroll", () => this.scrolled());
    this.controls = h("form", { class: "controls", onsubmit: (event) => {
      event.preventDefault();
      this.search("before");
    } });
    this.pinned = h("div", null);
    this.element = h("div", { class: "logs" }, this.controls, this.pinned, this.output);
    this.abort = new AbortController();
    this.load({});
  }

  update(run) {
    this.run = run;
    this.render();
  }

  refresh() {
    if (!this.follow || this.to === null || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.load({ after: this.to });
    }, pause_ms);
  }

  /** One part of the file: {} its end, {after} what follows, {before} what comes before. */
  async load(where) {
    const { signal } = this.abort;
    try {
      const part = await ask(this.path, { rank: this.rank, name: this.name, limit: 65536, ...where }, signal);
      if (signal.aborted) return;
      this.words = "";
      if (where.find !== undefined) this.show(part, where);
      else if (where.after !== undefined && part.from === this.to) this.append(part);
      else if (where.before !== undefined && part.to === this.from) this.prepend(part);
      else this.show(part, where);
    } catch (error) {
      if (signal.aborted) return;
      this.words = error.message;
    }
    this.render();
  }

  append(part) {
    const text = this.text + clean(part.text);
    // A page that follows for days keeps the last of it; what is before comes by choosing the rank again.
    if (text.length > kept_characters) this.from = null;
    this.text = text.slice(-kept_characters);
    Object.assign(this, { to: part.to, end: part.end });
    if (part.text) this.paint();
    if (this.follow) this.output.scrollTop = this.output.scrollHeight;
    if (part.text && part.to < part.end) this.refresh();
  }

  prepend(part) {
    const height = this.output.scrollHeight;
    this.text = clean(part.text) + this.text;
    Object.assign(this, { from: part.from, end: part.end });
    this.paint();
    this.output.scrollTop += this.output.scrollHeight - height;
  }

  show(part, where) {
    if (where.find !== undefined && (part.found === null || !part.text)) {
      this.words = `“${where.find}” is not in the ${where.after === undefined ? "earlier" : "later"} output.`;
      return;
    }
    Object.assign(this, { text: clean(part.text), from: part.from, to: part.to, end: part.end, found: part.found ?? null, behind: (part.found ?? 0) + lineBytes(part.text) });
    this.paint();
    this.output.scrollTop = where.after === undefined ? this.output.scrollHeight : 0;
  }

  /** Text, with what is searched for marked. */
  paint() {
    const wanted = this.find.toLowerCase();
    if (!wanted) {
      this.output.textContent = this.text;
      return;
    }
    const lower = this.text.toLowerCase();
    const pieces = [];
    let at = 0;
    for (let found = lower.indexOf(wanted); found >= 0 && pieces.length < 4000; found = lower.indexOf(wanted, at)) {
      pieces.push(this.text.slice(at, found), h("mark", null, this.text.slice(found, found + wanted.length)));
      at = found + wanted.length;
    }
    this.output.replaceChildren(...pieces, this.text.slice(at));
  }

  search(direction) {
    this.follow = false;
    if (!this.find) {
      this.paint();
      return;
    }
    const known = this.found !== null && this.found !== undefined;
    if (direction === "before") this.load({ find: this.find, before: known ? this.found : this.end ?? 0 });
    else this.load({ find: this.find, after: known ? this.behind : this.from ?? 0 });
  }

  scrolled() {
    const below = this.output.scrollHeight - this.output.scrollTop - this.output.clientHeight;
    const follow = below < 24 && this.to === this.end;
    if (follow !== this.follow && !this.find) {
      this.follow = follow;
      this.render();
    }
  }

  choose(changes) {
    Object.assign(this, changes, { text: "", from: null, to: null, end: null, found: null, follow: true });
    choose({ rank: this.rank, file: this.name });
    this.abort.abort();
    this.abort = new AbortController();
    this.output.replaceChildren();
    this.load({});
  }

  render() {
    const logs = this.run.logs ?? [];
    const ranks = [...new Set(logs.map((log) => String(log.rank)).concat(this.rank))].sort((a, b) => a - b);
    const names = logs.filter((log) => String(log.rank) === this.rank).map((log) => log.name);
    const option = (of, now) => h("option", { value: of, selected: of === now }, of);
    const { last_error } = this.run;
    patch(this.pinned,
      last_error && h("details", { class: "pinned" }, h("summary", null, `The last error, of rank ${last_error.rank}`), h("pre", { tabindex: "0", "aria-label": "The last error" }, clean(last_error.text))),
      this.words && h("p", { class: "notice wait", role: "status" }, this.words));
    patch(this.controls,
      h("label", null, "Rank ", h("select", { onchange: (event) => this.choose({ rank: event.target.value, name: "" }) }, ranks.map((of) => option(of, this.rank)))),
      names.length > 1 && h("label", null, "File ", h("select", { onchange: (event) => this.choose({ name: event.target.value }) }, names.map((of) => option(of, this.name)))),
      h("label", null, "Find ", h("input", { type: "search", size: "16", placeholder: "text", oninput: (event) => {
        this.find = event.target.value;
        this.found = null;
        this.paint();
      } })),
      h("button", { type: "submit" }, "Previous"),
      h("button", { type: "button", onclick: () => this.search("after") }, "Next"),
      h("button", { type: "button", disabled: !this.from, onclick: () => this.load({ before: this.from }) }, "Earlier output"),
      h("label", null, h("input", { type: "checkbox", checked: this.follow, onchange: (event) => {
        this.follow = event.target.checked;
        if (this.follow) this.choose({});
      } }), " Follow"),
      this.end !== null && h("span", { class: "quiet hint" }, bytes(this.end)));
    const follow = this.controls.querySelector("input[type=checkbox]");
    if (follow) follow.checked = this.follow;
  }

  close() {
    this.abort.abort();
    clearTimeout(this.timer);
  }
}

/** How many bytes the first line has, with its end. */
function lineBytes(text) {
  return new TextEncoder().encode(text.slice(0, text.indexOf("\n") + 1)).length;
}

function clean(text) {
  return text.replace(terminal_codes, "").replace(/\r+\n/g, "\n").replace(/^.*\r(?=[^\n])/gm, "");
}

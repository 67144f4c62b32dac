/** A table of any number of trials: only the rows that are seen exist. */

import { h, patch } from "./element.js";
import { counted, duration, number, value } from "./format.js";
import { address } from "./route.js";
import { TrialRows } from "./trial_rows.js";
import { sign } from "./verdict.js";

const row_px = 32;
const beyond = 8; // Rows above and below what is seen.

export const levels = { running: "good", starting: "wait", waiting: "wait", paused: "wait", terminated: "done", errored: "bad" };

export class TrialsTable {
  /** `chosen`: a Map of the rows that are compared, by id; `choose` is called after a change of it. */
  constructor(path, experiment, { chosen, choose }) {
    Object.assign(this, { chosen, choose });
    this.rows = new TrialRows(path, () => this.render());
    this.columns = columns(experiment);
    this.head = h("thead");
    this.body = h("tbody");
    this.table = h("table", { class: "trials" }, h("caption", { class: "hidden" }, "Trials"), this.head, this.body);
    this.scroller = h("div", { class: "scrolls rows", tabindex: "0", role: "group", "aria-label": "Trials" }, this.table);
    this.status = h("p", { class: "quiet", role: "status" });
    this.element = h("div", null, this.status, this.scroller);
    this.pending = false;
    this.scroller.addEventListener("scroll", () => this.later());
    this.observer = new ResizeObserver(() => this.later());
    this.observer.observe(this.scroller);
  }

  set(order) {
    this.scroller.scrollTop = 0;
    this.rows.set(order);
    this.render();
  }

  refresh() {
    this.rows.refresh();
  }

  later() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.render();
    });
  }

  render() {
    const { total, error } = this.rows;
    patch(this.status, error ?? (total === null ? "Loading …" : `${counted(total, "trial")}${this.rows.order.filter ? ` that ${total === 1 ? "matches" : "match"}` : ""}`));
    this.status.classList.toggle("bad", Boolean(error));
    this.renderHead();
    const count = total ?? 0;
    const seen = Math.ceil((this.scroller.clientHeight || 400) / row_px);
    const from = Math.max(0, Math.min(Math.floor(this.scroller.scrollTop / row_px), count - seen) - beyond);
    const to = Math.min(count, from + seen + 2 * beyond);
    this.rows.want(from, Math.max(to, from + 1));
    this.table.setAttribute("aria-rowcount", String(count + 1));
    const rows = [];
    for (let place = from; place < to; place += 1) rows.push(this.row(place));
    patch(this.body, gap(from), rows, gap(count - to));
  }

  row(place) {
    const row = this.rows.at(place);
    const cells = row
      ? this.columns.map((column, at) => h(at === 1 ? "th" : "td", { class: column.number ? "number" : null, scope: at === 1 ? "row" : null, title: column.title_of?.(row) ?? null }, column.cell(row, this)))
      : [h("td", { colspan: String(this.columns.length), class: "quiet" }, "…")];
    return h("tr", { class: row && this.chosen.has(row.id) ? "chosen" : null, "aria-rowindex": String(place + 2), "data-key": row ? "row" : "none" }, cells);
  }

  renderHead() {
    const { sort, descending } = this.rows.order;
    patch(this.head, h("tr", { "aria-rowindex": "1" }, this.columns.map((column) => {
      const sorted = column.sort && column.sort === sort;
      return h("th", { scope: "col", class: column.number ? "number" : null, "aria-sort": sorted ? (descending ? "descending" : "ascending") : null },
        column.sort ? h("button", { type: "button", class: "plain", onclick: () => this.set({ sort: column.sort, descending: sorted ? !descending : Boolean(column.high_first) }) },
          column.title, h("span", { "aria-hidden": "true" }, sorted ? (descending ? " ↓" : " ↑") : "")) : column.title);
    })));
  }

  close() {
    this.rows.close();
    this.observer.disconnect();
  }
}

function gap(rows) {
  return h("tr", { class: "gap", "aria-hidden": "true", style: { height: `${Math.max(0, rows) * row_px}px` } });
}

/** Folders of trials may be long; then a trial is called by its id. */
export function trialName({ id, name }) {
  return name && name.length <= 24 ? name : id;
}

function columns({ parameters = [], metrics = [], metric, mode }) {
  const shown = [metric, ...metrics.filter((name) => name !== metric && name !== "training_iteration")].filter(Boolean).slice(0, 6);
  return [
    { title: h("span", { class: "hidden" }, "Compare"), cell: (row, table) => box(row, table) },
    { title: "Trial", sort: "id", title_of: (row) => row.name, cell: (row) => (row.run ? h("a", { href: address("run", row.run) }, trialName(row)) : trialName(row)) },
    { title: "State", sort: "state", title_of: (row) => row.why_ended, cell: (row) => [sign(levels[row.state] ?? "wait"), " ", row.state] },
    ...shown.map((name) => ({ title: name, sort: `last.${name}`, number: true, high_first: name === metric && mode === "max", cell: (row) => number(row.last?.[name]) })),
    { title: "Iterations", sort: "iterations", number: true, high_first: true, cell: (row) => number(row.iterations) },
    ...parameters.slice(0, 40).map(({ name, kind }) => ({ title: name, sort: `config.${name}`, number: kind !== "category", cell: (row) => value(row.config?.[name]) })),
    { title: "Time", sort: "time_total_s", number: true, high_first: true, cell: (row) => duration(row.time_total_s) },
    { title: "Why it ended", title_of: (row) => row.why_ended, cell: (row) => h("span", { class: "why" }, row.why_ended ?? "") },
  ];
}

function box(row, table) {
  return h("input", { type: "checkbox", "aria-label": `Compare ${trialName(row)}`, "data-key": `${row.id} ${table.chosen.has(row.id)}`, checked: table.chosen.has(row.id), onchange: (event) => {
    if (event.target.checked) table.chosen.set(row.id, row);
    else table.chosen.delete(row.id);
    table.choose();
  } });
}

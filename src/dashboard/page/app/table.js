/** Tables with headers, for lists that fit into the page. */

import { h, note } from "./element.js";

/**
 * table({caption, columns: [{title, cell, number, wide, means}], rows, key, mark}): `cell` gives a
 * row's text or element, `number` aligns digits, `wide` takes the rest of the width, `means` explains
 * the title, `mark` gives a row's class. `empty` is said without rows.
 */
export function table({ caption, columns, rows, key = (_, at) => at, mark = () => null, empty = "None." }) {
  if (!rows.length) return note(empty);
  return h("div", { class: "scrolls", tabindex: "0", role: "group", "aria-label": caption },
    h("table", null,
      h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", class: style(column) }, explained(column.title, column.means))))),
      h("tbody", null, rows.map((row, at) => h("tr", { "data-key": key(row, at), class: mark(row) }, columns.map((column, first) =>
        h(first === 0 ? "th" : "td", { scope: first === 0 ? "row" : null, class: style(column) }, column.cell(row, at))))))));
}

/** A column of numbers. */
export const digits = (title, cell) => ({ title, number: true, cell });

function style(column) {
  return [column.number && "number", column.wide && "wide", column.code && "code"].filter(Boolean).join(" ") || null;
}

/** A word, with what it means where the pointer rests on it; a screen reader says it too. */
export function explained(word, means) {
  return means ? h("abbr", { title: means }, word) : word;
}

/** Names, what they have, and what a name means: a short list of facts. */
export function facts(all) {
  return h("dl", { class: "facts" }, all.filter(([, of]) => of !== null && of !== undefined && of !== false)
    .map(([name, of, means]) => h("div", null, h("dt", null, explained(name, means)), h("dd", null, of))));
}

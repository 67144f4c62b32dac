/** Tables with headers, for lists that fit into the page. */

import { h } from "./element.js";

/**
 * table({caption, columns: [{title, cell, number, wide}], rows, key}): `cell` gives a row's text or
 * element, `number` aligns digits, `wide` takes the rest of the width. `empty` is said without rows.
 */
export function table({ caption, columns, rows, key = (_, at) => at, empty = "None." }) {
  if (!rows.length) return h("p", { class: "quiet" }, empty);
  return h("div", { class: "scrolls", tabindex: "0", role: "group", "aria-label": caption },
    h("table", null,
      h("caption", { class: "hidden" }, caption),
      h("thead", null, h("tr", null, columns.map((column) => h("th", { scope: "col", class: style(column) }, column.title)))),
      h("tbody", null, rows.map((row, at) => h("tr", { "data-key": key(row, at) }, columns.map((column, first) =>
        h(first === 0 ? "th" : "td", { scope: first === 0 ? "row" : null, class: style(column) }, column.cell(row, at))))))));
}

function style(column) {
  return [column.number && "number", column.wide && "wide", column.code && "code"].filter(Boolean).join(" ") || null;
}

/** Names and what they have: a short list of facts. */
export function facts(pairs) {
  return h("dl", { class: "facts" }, pairs.filter(([, of]) => of !== null && of !== undefined && of !== false)
    .map(([name, of]) => h("div", null, h("dt", null, name), h("dd", null, of))));
}

/** Chosen trials beside one another: what differs, and on demand what does not. */

import { h, note, patch, quiet } from "./element.js";
import { value } from "./format.js";
import { trialName } from "./trials_table.js";

export class Compare {
  constructor(chosen, changed) {
    Object.assign(this, { chosen, changed, all: false });
    this.element = h("div", null);
    this.render();
  }

  render() {
    const rows = [...this.chosen.values()];
    if (!rows.length) {
      patch(this.element);
      return;
    }
    const lines = [...fields(rows, "config"), ...fields(rows, "last")];
    const shown = this.all ? lines : lines.filter((line) => line.differs);
    patch(this.element, h("section", { class: "compare", "aria-labelledby": "compare" },
      h("h2", { id: "compare" }, rows.length === 1 ? "Chosen trial" : `${rows.length} trials beside one another`),
      h("div", { class: "controls" },
        h("label", null, h("input", { type: "checkbox", checked: this.all, onchange: (event) => {
          this.all = event.target.checked;
          this.render();
        } }), " What is equal, too"),
        h("button", { type: "button", onclick: () => {
          this.chosen.clear();
          this.changed();
        } }, "Choose none")),
      h("div", { class: "scrolls", tabindex: "0", role: "group", "aria-label": "Comparison" }, h("table", null,
        h("caption", { class: "hidden" }, "Chosen trials beside one another"),
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "Name"), rows.map((row) => h("th", { scope: "col", class: "number", "data-key": row.id }, trialName(row), " ", copyButton(row))))),
        h("tbody", null, shown.map((line) => h("tr", { class: line.differs ? "differs" : null, "data-key": `${line.group}.${line.name}` },
          h("th", { scope: "row" }, line.group === "last" ? quiet("last ") : null, line.name), line.values.map((of) => h("td", { class: "number" }, value(of)))))))),
      !shown.length && note("They do not differ.")));
  }
}

function fields(rows, group) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row[group] ?? {})))];
  return names.map((name) => {
    const values = rows.map((row) => row[group]?.[name]);
    return { group, name, values, differs: rows.length === 1 || new Set(values.map((of) => JSON.stringify(of))).size > 1 };
  });
}

function copyButton(row) {
  return h("button", { type: "button", class: "plain", title: "Copy its configuration as JSON", "aria-label": `Copy the configuration of ${trialName(row)}`, onclick: async (event) => {
    const button = event.target;
    try {
      await navigator.clipboard.writeText(JSON.stringify(row.config, null, 2));
      button.textContent = "✓";
    } catch {
      button.textContent = "✗";
    }
  } }, "Copy");
}

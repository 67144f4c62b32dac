/** What the time of the ranks goes to: shares of each moment, stacked, and their sums. */

import { Canvas, drawEnds } from "./canvas.js";
import { h, patch } from "./element.js";
import { clock, percent } from "./format.js";
import { colour } from "./theme.js";

export const parts = [
  { name: "forward", colour: "--line-1" },
  { name: "backward", colour: "--line-5" },
  { name: "compute", colour: "--line-6" }, // Where passes are known, what else there is.
  { name: "communication", title: "communication and waiting for others", colour: "--line-4" },
  { name: "data", colour: "--line-2" },
  { name: "checkpoint", colour: "--line-3" },
  { name: "report", colour: "--line-8" },
];
const left_px = 44;
const bottom_px = 20;

export class Split {
  constructor() {
    this.rows = [];
    this.canvas = new Canvas({ height: 150, label: "Split of the step", of: this });
    this.sums = h("ul", { class: "sums" });
    this.element = h("figure", { class: "chart" },
      h("figcaption", null, h("span", { class: "title" }, "What the time goes to")), this.sums, this.canvas.element);
  }

  /** [{x, data, forward, backward, compute, communication, checkpoint, report}], seconds in each bucket. */
  set(rows, now_s) {
    Object.assign(this, { rows, now_s });
    const sum = (name) => rows.reduce((all, row) => all + (row[name] ?? 0), 0);
    const all = parts.reduce((total, part) => total + sum(part.name), 0);
    const known = parts.filter((part) => rows.some((row) => row[part.name] !== null && row[part.name] !== undefined));
    const has_passes = known.some((part) => part.name === "forward");
    const shares = known.map((part) => ({ part, title: has_passes && part.name === "compute" ? "other" : part.title ?? part.name, share: all ? sum(part.name) / all : 0 }));
    patch(this.sums, shares.map(({ part, title, share }) => h("li", null,
      h("i", { class: "sample", "aria-hidden": "true", style: { background: colour(part.colour) } }), `${title} `, h("strong", null, percent(share)))));
    this.canvas.label = `Split of the step: ${shares.map(({ title, share }) => `${title} ${percent(share)}`).join(", ")}.`;
    this.canvas.redraw();
  }

  draw(context, width, height) {
    const { rows } = this;
    if (!rows.length) return;
    const inner = height - bottom_px;
    const edge = (at) => Math.round(left_px + (at / rows.length) * (width - left_px));
    rows.forEach((row, at) => {
      const all = parts.reduce((sum, part) => sum + (row[part.name] ?? 0), 0);
      let top = inner;
      if (!all) return;
      for (const part of parts) {
        const size = ((row[part.name] ?? 0) / all) * inner;
        context.fillStyle = colour(part.colour);
        context.fillRect(edge(at), top - size, edge(at + 1) - edge(at), size);
        top -= size;
      }
    });
    context.fillStyle = colour("--quiet");
    context.textAlign = "right";
    for (const share of [0, 0.5, 1]) context.fillText(`${share * 100} %`, left_px - 8, Math.min(inner - 5, Math.max(6, inner * (1 - share))));
    drawEnds(context, clock(rows[0].x, this.now_s), left_px, clock(rows.at(-1).x, this.now_s), width, height);
  }

  close() {
    this.canvas.close();
  }
}

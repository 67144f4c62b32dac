/** Who took over from whom: a line for each trial, an arrow from one to its copy. */

import { Canvas, drawEnds, figure } from "./canvas.js";
import { alert, h, keep, patch } from "./element.js";
import { number, value } from "./format.js";
import { Queried, Query } from "./source.js";
import { table } from "./table.js";
import { colour, lineColour } from "./theme.js";
import { trialName } from "./trials_table.js";

const [left_px, right_px, bottom_px] = [88, 16, 22];

export class Lineage extends Queried {
  constructor(path, experiment) {
    super();
    this.experiment = experiment;
    this.canvas = new Canvas({ height: 120, label: "Lineage of trials", of: this });
    this.figure = figure("Lineage", this.canvas);
    this.query = new Query(`${path}/lineage`, () => this.render(), { pause_ms: 2500 });
  }

  render() {
    const { data, error } = this.query;
    const steps = data?.steps ?? [];
    if (steps.length) {
      this.canvas.height = Math.max(8, Math.min(28, 600 / data.trials.length)) * data.trials.length + bottom_px;
      this.canvas.label = `Lineage of ${data.trials.length} trials with ${steps.length} takeovers. The table below lists them.`;
      this.canvas.redraw();
    }
    const names = new Map(data?.trials?.map((of) => [of.id, trialName(of)]));
    patch(this.element,
      alert(error),
      steps.length > 0 && keep(this.figure),
      data && table({ caption: "Takeovers", rows: steps, empty: "No trial has taken over from another. Population-based training does so.", columns: [
        { title: "Trial", cell: (of) => names.get(of.trial) ?? of.trial },
        { title: "At iteration", number: true, cell: (of) => number(of.x) },
        { title: "Continues from", cell: (of) => `${names.get(of.from_trial) ?? of.from_trial}${of.from_x === null ? "" : ` at ${number(of.from_x)}`}` },
        { title: "Changed", wide: true, cell: (of) => (of.changed ?? []).map(({ name, before, after }) => h("span", { class: "tag" }, `${name} ${value(before)} → ${value(after)}`)) },
      ] }));
  }

  draw(context, width, height) {
    const { data } = this.query;
    if (!data?.steps?.length) return;
    const inner = height - bottom_px;
    const row = inner / data.trials.length;
    const rows = new Map(data.trials.map((of, at) => [of.id, (at + 0.5) * row]));
    const last = Math.max(...data.steps.flatMap((of) => [of.x, of.from_x]), ...data.trials.map((of) => of.iterations ?? 0), 1);
    const left = (x) => left_px + (x / last) * (width - left_px - right_px);
    data.trials.forEach((trial) => {
      const y = rows.get(trial.id);
      context.fillStyle = colour("--line");
      context.fillRect(left_px, y - 0.5, width - left_px - right_px, 1);
      context.textAlign = "right";
      context.fillStyle = colour("--quiet");
      if (row >= 12) context.fillText(trialName(trial).slice(-13), left_px - 8, y);
    });
    data.steps.forEach((step) => {
      const [from, to, x] = [rows.get(step.from_trial), rows.get(step.trial), left(step.x)];
      if (from === undefined || to === undefined) return;
      const begin = left(step.from_x ?? step.x); // Where it is not known, at the same moment.
      context.strokeStyle = context.fillStyle = lineColour(data.trials.findIndex((of) => of.id === step.from_trial));
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(begin, from);
      context.bezierCurveTo(x, from, begin, to, x, to);
      context.stroke();
      context.fillRect(begin - 2, from - 2, 4, 4);
      context.beginPath();
      context.arc(x, to, 3.5, 0, 7);
      context.fill();
    });
    drawEnds(context, "0", left_px, `iteration ${number(last)}`, width - right_px, height);
  }
}

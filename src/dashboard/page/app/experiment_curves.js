/** The curves of trials over one another, with the rungs at which the scheduler ends trials. */

import { Canvas, figure, ticks } from "./canvas.js";
import { least, most } from "./chart.js";
import { alert, h, keep, note, patch, quiet } from "./element.js";
import { number } from "./format.js";
import { Queried, Query } from "./source.js";
import { colour } from "./theme.js";
import { levels, trialName } from "./trials_table.js";

const curves_max = 200;
const [left_px, right_px, top_px, bottom_px] = [56, 12, 18, 24];

export class ExperimentCurves extends Queried {
  constructor(path, experiment) {
    super();
    this.experiment = experiment;
    this.near = null;
    this.canvas = new Canvas({ height: 360, label: "Curves of trials", of: this });
    this.canvas.readBy(this);
    this.readout = h("output", { class: "readout" });
    this.figure = figure(experiment.metric ?? "Curves of trials", this.canvas, this.readout);
    this.query = new Query(`${path}/curves`, () => this.render(), { parameters: { max: curves_max }, pause_ms: 2500 });
  }

  render() {
    const { data, error } = this.query;
    const many = data?.total > data?.curves?.length;
    patch(this.element,
      alert(error),
      many && note(`${number(data.curves.length)} of ${number(data.total)} trials are drawn.`),
      data?.curves?.length ? keep(this.figure) : data && note("No trial has reported yet."));
    if (!data?.curves?.length) return;
    const ys = data.curves.flatMap((curve) => curve.y).filter((of) => of !== null);
    const xs = data.curves.flatMap((curve) => curve.x).concat(data.rungs ?? []);
    this.range = { x: [least(xs), most(xs)], y: [least(ys), most(ys)] };
    this.canvas.label = `${data.curves.length} curves of ${data.metric}, from ${number(this.range.y[0])} to ${number(this.range.y[1])}. ${data.rungs?.length ? `Rungs at ${data.rungs.join(", ")}.` : ""} Arrow keys go through trials.`;
    this.canvas.redraw();
  }

  place(width, height) {
    const { x: [x0, x1], y: [y0, y1] } = this.range;
    const within = (of, from, to) => (to > from ? (of - from) / (to - from) : 0.5);
    return {
      x: (of) => left_px + within(of, x0, x1) * (width - left_px - right_px),
      y: (of) => height - bottom_px - within(of, y0, y1) * (height - top_px - bottom_px),
    };
  }

  draw(context, width, height) {
    const { data } = this.query;
    if (!data?.curves?.length) return;
    const place = this.place(width, height);
    this.axes(context, width, height, place, data.rungs ?? []);
    for (const curve of data.curves) this.curve(context, place, curve, { stroke: colour(curveColour(curve)), alpha: this.near ? 0.15 : 0.4, width: 1 });
    const strong = this.near ?? data.curves.find((curve) => curve.id === this.experiment.best?.trial);
    if (strong) this.curve(context, place, strong, { stroke: colour("--accent"), alpha: 1, width: 2.5 });
  }

  axes(context, width, height, place, rungs) {
    context.lineWidth = 1;
    context.textAlign = "right";
    for (const of of ticks(...this.range.y, 5)) {
      context.fillStyle = colour("--quiet");
      context.fillText(number(of, 3), left_px - 8, place.y(of));
      context.fillStyle = colour("--line");
      context.fillRect(left_px, place.y(of), width - left_px - right_px, 1);
    }
    context.textAlign = "center";
    context.fillStyle = colour("--quiet");
    for (const of of ticks(...this.range.x, Math.max(2, Math.floor(width / 90)))) context.fillText(number(of), place.x(of), height - 8);
    context.strokeStyle = colour("--accent");
    context.setLineDash([3, 3]);
    for (const rung of rungs) {
      context.beginPath();
      context.moveTo(place.x(rung), top_px);
      context.lineTo(place.x(rung), height - bottom_px);
      context.stroke();
      context.fillStyle = colour("--accent");
      context.fillText(number(rung), place.x(rung), 8);
    }
    context.setLineDash([]);
    context.textAlign = "left";
    if (rungs.length) context.fillText("rungs", 4, 8);
  }

  curve(context, place, { x, y }, { stroke, alpha, width }) {
    context.globalAlpha = alpha;
    context.strokeStyle = context.fillStyle = stroke;
    context.lineWidth = width;
    context.beginPath();
    y.forEach((of, at) => {
      if (of !== null) context.lineTo(place.x(x[at]), place.y(of));
    });
    context.stroke();
    const last = y.findLastIndex((of) => of !== null);
    if (last >= 0) context.fillRect(place.x(x[last]) - 2, place.y(y[last]) - 2, 4, 4);
    context.globalAlpha = 1;
  }

  point(event) {
    const box = this.canvas.element.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    const place = this.place(box.width, box.height);
    let [near, distance] = [null, 20 ** 2];
    for (const curve of this.query.data?.curves ?? []) {
      curve.x.forEach((x, at) => {
        if (curve.y[at] === null) return;
        const away = (place.x(x) - left) ** 2 + (place.y(curve.y[at]) - top) ** 2;
        if (away < distance) [near, distance] = [curve, away];
      });
    }
    this.read(near);
  }

  key(event) {
    const move = { ArrowUp: -1, ArrowLeft: -1, ArrowDown: 1, ArrowRight: 1 }[event.key];
    const curves = this.query.data?.curves ?? [];
    if (!move || !curves.length) return;
    event.preventDefault();
    this.read(curves[(curves.indexOf(this.near) + move + curves.length) % curves.length]);
  }

  read(curve) {
    this.near = curve;
    patch(this.readout, curve && [h("span", null, trialName(curve)), h("span", { class: "value" }, number(curve.y.findLast((of) => of !== null))),
      quiet(curve.why_ended || curve.state)]);
    this.canvas.redraw();
  }
}

function curveColour(curve) {
  return { bad: "--bad", good: "--good" }[levels[curve.state]] ?? "--quiet";
}

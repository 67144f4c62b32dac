/** Parallel coordinates: an axis for each parameter, a line for each trial, coloured by its metric. */

import { Canvas, ticks } from "./canvas.js";
import { number, value } from "./format.js";
import { colour, scale } from "./theme.js";

const [left_px, right_px, top_px, bottom_px] = [48, 72, 34, 26];
const shades = 32;

export class ParallelPlot {
  /** `brushed(ranges)` is called with {column: [from, to]} in values of the axis. */
  constructor(brushed) {
    Object.assign(this, { brushed, data: null, brushes: {}, drag: null });
    this.canvas = new Canvas({ height: 380, label: "Parallel coordinates", of: this });
    const { element } = this.canvas;
    element.classList.add("brushes");
    element.addEventListener("pointerdown", (event) => this.down(event));
    element.addEventListener("pointermove", (event) => this.move(event));
    element.addEventListener("pointerup", () => this.up());
    element.addEventListener("pointercancel", () => this.up());
    this.element = element;
  }

  set(data) {
    this.data = varied(data);
    this.axes = this.data.columns.map((column, at) => axis(column, this.data.rows.map((row) => row[at])));
    this.canvas.label = `Parallel coordinates of ${number(data.rows.length)} trials over ${this.data.columns.map((column) => column.name).join(", ")}. The filter of the table below does the same as a brush.`;
    this.canvas.redraw();
  }

  clear() {
    this.brushes = {};
    this.brushed(this.brushes);
    this.canvas.redraw();
  }

  left(at, width) {
    return left_px + (at / Math.max(1, this.axes.length - 1)) * (width - left_px - right_px);
  }

  draw(context, width, height) {
    if (!this.data?.rows.length) return;
    const inner = height - top_px - bottom_px;
    const metric = this.axes.length - 1;
    const colours = scale(shades).map((of) => `rgb(${of.join()})`);
    const best_last = [...this.data.rows].map((row, at) => ({ row, at, place: this.axes[metric].place(row[metric]) }));
    // The best lie on top.
    best_last.sort((a, b) => (this.data.mode === "max" ? 1 : -1) * ((a.place ?? -1) - (b.place ?? -1)));
    const many = best_last.length > 300;
    context.lineWidth = 1;
    for (const { row, at, place } of best_last) {
      const within = this.within(row);
      context.globalAlpha = within ? (many ? 0.45 : 0.75) : 0.05;
      const good = place === null ? null : this.data.mode === "max" ? place : 1 - place;
      context.strokeStyle = good === null || !within ? colour("--quiet") : colours[Math.round(good * (shades - 1))];
      this.line(context, row, at, width, inner);
    }
    context.globalAlpha = 1;
    this.axes.forEach((of, at) => this.axis(context, of, at, width, inner));
  }

  line(context, row, number_of, width, inner) {
    context.beginPath();
    let gap = true;
    this.axes.forEach((axis_of, at) => {
      const place = axis_of.place(row[at], number_of);
      if (place === null) {
        gap = true;
        return;
      }
      const [x, y] = [this.left(at, width), top_px + (1 - place) * inner];
      if (gap) context.moveTo(x, y);
      else context.lineTo(x, y);
      gap = false;
    });
    context.stroke();
  }

  axis(context, of, at, width, inner) {
    const x = this.left(at, width);
    context.textBaseline = "alphabetic";
    context.strokeStyle = colour("--quiet");
    context.beginPath();
    context.moveTo(x, top_px);
    context.lineTo(x, top_px + inner);
    context.stroke();
    context.textAlign = "center";
    context.fillStyle = colour("--ink");
    const title = short(of.name, width / this.axes.length);
    const half = context.measureText(title).width / 2 + 2;
    context.fillText(title, Math.max(half, Math.min(width - half, x)), 14 + (at % 2 && width / this.axes.length < 90 ? 11 : 0));
    context.textAlign = "left";
    for (const { place, words } of of.labels) {
      const y = top_px + (1 - place) * inner;
      const text = short(words, at === this.axes.length - 1 ? right_px : width / this.axes.length - 12);
      // Words stay readable over lines.
      context.globalAlpha = 0.85;
      context.fillStyle = colour("--back");
      context.fillRect(x + 3, y - 7, context.measureText(text).width + 4, 14);
      context.globalAlpha = 1;
      context.fillStyle = colour("--quiet");
      context.fillText(text, x + 5, y + 4);
    }
    const brush = this.brushes[at];
    if (!brush) return;
    context.fillStyle = context.strokeStyle = colour("--accent");
    context.globalAlpha = 0.25;
    context.fillRect(x - 7, top_px + (1 - brush[1]) * inner, 14, (brush[1] - brush[0]) * inner);
    context.globalAlpha = 1;
    context.strokeRect(x - 7, top_px + (1 - brush[1]) * inner, 14, (brush[1] - brush[0]) * inner);
  }

  within(row) {
    return Object.entries(this.brushes).every(([at, [low, high]]) => {
      const place = this.axes[at].place(row[at]);
      return place !== null && place >= low && place <= high;
    });
  }

  at(event) {
    const box = this.element.getBoundingClientRect();
    const inner = box.height - top_px - bottom_px;
    const distances = this.axes.map((_, at) => Math.abs(this.left(at, box.width) - (event.clientX - box.left)));
    const nearest = distances.indexOf(Math.min(...distances));
    return { axis: distances[nearest] < 24 ? nearest : null, place: Math.max(0, Math.min(1, 1 - (event.clientY - box.top - top_px) / inner)) };
  }

  down(event) {
    if (!this.axes) return;
    const { axis: on, place } = this.at(event);
    if (on === null) return;
    this.element.setPointerCapture(event.pointerId);
    this.drag = { on, from: place, moved: false };
  }

  move(event) {
    if (!this.drag) return;
    const { place } = this.at(event);
    const { on, from } = this.drag;
    this.drag.moved ||= Math.abs(place - from) > 0.01;
    if (this.drag.moved) this.brushes[on] = [Math.min(from, place), Math.max(from, place)];
    this.canvas.redraw();
  }

  /** A click without a movement takes the brush of its axis away. */
  up() {
    if (!this.drag) return;
    if (!this.drag.moved) delete this.brushes[this.drag.on];
    this.drag = null;
    this.brushed(this.brushes);
    this.canvas.redraw();
  }

  /** The brushes as terms of the table's filter. */
  terms() {
    return Object.entries(this.brushes).flatMap(([at, [low, high]]) => this.axes[at].terms(low, high));
  }

  close() {
    this.canvas.close();
  }
}

/** The data without the columns that have one value alone; the last one, the metric, stays. */
function varied(data) {
  const shown = data.columns.map((_, at) => at).filter((at) => at === data.columns.length - 1 || new Set(data.rows.map((row) => row[at])).size > 1);
  return { ...data, columns: shown.map((at) => data.columns[at]), rows: data.rows.map((row) => shown.map((at) => row[at])) };
}

function axis(column, values) {
  return column.kind === "category" ? categories(column) : numbers(column, values);
}

function numbers({ name, kind }, values) {
  const known = values.filter((of) => typeof of === "number" && (kind !== "log" || of > 0));
  const to = kind === "log" ? Math.log : (of) => of;
  const from = kind === "log" ? Math.exp : (of) => of;
  const [low, high] = [to(Math.min(...known)), to(Math.max(...known))];
  const at = (place) => from(low + place * (high - low));
  const place = (of) => (typeof of !== "number" || (kind === "log" && of <= 0) ? null : high > low ? (to(of) - low) / (high - low) : 0.5);
  return {
    name,
    place,
    labels: marks(kind, known).map((of) => ({ place: place(of), words: number(of, 3) })),
    terms: (first, last) => [`${name}>=${at(first).toPrecision(5)}`, `${name}<=${at(last).toPrecision(5)}`],
  };
}

/** Round values of an axis: powers of ten where it is logarithmic, whole numbers where all are whole. */
function marks(kind, known) {
  if (!known.length) return [];
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (kind === "log") {
    const powers = ticks(Math.log10(low), Math.log10(high), 6).filter(Number.isInteger).map((power) => 10 ** power);
    return powers.length > 1 ? powers : [low, high];
  }
  const round = ticks(low, high, 5);
  return known.every(Number.isInteger) ? round.filter(Number.isInteger) : round;
}

/** Lines of one category are spread a little, so that their number is seen. */
function categories({ name, values = [] }) {
  const each = 1 / Math.max(1, values.length);
  const spread = (row) => (row === undefined ? 0 : (((row * 2654435761) % 1000) / 1000 - 0.5) * each * 0.4);
  return {
    name,
    place: (of, row) => (typeof of !== "number" ? null : (of + 0.5) * each + spread(row)),
    labels: values.map((of, at) => ({ place: (at + 0.5) * each, words: value(of) })),
    terms: (first, last) => values.filter((_, at) => (at + 0.5) * each < first || (at + 0.5) * each > last).map((of) => `${name}!=${quoted(value(of))}`),
  };
}

function quoted(text) {
  return /[\s"]/.test(text) ? `"${text.replace(/"/g, '\\"')}"` : text;
}

function short(text, width) {
  const most = Math.max(4, Math.floor(width / 6));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

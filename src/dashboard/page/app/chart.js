/** A chart of one metric, of one run or of several over one another. Draws with uPlot. */

/* global uPlot */
import { drawMarks, markAt } from "./chart_marks.js";
import { h, patch, quiet } from "./element.js";
import { clock, number } from "./format.js";
import { smooth } from "./smooth.js";
import { colour, lineColour, onTheme } from "./theme.js";

const height_px = 220;

export class Chart {
  /**
   * `x` is "step" or "time". `sync`: charts with the same word share the cursor. `zoomed(from, to)`
   * is called when the reader has chosen a part, and with nulls for the whole. `named(at)` names a
   * place other than by its x; `opened(at)` is called after a click on it.
   */
  constructor({ title, sync, zoomed, named = null, opened = null }) {
    Object.assign(this, { title, sync, zoomed, nameOf: named, opened, lines: [], marks: [], options: { x: "step", log: false, smoothing: 0 } });
    this.plot = null;
    this.shape = "";
    this.place = h("div", { class: "plot" });
    this.readout = h("output", { class: "readout" });
    this.element = h("figure", {
      class: "chart", tabindex: "0", onkeydown: (event) => this.key(event),
    }, h("figcaption", null, h("span", { class: "title" }, title), this.readout), this.place);
    this.observer = new ResizeObserver(() => {
      if (this.plot) this.plot.setSize({ width: this.place.clientWidth, height: height_px });
      else this.build();
    });
    this.observer.observe(this.place);
    this.forget = onTheme(() => this.build());
  }

  /** `lines`: [{name, x, last, min, max}], perhaps with the style "dots" or "steps", `one`: what one of its values is; `marks`: [{x, kind, words}]. */
  set(lines, marks, options) {
    const before = this.options;
    Object.assign(this, { lines, marks, options });
    const shape = JSON.stringify([lines.map((line) => line.name), options]);
    if (this.plot && shape === this.shape && before.x === options.x) this.plot.setData(this.table());
    else this.build();
    this.shape = shape;
    this.describe();
  }

  table() {
    const { log, smoothing } = this.options;
    const fit = (values) => (log ? values.map((value) => (value > 0 ? value : null)) : values);
    const tables = this.lines.map((line) =>
      [line.x, fit(smooth(line.last, smoothing)), fit(smoothing ? line.last : line.min), fit(smoothing ? line.last : line.max)]);
    return tables.length === 1 ? tables[0] : uPlot.join(tables);
  }

  build() {
    this.plot?.destroy();
    this.plot = null;
    if (!this.lines.length || !this.place.isConnected) return;
    this.plot = new uPlot(this.plotOptions(), this.table(), this.place);
    if (this.opened) this.openByClick(this.plot.over);
  }

  plotOptions() {
    const [line, quiet] = [colour("--line"), colour("--quiet")];
    const font = `11px ${colour("--sans")}`;
    const axis = { stroke: quiet, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
    const { log, smoothing, x } = this.options;
    const series = [{}];
    const bands = [];
    this.lines.forEach(({ x: places, style }, at) => {
      const stroke = lineColour(at);
      const paths = { dots: () => null, steps: uPlot.paths.stepped({ align: 1 }) }[style];
      series.push({ stroke, width: 1.75, paths, points: { show: style === "dots" || places.length < 2, size: 4, fill: stroke } });
      // Below the smoothed line the values themselves, else how far the values of a bucket go.
      series.push({ stroke: smoothing ? `${stroke}55` : "transparent", width: 1, points: { show: false } });
      series.push({ stroke: "transparent", width: 0, points: { show: false } });
      if (!smoothing && !style) bands.push({ series: [at * 3 + 3, at * 3 + 2], fill: `${stroke}26` });
    });
    return {
      width: this.place.clientWidth || 300, height: height_px, series, bands,
      legend: { show: false }, padding: [10, 24, 0, 0],
      scales: { x: { time: x === "time" }, y: { distr: log ? 3 : 1 } },
      axes: [{ ...axis, size: 28, values: x === "time" ? undefined : (_, values) => values.map((value) => number(value)) },
        { ...axis, size: 58, values: (_, values) => values.map((value) => (value === null ? "" : number(value, 3))) }],
      cursor: {
        sync: { key: this.sync, setSeries: false }, points: { size: 6 }, y: false,
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.zoomed(null, null) },
      },
      hooks: {
        draw: [(plot) => drawMarks(plot, this.marks)],
        setCursor: [(plot) => this.read(plot)],
        setSelect: [(plot) => this.choose(plot)],
      },
    };
  }

  openByClick(over) {
    over.classList.add("opens");
    over.addEventListener("click", () => {
      const at = this.plot.cursor.idx;
      if (at !== null && at !== undefined) this.opened(at);
    });
  }

  choose(plot) {
    if (plot.select.width < 4) return;
    const [from, to] = [plot.select.left, plot.select.left + plot.select.width].map((left) => plot.posToVal(left, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.zoomed(from, to);
  }

  /** What is under the cursor; without one, the last values. */
  read(plot) {
    const at = plot.cursor.idx;
    if (at === null || at === undefined) return this.describe();
    const [xs, ...columns] = plot.data;
    const mark = markAt(plot, this.marks);
    patch(this.readout, quiet(this.nameOf?.(at) ?? this.placeWords(xs[at])),
      this.lines.map((line, of) => this.named(line, of, columns[of * 3][at], line.one)),
      mark && h("span", { class: `mark ${mark.kind}` }, mark.words || mark.kind));
  }

  placeWords(x) {
    return this.options.x === "time" ? clock(x) : `${this.options.x} ${number(x)}`;
  }

  named(line, at, value, name = line.name) {
    const sample = h("i", { class: "sample", "aria-hidden": "true", style: { background: lineColour(at) } });
    return h("span", { class: "value" }, this.lines.length > 1 ? [sample, `${name} `] : null, number(value));
  }

  describe() {
    const ends = this.lines.map((line) => {
      const values = line.last.filter((value) => value !== null);
      return { line, last: values.at(-1), min: least(line.min), max: most(line.max) };
    });
    patch(this.readout, ends.map(({ line, last }, at) => this.named(line, at, last)));
    const said = ends.map(({ line, last, min, max }) => `${line.name}: last ${number(last)}, from ${number(min)} to ${number(max)}`);
    const kinds = [...new Set(this.marks.map((mark) => mark.kind))].map((kind) => `${this.marks.filter((mark) => mark.kind === kind).length} ${kind}`);
    this.element.setAttribute("aria-label", `Chart of ${this.title}. ${said.join(". ")}. ${kinds.length ? `Marks: ${kinds.join(", ")}. ` : ""}Arrow keys read values.`);
  }

  /** Arrow keys move the cursor, Home and End go to the ends, Escape shows the whole again. */
  key(event) {
    const { plot } = this;
    if (!plot) return;
    const last = plot.data[0].length - 1;
    const now = plot.cursor.idx ?? last;
    const step = event.shiftKey ? 10 : 1;
    const to = { ArrowLeft: now - step, ArrowRight: now + step, Home: 0, End: last }[event.key];
    if (event.key === "Escape") this.zoomed(null, null);
    if (to === undefined) return;
    event.preventDefault();
    const at = Math.max(0, Math.min(last, to));
    const x = plot.data[0][at];
    for (const of of uPlot.sync(this.sync).plots) of.setCursor({ left: of.valToPos(x, "x"), top: 10 });
  }

  close() {
    this.observer.disconnect();
    this.forget();
    this.plot?.destroy();
  }
}

export function least(values) {
  return values.reduce((least, value) => (value !== null && !(value >= least) ? value : least), undefined);
}

export function most(values) {
  return values.reduce((most, value) => (value !== null && !(value <= most) ? value : most), undefined);
}

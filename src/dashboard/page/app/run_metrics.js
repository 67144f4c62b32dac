/** Charts of everything that a run reports, with other runs beside it if wanted. */

import { Chart } from "./chart.js";
import { alert, h, keep, note, patch } from "./element.js";
import { choose, parse } from "./route.js";
import { ask } from "./source.js";

const runs_max = 8;
const points = 800;
const pause_ms = 1500;

export class RunMetrics {
  constructor(id, state) {
    this.id = id;
    this.state = state;
    const { choices } = parse(location.hash);
    this.options = { x: choices.x === "time" ? "time" : "step", log: choices.log === "1", smoothing: Number(choices.smooth) || 0 };
    this.others = (choices.with ?? "").split(",").filter(Boolean);
    this.filter = choices.find ?? "";
    this.range = [null, null];
    this.names = null;
    this.error = null;
    this.charts = new Map();
    this.controls = h("form", { class: "controls", onsubmit: (event) => event.preventDefault() });
    this.grid = h("div", { class: "charts" });
    this.element = h("div", null, this.controls, this.grid);
    this.closed = false;
    // A chart asks for its data once it comes near to what is seen.
    this.near = new Set();
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const { name } = entry.target.dataset;
        if (!entry.isIntersecting) this.near.delete(name);
        else if (!this.near.has(name)) {
          this.near.add(name);
          this.fill(name).catch((error) => this.fail(error));
        }
      }
    }, { rootMargin: "300px" });
    this.renderControls();
    this.refresh();
  }

  /** Asks for what has changed; at most once in a while. */
  refresh() {
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    this.again = false;
    this.load().catch((error) => this.fail(error)).finally(() => {
      if (this.closed) return;
      this.timer = setTimeout(() => {
        this.asking = false;
        if (this.again) this.refresh();
      }, pause_ms);
    });
  }

  now() {
    clearTimeout(this.timer);
    this.asking = false;
    this.refresh();
  }

  fail(error) {
    this.error = error.message;
    if (!this.closed) this.render();
  }

  async load() {
    const runs = [this.id, ...this.others];
    this.lists = new Map(await Promise.all(runs.map(async (run) => [run, (await ask(`/api/runs/${encodeURIComponent(run)}/metrics`)).names])));
    this.names = [...new Set([...this.lists.values()].flat())];
    this.error = null;
    if (this.closed) return;
    this.render();
    await Promise.all([...this.near].map((name) => this.fill(name)));
  }

  /** The series of one chart. */
  async fill(name) {
    const [from, to] = this.range;
    const options = { ...this.options };
    const having = [...this.lists].filter(([, names]) => names.includes(name)).map(([run]) => run);
    const series = await Promise.all(having.map((run) => ask("/api/series", { run, metric: name, x: options.x, from, to, points })));
    // The reader may have chosen something else meanwhile.
    if (this.closed || from !== this.range[0] || options.x !== this.options.x) return;
    const lines = series.map((of, at) => ({ name: this.nameOf(having[at]), ...of }));
    this.charts.get(name)?.set(lines, series[0]?.marks ?? [], options);
  }

  nameOf(run) {
    return this.state().runs?.find((of) => of.id === run)?.name ?? run;
  }

  chart(name) {
    if (!this.charts.has(name)) {
      const chart = new Chart({ title: name, sync: `metrics ${this.id}`, zoomed: (from, to) => {
        this.range = [from, to];
        this.renderControls();
        this.now();
      } });
      chart.element.dataset.name = name;
      this.charts.set(name, chart);
      this.observer.observe(chart.element);
    }
    return this.charts.get(name);
  }

  update() {}

  render() {
    const wanted = this.filter.toLowerCase();
    const shown = (this.names ?? []).filter((name) => name.toLowerCase().includes(wanted));
    patch(this.grid,
      alert(this.error),
      this.names && !shown.length && note(this.names.length ? "No metric has this in its name." : "The run has not reported numbers yet."),
      shown.map((name) => keep(this.chart(name).element)));
  }

  change(changes) {
    Object.assign(this.options, changes);
    if ("x" in changes) this.range = [null, null];
    choose({ x: this.options.x === "time" ? "time" : null, log: this.options.log ? "1" : null, smooth: this.options.smoothing || null, with: this.others.join(",") });
    this.renderControls();
    this.now();
  }

  renderControls() {
    const { x, log, smoothing } = this.options;
    const runs = (this.state().runs ?? []).filter((run) => run.id !== this.id);
    patch(this.controls,
      h("label", null, "Find ", h("input", { type: "search", placeholder: "metric", size: "12", oninput: (event) => {
        this.filter = event.target.value;
        choose({ find: this.filter });
        this.render();
      } })),
      h("label", null, "Axis ", h("select", { onchange: (event) => this.change({ x: event.target.value }) },
        ["step", "time"].map((of) => h("option", { value: of, selected: of === x }, of)))),
      h("label", null, "Smoothing ", h("input", { type: "range", min: "0", max: "0.99", step: "0.01", value: String(smoothing), oninput: (event) => this.change({ smoothing: Number(event.target.value) }) }),
        h("output", { class: "digits" }, smoothing.toFixed(2))),
      h("label", null, h("input", { type: "checkbox", checked: log, onchange: (event) => this.change({ log: event.target.checked }) }), " Logarithmic"),
      runs.length > 0 && h("details", { class: "choose" }, h("summary", null, this.others.length ? `With ${this.others.length} more` : "Compare with …"),
        h("div", { class: "menu" }, runs.slice(-200).reverse().map((run) => h("label", null, h("input", { type: "checkbox", checked: this.others.includes(run.id), onchange: (event) => this.compare(run.id, event.target.checked) }), ` ${run.name}`)))),
      this.range[0] !== null && h("button", { type: "button", onclick: () => {
        this.range = [null, null];
        this.renderControls();
        this.now();
      } }, "Show the whole"),
      h("span", { class: "quiet hint" }, "Drag over a chart to enlarge a part."));
  }

  compare(run, wanted) {
    this.others = this.others.filter((of) => of !== run);
    if (wanted) this.others = [...this.others, run].slice(-(runs_max - 1));
    this.change({});
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    this.observer.disconnect();
    for (const chart of this.charts.values()) chart.close();
  }
}

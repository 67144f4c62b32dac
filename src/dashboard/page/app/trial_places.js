/** Which trials were at work when: a line for each place, a bar for each time that a trial had it. */

import { Canvas, drawEnds, figure } from "./canvas.js";
import { alert, h, keep, note, patch, quiet } from "./element.js";
import { clock, counted, duration, number, percent } from "./format.js";
import { Queried, Query } from "./source.js";
import { colour, lineColour } from "./theme.js";
import { trialName } from "./trials_table.js";

const [left_px, bottom_px] = [44, 20];

export class TrialPlaces extends Queried {
  constructor(path) {
    super();
    this.canvas = new Canvas({ height: 120, label: "Trials over time", of: this });
    this.readout = h("output", { class: "readout" });
    this.canvas.readBy(this);
    this.figure = figure("Trials over time", this.canvas, this.readout);
    this.at = null; // Which spell is read.
    this.query = new Query(`${path}/places`, () => this.render(), { pause_ms: 2500 });
  }

  update(_, now_s) {
    this.now_s = now_s;
  }

  render() {
    const { data, error } = this.query;
    const words = data?.places ? `${counted(data.places, "place")}, with a trial for ${percent(data.busy)} of the time.` : "No trial has been at work yet.";
    if (data?.places) {
      this.row = Math.max(2, Math.min(24, 480 / data.places));
      this.canvas.height = Math.max(24, this.row * data.places) + bottom_px;
      this.canvas.label = `${words} Arrow keys read trials.`;
      this.canvas.redraw();
    }
    patch(this.element,
      alert(error),
      data && note(words, data.total > data.spells.length && ` The last ${number(data.spells.length)} of ${number(data.total)} are shown.`),
      data?.places > 0 && keep(this.figure));
  }

  left(at_s, width) {
    const { from_s, to_s } = this.query.data;
    return left_px + ((at_s - from_s) / Math.max(1e-9, to_s - from_s)) * (width - left_px);
  }

  draw(context, width, height) {
    const { data } = this.query;
    if (!data?.places) return;
    data.spells.forEach((spell, at) => {
      const [from, to] = [this.left(spell.start_s, width), this.left(spell.end_s ?? data.to_s, width)];
      context.fillStyle = spell.state === "errored" ? colour("--bad") : lineColour(at);
      context.fillRect(from, spell.place * this.row, Math.max(1.5, to - from - 1), Math.max(1, this.row - 2));
      if (at !== this.at) return;
      context.strokeStyle = colour("--ink");
      context.lineWidth = 1.5;
      context.strokeRect(from, spell.place * this.row, Math.max(2, to - from - 1), Math.max(1, this.row - 2));
    });
    context.fillStyle = colour("--quiet");
    context.textAlign = "right";
    if (this.row >= 12) for (let place = 0; place < data.places; place += 1) context.fillText(String(place + 1), left_px - 8, (place + 0.5) * this.row);
    drawEnds(context, clock(data.from_s, this.now_s), left_px, clock(data.to_s, this.now_s), width, height);
  }

  point(event) {
    const { data } = this.query;
    if (!data?.places) return;
    const box = this.canvas.element.getBoundingClientRect();
    const place = Math.floor((event.clientY - box.top) / this.row);
    const x = event.clientX - box.left;
    const found = data.spells.findIndex((of) => of.place === place && x >= this.left(of.start_s, box.width) && x <= this.left(of.end_s ?? data.to_s, box.width) + 2);
    this.read(found < 0 ? null : found);
  }

  key(event) {
    const move = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    const count = this.query.data?.spells.length;
    if (!move || !count) return;
    event.preventDefault();
    this.read(Math.max(0, Math.min(count - 1, (this.at ?? (move > 0 ? -1 : count)) + move)));
  }

  read(at) {
    this.at = at;
    const { data } = this.query;
    const spell = at === null ? null : data.spells[at];
    if (spell) {
      patch(this.readout, h("span", null, `${trialName(spell)} on place ${spell.place + 1}`), quiet(clock(spell.start_s, this.now_s)),
        h("span", { class: "value" }, duration((spell.end_s ?? data.to_s) - spell.start_s)));
    } else {
      patch(this.readout);
    }
    this.canvas.redraw();
  }
}

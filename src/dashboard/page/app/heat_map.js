/** How long each rank's steps took, over time: a row for each rank, a column for each moment. */

import { Canvas, drawEnds, figure } from "./canvas.js";
import { h, patch, quiet } from "./element.js";
import { clock, duration, sentence } from "./format.js";
import { colour, scale } from "./theme.js";

const left_px = 44;
const bottom_px = 20;
const shades = 128;

export class HeatMap {
  constructor() {
    this.data = null;
    this.at = null; // The cell that is read: [row, column].
    this.canvas = new Canvas({ height: 120, label: "Step times of ranks without waiting", of: this });
    this.readout = h("output", { class: "readout" });
    this.legend = h("span", { class: "legend" });
    this.canvas.readBy(this);
    this.element = figure("Step time of each rank, without waiting for others", this.canvas, this.legend, this.readout);
  }

  /** {ranks, hosts, from_s, to_s, cells, straggler}, as the server's route `steps` has it. */
  set(data, now_s) {
    Object.assign(this, { data, now_s });
    const seconds = data.cells.flat().filter((of) => of !== null).sort((a, b) => a - b);
    // A few outliers shall not make all others look alike.
    const quantile = (share) => seconds[Math.min(seconds.length - 1, Math.floor(share * seconds.length))] ?? 0;
    this.low = quantile(0.02);
    this.high = Math.max(quantile(0.98), this.low * 1.05, 1e-9);
    const row = Math.max(2, Math.min(22, Math.floor(420 / Math.max(1, data.ranks.length))));
    this.canvas.height = Math.max(row * data.ranks.length, 24) + bottom_px;
    this.canvas.label = `Step times of ${data.ranks.length} ranks without waiting, mostly from ${duration(this.low)} to ${duration(this.high)}. ${sentence(data.straggler?.words ?? "no rank is slower than the others")}. Arrow keys read cells.`;
    const ramp = scale(24).map(([red, green, blue]) => h("i", { style: { background: `rgb(${red},${green},${blue})` } }));
    patch(this.legend, duration(this.low), h("span", { class: "ramp", "aria-hidden": "true" }, ramp), duration(this.high));
    this.canvas.redraw();
  }

  draw(context, width, height) {
    if (!this.data) return;
    const { ranks, cells, straggler, from_s, to_s } = this.data;
    const columns = cells[0]?.length ?? 0;
    if (!columns) return;
    const inner = height - bottom_px;
    const row = inner / ranks.length;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.picture(ranks.length, columns), left_px, 0, width - left_px, inner);
    context.textAlign = "right";
    const each = Math.ceil(14 / row);
    ranks.forEach((rank, at) => {
      const slow = straggler?.rank === rank;
      if (at % each && !slow) return;
      context.fillStyle = colour(slow ? "--bad" : "--quiet");
      context.fillText(slow ? `▲ ${rank}` : String(rank), left_px - 8, (at + 0.5) * row);
    });
    drawEnds(context, clock(from_s, this.now_s), left_px, clock(to_s, this.now_s), width, height);
    if (this.at) {
      const cell = (width - left_px) / columns;
      context.strokeStyle = colour("--ink");
      context.lineWidth = 1.5;
      context.strokeRect(left_px + this.at[1] * cell, this.at[0] * row + 0.75, Math.max(cell, 2), row - 1.5);
    }
  }

  /** One pixel a cell; the canvas enlarges it. */
  picture(rows, columns) {
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [columns, rows];
    const context = picture.getContext("2d");
    const image = context.createImageData(columns, rows);
    const colours = scale(shades);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const seconds = this.data.cells[row][column];
        if (seconds === null || seconds === undefined) continue;
        const shade = Math.max(0, Math.min(shades - 1, Math.round(((seconds - this.low) / (this.high - this.low)) * (shades - 1))));
        image.data.set([...colours[shade], 255], (row * columns + column) * 4);
      }
    }
    context.putImageData(image, 0, 0);
    return picture;
  }

  point(event) {
    if (!this.data?.cells.length) return;
    const box = this.canvas.element.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top) / (box.height - bottom_px)) * this.data.ranks.length);
    const column = Math.floor(((event.clientX - box.left - left_px) / (box.width - left_px)) * this.data.cells[0].length);
    this.read(this.data.cells[row]?.[column] === undefined ? null : [row, column]);
  }

  key(event) {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!move || !this.data?.cells.length) return;
    event.preventDefault();
    const within = (at, count) => Math.max(0, Math.min(count - 1, at));
    const [row, column] = this.at ?? [0, this.data.cells[0].length - 1];
    this.read([within(row + move[0], this.data.ranks.length), within(column + move[1], this.data.cells[0].length)]);
  }

  read(at) {
    this.at = at;
    const { ranks, hosts, cells, from_s, to_s } = this.data ?? {};
    if (at) {
      const when = from_s + ((at[1] + 0.5) / cells[0].length) * (to_s - from_s);
      const seconds = cells[at[0]][at[1]];
      patch(this.readout, h("span", null, `rank ${ranks[at[0]]}${hosts?.[at[0]] ? ` on ${hosts[at[0]]}` : ""}`),
        quiet(clock(when, this.now_s)), h("span", { class: "value" }, seconds === null ? "no step" : duration(seconds)));
    } else {
      patch(this.readout);
    }
    this.canvas.redraw();
  }

  close() {
    this.canvas.close();
  }
}

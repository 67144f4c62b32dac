/** A canvas that has the sharpness of the screen and the width of its place. */

import { h } from "./element.js";
import { colour, onTheme } from "./theme.js";

export class Canvas {
  /** `draw(context, width, height)` of `of` is called at each new size, colour scheme or `redraw`. */
  constructor({ height, label, of }) {
    this.height = height;
    this.of = of;
    this.element = h("canvas", { class: "canvas", role: "img", "aria-label": label });
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.element);
    this.forget = onTheme(() => this.redraw());
    this.pending = false;
  }

  set label(words) {
    if (this.element.getAttribute("aria-label") !== words) this.element.setAttribute("aria-label", words);
  }

  /** Pointer and keys read values: by `point(event)`, `key(event)` and `read(null)` of the view. */
  readBy(view) {
    this.element.tabIndex = 0;
    this.element.addEventListener("pointermove", (event) => view.point(event));
    this.element.addEventListener("pointerleave", () => view.read(null));
    this.element.addEventListener("keydown", (event) => view.key(event));
  }

  redraw() {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      const width = this.element.clientWidth;
      if (!width) return;
      const sharpness = devicePixelRatio || 1;
      this.element.style.height = `${this.height}px`;
      this.element.width = Math.round(width * sharpness);
      this.element.height = Math.round(this.height * sharpness);
      const context = this.element.getContext("2d");
      context.setTransform(sharpness, 0, 0, sharpness, 0, 0);
      context.clearRect(0, 0, width, this.height);
      context.font = `11px ${colour("--sans")}`;
      context.textBaseline = "middle";
      this.of.draw(context, width, this.height);
    });
  }

  close() {
    this.observer.disconnect();
    this.forget();
  }
}

/** What stands below both ends of an axis. */
export function drawEnds(context, first, left, last, right, height) {
  context.fillStyle = colour("--quiet");
  context.textAlign = "left";
  context.fillText(first, left, height - 8);
  context.textAlign = "right";
  context.fillText(last, right, height - 8);
}

/** A canvas below its title. */
export function figure(title, canvas, ...beside) {
  return h("figure", { class: "chart" }, h("figcaption", null, h("span", { class: "title" }, title), beside), canvas.element);
}

/** Round values between `from` and `to`, at most `count`, for an axis. */
export function ticks(from, to, count) {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0)) return [from];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => of >= rough);
  const values = [];
  for (let at = Math.ceil(from / step); at * step <= to + step * 1e-9; at += 1) values.push(at * step);
  return values;
}

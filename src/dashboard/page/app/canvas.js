/** A canvas that has the sharpness of the screen and the width of its place. */

import { h } from "./element.js";
import { onTheme } from "./theme.js";

export class Canvas {
  /** `draw(context, width, height)` is called at each new size, colour scheme or `redraw`. */
  constructor({ height, label, draw }) {
    this.height = height;
    this.draw = draw;
    this.element = h("canvas", { class: "canvas", role: "img", "aria-label": label });
    this.observer = new ResizeObserver(() => this.redraw());
    this.observer.observe(this.element);
    this.forget = onTheme(() => this.redraw());
    this.pending = false;
  }

  set label(words) {
    if (this.element.getAttribute("aria-label") !== words) this.element.setAttribute("aria-label", words);
  }

  /** Pointer and keys read values: by `point(event)`, `key(event)`, and `leave()` of the view. */
  readBy({ point, key, leave }) {
    this.element.tabIndex = 0;
    this.element.addEventListener("pointermove", point);
    this.element.addEventListener("pointerleave", leave);
    this.element.addEventListener("keydown", key);
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
      this.draw(context, width, this.height);
    });
  }

  close() {
    this.observer.disconnect();
    this.forget();
  }
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

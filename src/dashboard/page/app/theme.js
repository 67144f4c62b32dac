/** Light or dark: as the system has it, unless the reader chose. Canvases ask here for colours. */

import { h } from "./element.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();
const modes = ["system", "light", "dark"];

function stored() {
  try {
    return localStorage.getItem("headway-theme") ?? "system";
  } catch {
    return "system"; // Storage is switched off in this browser.
  }
}

let mode = stored();

function apply() {
  const dark = mode === "dark" || (mode === "system" && system.matches);
  root.dataset.theme = dark ? "dark" : "light";
  for (const listener of listeners) listener();
}

export function onTheme(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function themeButton() {
  const next = modes[(modes.indexOf(mode) + 1) % modes.length];
  return h("button", {
    type: "button", class: "plain", title: `Colours: ${mode}. Change to ${next}.`, "aria-label": `Colours: ${mode}. Change to ${next}.`,
    onclick: () => {
      mode = next;
      try {
        localStorage.setItem("headway-theme", mode);
      } catch { /* The choice lasts as long as the page. */ }
      apply();
    },
  }, { system: "◐", light: "○", dark: "●" }[mode]);
}

/** A colour of the style sheet, such as colour("--accent"). */
export function colour(name) {
  return getComputedStyle(root).getPropertyValue(name).trim();
}

/** Colours of lines that lie over one another. */
export function lineColour(at) {
  return colour(`--line-${(at % 8) + 1}`);
}

/** `count` colours from little to much, as [red, green, blue]. */
export function scale(count) {
  const stops = ["--scale-low", "--scale-middle", "--scale-high"].map((name) => rgb(colour(name)));
  return Array.from({ length: count }, (_, at) => {
    const place = (at / Math.max(1, count - 1)) * 2;
    const from = Math.min(1, Math.floor(place));
    return stops[from].map((part, channel) => Math.round(part + (stops[from + 1][channel] - part) * (place - from)));
  });
}

function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

system.addEventListener("change", apply);
apply();

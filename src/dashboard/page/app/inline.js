/** The charts of one run or experiment in a page of its own, as a notebook has below a cell: all data is in the page. */

import { Chart } from "./chart.js";
import { keep, note, patch } from "./element.js";

const { charts, left_out: leftOut } = JSON.parse(document.getElementById("charts").textContent);

/** The part of a line between two places. */
function cut(line, from, to) {
  if (from === null) return line;
  const within = (_, at) => line.x[at] >= from && line.x[at] <= to;
  return Object.fromEntries(Object.entries(line).map(([key, of]) => [key, Array.isArray(of) ? of.filter(within) : of]));
}

function drawn({ title, x, lines, marks }) {
  const whole = lines.map((line) => ({ min: line.last, max: line.last, ...line }));
  const options = { x, log: false, smoothing: 0 };
  const chart = new Chart({ title, sync: title, zoomed: (from, to) => chart.set(whole.map((line) => cut(line, from, to)), marks, options) });
  return { element: chart.element, fill: () => chart.set(whole, marks, options) };
}

const all = charts.map(drawn);
patch(document.getElementById("main"), all.map(({ element }) => keep(element)));
document.body.append(note(leftOut > 0 ? `${leftOut} more on the dashboard's page. ` : null,
  "Drag over a chart to enlarge a part, click twice to see the whole."));
for (const { fill } of all) fill();

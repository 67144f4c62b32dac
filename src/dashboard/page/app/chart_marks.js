/** What happened to the run, as marks over its charts. */

import { colour } from "./theme.js";

/** Kinds with their colour and sign, in rows, as a restart follows a failure; failures are drawn over the whole height. */
export const kinds = {
  failure: { colour: "--bad", sign: "▲", row: 0, through: true },
  restart: { colour: "--wait", sign: "◆", row: 1, through: true },
  checkpoint: { colour: "--quiet", sign: "▾", row: 0, through: false },
  validation: { colour: "--accent", sign: "○", row: 1, through: false },
};

export function drawMarks(plot, marks) {
  const { ctx: context, bbox } = plot;
  const sharpness = devicePixelRatio || 1;
  context.save();
  context.beginPath();
  context.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height);
  context.clip();
  context.textAlign = "center";
  context.font = `${10 * sharpness}px sans-serif`;
  for (const mark of marks) {
    const kind = kinds[mark.kind];
    if (!kind) continue;
    const left = plot.valToPos(mark.x, "x", true);
    if (!(left >= bbox.left && left <= bbox.left + bbox.width)) continue;
    context.strokeStyle = context.fillStyle = colour(kind.colour);
    if (kind.through) {
      context.setLineDash([3 * sharpness, 3 * sharpness]);
      context.lineWidth = sharpness;
      context.beginPath();
      context.moveTo(left, bbox.top);
      context.lineTo(left, bbox.top + bbox.height);
      context.stroke();
    }
    context.fillText(kind.sign, left, bbox.top + (8 + 11 * kind.row) * sharpness);
  }
  context.restore();
}

/** The mark within a few pixels of the cursor, or undefined. */
export function markAt(plot, marks) {
  const { left } = plot.cursor;
  let nearest;
  let distance = 8;
  for (const mark of marks) {
    const away = Math.abs(plot.valToPos(mark.x, "x") - left);
    if (away < distance) [nearest, distance] = [mark, away];
  }
  return nearest;
}

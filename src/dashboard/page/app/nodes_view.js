/** Nodes: what each has, and how much of it is in use. */

import { h, patch, quiet } from "./element.js";
import { bytes, counted, number, percent } from "./format.js";
import { table } from "./table.js";

export class NodesView {
  constructor() {
    this.title = "Nodes";
    this.element = h("div", { class: "view" });
  }

  show() {}

  update(state) {
    const nodes = state.nodes ?? [];
    patch(this.element, h("h1", null, counted(nodes.length, "node")),
      table({ caption: "Nodes", rows: nodes, key: (of) => of.node?.node_id, empty: "No node has joined.", columns: [
        { title: "Node", cell: (of) => [of.node?.hostname || of.node?.node_id, nodes.length > 1 && quiet(` ${of.node?.node_id}`), of.leaving && h("span", { class: "tag wait" }, "leaving")] },
        { title: "Address", code: true, cell: (of) => of.node?.node_ip },
        ...resources(nodes).map((name) => ({ title: name, cell: (of) => meter(name, of) })),
        { title: "CPU at work", cell: (of) => gauge(of.use?.cpu_share, percent(of.use?.cpu_share)) },
        { title: "Memory in use", cell: (of) => used(of.use?.memory_bytes, of.use?.memory_total_bytes ?? of.node?.total?.memory) },
        nodes.some(hasGpus) && { title: "GPUs at work", wide: true, cell: (of) => gpus(of) },
        nodes.some((of) => Object.keys(of.node?.labels ?? {}).length > 0) && { title: "Labels", cell: (of) => Object.entries(of.node?.labels ?? {}).map(([name, label]) => h("span", { class: "tag" }, `${name}=${label}`)) },
      ].filter(Boolean) }),
      !nodes.some(hasGpus) && nodes.some((of) => of.use?.why_no_gpus) && h("p", { class: "quiet below" }, `No GPU is shown: ${nodes.find((of) => of.use?.why_no_gpus).use.why_no_gpus}.`));
  }
}

/** CPU and GPU first, then what the user named. Memory has a column of its own. */
function resources(nodes) {
  const names = new Set(nodes.flatMap((of) => Object.keys(of.node?.total ?? {})));
  const first = ["CPU", "GPU"].filter((name) => names.has(name));
  return [...first, ...[...names].filter((name) => !first.includes(name) && name !== "memory").sort()];
}

function hasGpus(of) {
  return of.node?.total?.GPU > 0 || of.use?.gpus?.length > 0;
}

function gpus(of) {
  if (!of.use?.gpus?.length) return hasGpus(of) ? quiet(of.use?.why_no_gpus || "not known") : null;
  return of.use.gpus.map((gpu) => h("div", { class: "gpu" }, quiet(`${gpu.index} ${gpu.name} `),
    gauge(gpu.share, percent(gpu.share)), " ", used(gpu.memory_bytes, gpu.memory_total_bytes)));
}

function meter(name, of) {
  const total = of.node?.total?.[name];
  if (!total) return null;
  const taken = total - (of.available?.[name] ?? 0);
  return gauge(taken / total, `${number(taken)} of ${number(total)} taken`);
}

function used(count, of) {
  return count && of ? gauge(count / of, `${bytes(count)} of ${bytes(of)}`, { tight: true }) : of ? bytes(of) : null;
}

/** A part of a whole; `tight`: a part that comes close to the whole is a warning. */
export function gauge(share, words, { tight = false } = {}) {
  if (share === null || share === undefined || !Number.isFinite(share)) return null;
  const width = `${Math.max(0, Math.min(100, share * 100))}%`;
  return h("span", { class: "gauge" }, h("span", { class: "track", "aria-hidden": "true" }, h("span", { class: tight && share > 0.95 ? "full" : null, style: { width } })), h("span", null, words));
}

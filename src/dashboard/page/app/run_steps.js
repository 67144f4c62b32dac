/** Where the time of the steps goes: ranks over time, and the split of the step. */

import { h, keep, patch } from "./element.js";
import { clock, sentence } from "./format.js";
import { HeatMap } from "./heat_map.js";
import { Query } from "./source.js";
import { Split } from "./split.js";

export class RunSteps {
  constructor(id) {
    this.map = new HeatMap();
    this.split = new Split();
    this.element = h("div", null, h("p", { class: "quiet" }, "Loading …"));
    this.query = new Query(`/api/runs/${encodeURIComponent(id)}/steps`, () => this.render(), { parameters: { points: 400 }, pause_ms: 2000 });
  }

  refresh() {
    this.query.refresh();
  }

  update(_, now_s) {
    this.now_s = now_s;
  }

  render() {
    const { data, error } = this.query;
    const has_cells = data?.cells?.some((row) => row.some((of) => of !== null));
    if (has_cells) this.map.set(data, this.now_s);
    if (data?.split?.length) this.split.set(data.split, this.now_s);
    patch(this.element,
      error && h("p", { class: "notice bad", role: "alert" }, error),
      data?.straggler && h("p", { class: "notice wait" }, sentence(`${data.straggler.words}.`), " ", sentence(`it ${data.straggler.detail}.`), this.slowSince(data)),
      has_cells && keep(this.map.element),
      data?.split?.length > 0 && keep(this.split.element),
      data && !has_cells && !data.split?.length && h("p", { class: "quiet" }, "No steps have been counted yet."));
  }

  /** Where it became slow and has stayed so. */
  slowSince({ straggler, to_s }) {
    const since_s = straggler.since_unix_s;
    return since_s && since_s < to_s ? ` Slow from ${clock(since_s, this.now_s)} on.` : null;
  }

  close() {
    this.query.close();
    this.map.close();
    this.split.close();
  }
}

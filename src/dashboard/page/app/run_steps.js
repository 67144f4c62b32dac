/** Where the time of the steps goes: ranks over time, and the split of the step. */

import { alert, h, keep, note, patch } from "./element.js";
import { HeatMap } from "./heat_map.js";
import { Queried, Query } from "./source.js";
import { Split } from "./split.js";
import { causeWords } from "./verdict.js";

export class RunSteps extends Queried {
  constructor(id) {
    super();
    this.map = new HeatMap();
    this.split = new Split();
    this.element = h("div", null, note("Loading …"));
    this.query = new Query(`/api/runs/${encodeURIComponent(id)}/steps`, () => this.render(), { parameters: { points: 400 }, pause_ms: 2000 });
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
      alert(error),
      data?.straggler && h("p", { class: "notice wait" }, causeWords(`slow: ${data.straggler.words}; it ${data.straggler.detail}.`, data.straggler.since_unix_s, this.now_s)),
      has_cells && keep(this.map.element),
      data?.split?.length > 0 && keep(this.split.element),
      data && !has_cells && !data.split?.length && note("No steps have been counted yet."));
  }

  close() {
    this.query.close();
    this.map.close();
    this.split.close();
  }
}

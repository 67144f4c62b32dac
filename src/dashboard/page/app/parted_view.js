/** What shows one run or one experiment: its verdict and facts, and one of its parts, chosen by a tab. */

import { alert, h, keep, note, patch } from "./element.js";
import { Query } from "./source.js";
import { facts } from "./table.js";
import { tabs } from "./tabs.js";
import { verdictHeading } from "./verdict.js";

export class PartedView {
  /**
   * `view`: its name in addresses. `path`: its route. `list`: which of the state's lists has it in
   * short. `parts`: what makes each part, by its tab. `state` gives the newest state.
   */
  constructor({ view, id, path, list, parts, state, pause_ms }) {
    Object.assign(this, { view, id, path, list, parts, state });
    this.element = h("div", { class: "view" });
    this.part = null;
    this.number = null;
    this.query = new Query(path, () => this.render(), { pause_ms });
  }

  /** Another address: the part is made anew, because what was chosen in it stands there. */
  show({ tab }) {
    this.part?.close?.();
    this.part = null;
    this.tab = tab in this.parts ? tab : "";
    this.render();
  }

  update(state) {
    if (state.number !== this.number) {
      this.number = state.number;
      this.query.refresh();
      this.part?.refresh?.();
    }
    this.render();
  }

  render() {
    const state = this.state();
    const now_s = state.taken_unix_s;
    const { data } = this.query;
    const of = { ...data, ...state[this.list]?.find((each) => each.id === this.id) };
    of.restart ??= data?.restart; // Lists have it of ended runs.
    this.title = of.name ?? this.id;
    const error = alert(this.query.error);
    // A part is made once there is data.
    if (!data || this.tab === undefined) {
      patch(this.element, error || note("Loading …"));
      return;
    }
    this.part ??= this.parts[this.tab](of);
    this.part.update?.(of, now_s);
    const names = this.names(of);
    patch(this.element,
      h("p", { class: "crumbs" }, this.above(of)),
      h("h1", null, h("span", { class: "hidden" }, `${this.kind} `), this.title),
      verdictHeading(of.verdict, now_s),
      this.below(of, now_s),
      facts(this.facts(of, now_s)),
      tabs(this.view, this.id, names, this.tab),
      error,
      h("section", { class: "part", "aria-label": names[this.tab] }, keep(this.part.element)));
  }

  /** What stands between the verdict and the facts. */
  below() {
    return null;
  }

  close() {
    this.part?.close?.();
    this.query.close();
  }
}

/** Which parameters the value of a trial depends on. */

import { alert, note, patch } from "./element.js";
import { number, percent, sentence } from "./format.js";
import { gauge } from "./nodes_view.js";
import { Queried, Query } from "./source.js";
import { table } from "./table.js";

export class Importances extends Queried {
  constructor(path) {
    super();
    this.query = new Query(`${path}/importances`, () => this.render(), { pause_ms: 5000 });
  }

  render() {
    const { data, error } = this.query;
    patch(this.element,
      alert(error),
      data?.why_none && note(`${sentence(data.why_none)}.`),
      data && !data.why_none && [
        note(`How much a parameter sets the best ${number(data.best)} of ${number(data.trials)} trials by ${data.metric} apart from all (PED-ANOVA).`),
        table({ caption: "Importances", rows: data.parameters, key: (of) => of.name, empty: "The trials have no parameters.", columns: [
          { title: "Parameter", code: true, cell: (of) => of.name },
          { title: "Importance", wide: true, cell: (of) => gauge(of.share, percent(of.share)) },
        ] }),
      ]);
  }
}

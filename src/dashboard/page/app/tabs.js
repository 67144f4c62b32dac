/** Links to the parts of a view. They are links, so that each part has an address. */

import { h } from "./element.js";
import { address } from "./route.js";

export function tabs(view, id, names, shown) {
  return h("nav", { class: "tabs", "aria-label": "Parts" }, Object.entries(names).map(([tab, title]) =>
    h("a", { href: address(view, id, tab), "aria-current": tab === shown ? "page" : null }, title)));
}

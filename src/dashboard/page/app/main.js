/** The page: reads the address, shows its view, and keeps it current. */

import { alert, h, patch, quiet } from "./element.js";
import { ExperimentView } from "./experiment_view.js";
import { clock } from "./format.js";
import { HomeView } from "./home_view.js";
import { meanings } from "./meanings.js";
import { NodesView } from "./nodes_view.js";
import { address, parse } from "./route.js";
import { RunView } from "./run_view.js";
import { Source } from "./source.js";
import { explained } from "./table.js";
import { onTheme, themeButton } from "./theme.js";

const views = { "": HomeView, run: RunView, experiment: ExperimentView, nodes: NodesView };

class Page {
  constructor() {
    this.top = document.getElementById("top");
    this.main = document.getElementById("main");
    this.view = null;
    this.shown = null;
    this.source = new Source(() => this.update());
    addEventListener("hashchange", () => this.open());
    onTheme(() => this.update());
    this.source.start();
  }

  /** Another address: another view, or another part of the one that is open. */
  open() {
    const route = parse(location.hash);
    const { state } = this.source;
    if (!state) return;
    if (this.shown?.view !== route.view || this.shown?.id !== route.id) {
      this.view?.close?.();
      this.view = new (views[route.view] ?? HomeView)(route, () => this.source.state);
      this.main.replaceChildren(this.view.element);
      if (this.shown) {
        scrollTo(0, 0);
        this.main.focus({ preventScroll: true });
      }
    }
    this.shown = route;
    this.view.show(route);
    this.update();
  }

  update() {
    const { state, error, lost_unix_s } = this.source;
    patch(this.top,
      h("nav", { "aria-label": "Pages" }, h("a", { class: "mark", href: address() }, "Headway"),
        state && h("a", { href: address(), "aria-current": current(this.shown, "") }, "Runs"),
        state?.nodes?.length > 0 && h("a", { href: address("nodes"), "aria-current": current(this.shown, "nodes") }, "Nodes")),
      h("div", { class: "connection", role: "status" }, connection(state, lost_unix_s)),
      themeButton());
    document.body.classList.toggle("lost", lost_unix_s !== null);
    if (!state) {
      if (error) patch(this.main, alert(error));
      return;
    }
    if (!this.view) {
      this.open();
      return;
    }
    this.view.update(state);
    document.title = this.view.title ? `${this.view.title} · Headway` : "Headway";
  }
}

function current(shown, view) {
  return shown?.view === view ? "page" : null;
}

function connection(state, lost_unix_s) {
  if (lost_unix_s !== null && state) {
    return h("span", { class: "bad" }, "▲ The driver does not answer since ", clock(lost_unix_s), ". You see what it said last.");
  }
  if (!state) return quiet("connecting");
  if (state.mode === "files") return quiet(explained("read from files", meanings.files));
  return quiet(h("span", { class: "sign good", "aria-hidden": "true" }, "●"), ` live, ${state.driver?.host ?? "driver"}`);
}

new Page();

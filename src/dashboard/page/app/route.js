/** The page's address: #/run/3/metrics?with=1,2 names a view, its object, its tab and its choices. */

export function parse(hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", id = "", tab = ""] = path.split("/").map(decodeURIComponent);
  return { view, id, tab, choices: Object.fromEntries(new URLSearchParams(query ?? "")) };
}

export function address(view = "", id = "", tab = "", choices = {}) {
  const path = [view, id, tab].filter((part) => part !== "").map(encodeURIComponent).join("/");
  const query = new URLSearchParams(choices).toString();
  return `#/${path}${query ? `?${query}` : ""}`;
}

/** Remembers a choice in the address, so that a link or a reload shows the same. */
export function choose(changes) {
  const { view, id, tab, choices } = parse(location.hash);
  const next = { ...choices, ...changes };
  for (const name of Object.keys(next)) if (next[name] === null || next[name] === "") delete next[name];
  history.replaceState(null, "", address(view, id, tab, next));
}

/**
 * Elements from plain calls, and a page that changes only where its data changed.
 *
 * Text becomes text nodes and attributes only: names from runs are data, never markup.
 */

/** Elements with a state of their own (charts, logs): `patch` moves them and never changes them. */
const kept = new WeakSet();

/**
 * Makes an element: h("a", {class: "name", href: "#/", onclick: open}, "text", [more, children]).
 * `style` is an object of properties. Attributes that are null or false are left out.
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) listen(element, name.slice(2), value);
    else if (name === "style") for (const [key, of] of Object.entries(value)) element.style.setProperty(key, of);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...nodes(children));
  return element;
}

/** What is said beside, as a part of a line. */
export const quiet = (...words) => h("span", { class: "quiet" }, ...words);

/** The same as a paragraph. */
export const note = (...words) => h("p", { class: "quiet" }, ...words);

/** What went wrong, if anything did. */
export const alert = (words) => words && h("p", { class: "notice bad", role: "alert" }, words);

export const section = (id, title, ...children) => h("section", { "aria-labelledby": id }, h("h2", { id }, title), ...children);

/** A place for an element that keeps its state, within a tree that is made anew for `patch`. */
export function keep(element) {
  kept.add(element);
  const place = document.createComment("");
  place.keeps = element;
  return place;
}

/** Makes the children of `parent` like `children`, with as few changes as possible. */
export function patch(parent, ...children) {
  const wanted = nodes(children);
  wanted.forEach((next, at) => {
    const now = parent.childNodes[at];
    if (now && now === next.keeps) return;
    if (now && !next.keeps && alike(now, next)) update(now, next);
    else if (now && !kept.has(now)) parent.replaceChild(settled(next), now);
    else parent.insertBefore(settled(next), now ?? null);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

/** A tree that becomes a part of the page: elements that keep their state take their places. */
function settled(tree) {
  if (tree.keeps) return tree.keeps;
  const places = [];
  const walker = document.createTreeWalker(tree, NodeFilter.SHOW_COMMENT);
  while (walker.nextNode()) if (walker.currentNode.keeps) places.push(walker.currentNode);
  for (const place of places) place.replaceWith(place.keeps);
  return tree;
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : document.createTextNode(String(child))));
}

/** One listener for each type, so that `update` can exchange what it calls. */
function listen(element, type, handler) {
  element.handlers ??= {};
  element.handlers[type] = handler;
  element.addEventListener(type, (event) => element.handlers[type]?.(event));
}

function alike(now, next) {
  if (kept.has(now) || now.nodeType !== next.nodeType) return false;
  if (now.nodeType === Node.TEXT_NODE) return true;
  return now.nodeName === next.nodeName && now.getAttribute?.("data-key") === next.getAttribute?.("data-key") &&
    Object.keys(now.handlers ?? {}).join() === Object.keys(next.handlers ?? {}).join();
}

function update(now, next) {
  if (now.nodeType === Node.TEXT_NODE) {
    if (now.data !== next.data) now.data = next.data;
    return;
  }
  // What the reader has opened or closed stays so.
  const readers = (name) => name === "open" && now.nodeName === "DETAILS";
  for (const { name } of [...now.attributes]) if (!next.hasAttribute(name) && !readers(name)) now.removeAttribute(name);
  for (const { name, value } of next.attributes) {
    if (now.getAttribute(name) === value || readers(name)) continue;
    if (name === "style") now.style.cssText = value;
    else now.setAttribute(name, value);
  }
  if (next.handlers) now.handlers = next.handlers;
  patch(now, ...next.childNodes);
}

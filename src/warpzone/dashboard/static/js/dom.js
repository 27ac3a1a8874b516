// Small helpers to build pages. Text always becomes a text node, so nothing from a file can be HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && typeof value !== "string" && element.namespaceURI !== SVG) element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(9)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

export function h(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(SVG, tag), properties, children);
}

export function replace(element, ...children) {
  element.replaceChildren(...children.flat(9).filter((child) => child !== null && child !== undefined && child !== false));
}

// Calls a function now and then again and again, never twice at once, until the returned function is called.
// The function may return the seconds until its next call.
export function repeat(work, seconds) {
  let timer = null;
  let ended = false;
  const turn = async () => {
    const wait = document.hidden && timer !== null ? undefined : await work();
    if (!ended) timer = setTimeout(turn, (wait ?? seconds) * 1000);
  };
  turn();
  return () => {
    ended = true;
    clearTimeout(timer);
  };
}

// Making elements. Text of files is text here, never markup.

/** An element: attributes by name, `on...` as listeners; children are elements or text. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ICONS = {
  play: "M7 4.5v15l12-7.5z",
  pause: "M7 5h3.6v14H7zM13.4 5H17v14h-3.6z",
  loop: "M17 2.5 20.5 6 17 9.5M20.5 6H8a4.5 4.5 0 0 0-4.5 4.5V11M7 21.5 3.5 18 7 14.5M3.5 18H16a4.5 4.5 0 0 0 4.5-4.5V13",
  fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  measure: "M3 16.5 16.5 3 21 7.5 7.5 21zM7 12.5l2 2M10 9.5l3 3M13 6.5l2 2",
  camera: "M4 7.5h3.4L9 5h6l1.600 2.500H20v11.500H4zM12 16.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7z",
  ghost: "M9 3.500h11.500V15M3.500 9H15v11.500H3.500z",
  reset: "M4.500 4v5h5M5 9a8 8 0 1 1-1 5",
  copy: "M9 9h11v11H9zM15 9V4H4v11h5",
  save: "M12 5v14M5 12h14",
  panel: "M4 6h16M4 12h16M4 18h16",
  close: "M6 6l12 12M18 6 6 18",
};

export function icon(name) {
  const filled = name === "play" || name === "pause";
  return svg("svg", { viewBox: "0 0 24 24", class: filled ? "icon filled" : "icon", "aria-hidden": "true" }, svg("path", { d: ICONS[name] }));
}

/** A button with a picture, whose name is read out and shown on hovering. */
export function iconButton(name, label, onclick, attributes = {}) {
  return h("button", { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...attributes }, icon(name));
}

/** A number with so many digits, with a true minus sign, and none before zero. */
export function signed(x, digits) {
  return x.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−");
}

/** A length as people say it. */
export function lengthText(metres) {
  const mm = 1000 * metres;
  if (Math.abs(mm) < 9.95) return `${mm.toFixed(2)} mm`;
  if (Math.abs(mm) < 9999.5) return `${mm.toFixed(Math.abs(mm) < 99.95 ? 1 : 0)} mm`;
  return `${metres.toFixed(2)} m`;
}

// The panel: what is shown, presets, and a row for every number that a joint has.

import { h, iconButton, signed } from "./dom.js";

const DEGREE = Math.PI / 180;
const TOGGLES = [
  ["visual", "Visual"], ["collision", "Collision"], ["skeleton", "Skeleton"], ["loops", "Loops & rods"],
  ["frames", "Frames"], ["axes", "Joint axes"], ["inertia", "Inertia"], ["com", "Centre of mass"],
  ["torques", "Torques"], ["scene", "Scene"], ["ground", "Ground"], ["shadow", "Shadow"],
];

export class Panel {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.rows = [];
  }

  /** Make the panel anew, for the chosen robot. */
  build() {
    const { app } = this;
    const { data } = app.robot;
    this.rows = [];
    this.host.replaceChildren();
    const head = h("header", {},
      app.robots.length > 1
        ? this._select("Robot", app.robots.map((r) => r.data.name), app.chosen, (k) => app.choose(k))
        : h("h1", { text: data.name, title: data.name }),
      iconButton("close", "Close the panel", () => app.togglePanel(false), { class: "icon-button only-small" }));
    this.host.append(head, h("div", { class: "scroll" },
      this._show(), this._configuration(), this._handle(), this._joints(), this._messages()));
    this.refresh(true);
  }

  // --- sections -----------------------------------------------------------------------------------

  _section(title, ...children) {
    return h("section", { class: `${title.split(" ")[0].toLowerCase()}-section` }, h("h2", { text: title }), ...children.filter(Boolean));
  }

  _show() {
    const { app } = this;
    const has = {
      visual: app.robots.some((r) => r.data.parts.some((p) => p.kind === "visual")),
      collision: app.robots.some((r) => r.data.parts.some((p) => p.kind === "collision")),
      loops: app.robots.some((r) => r.data.loops.length),
      scene: Boolean(app.scene),
      inertia: app.robots.some((r) => r.data.masses.some((m) => m.mass > 0)),
    };
    has.com = has.inertia;
    has.torques = app.robots.some((r) => r.canTorques);
    this.chips = {};
    const chips = TOGGLES.filter(([name]) => has[name] !== false).map(([name, label]) => {
      const chip = h("button", { type: "button", class: "chip", "aria-pressed": String(app.shown.has(name)), onclick: () => app.toggle(name), text: label });
      this.chips[name] = chip;
      return chip;
    });
    return this._section("Show", h("div", { class: "chips" }, ...chips));
  }

  refreshChips() {
    for (const [name, chip] of Object.entries(this.chips)) chip.setAttribute("aria-pressed", String(this.app.shown.has(name)));
  }

  _configuration() {
    const { app } = this;
    this.preset = h("select", { "aria-label": "Preset configuration", onchange: () => app.usePreset(this.preset.value) });
    this._fillPresets();
    return this._section("Configuration",
      h("div", { class: "line" }, this.preset,
        iconButton("save", "Keep this configuration as a preset", () => app.savePreset()),
        iconButton("reset", "Back to the first configuration", () => app.reset())),
      h("div", { class: "line even" },
        this._button("Copy as array", () => app.copy("array"), "Python: q = np.array([...]), in the order of q"),
        this._button("Copy by name", () => app.copy("names"), "Python: q = {joint: value}")),
      h("div", { class: "line even" },
        this._button("Keep as ghost", () => app.keepGhost(), "Show this configuration pale while the robot moves on"),
        (this.clearGhost = this._button("Clear ghost", () => app.clearGhost()))),
    );
  }

  _fillPresets() {
    const names = Object.keys(this.app.presets());
    this.preset.replaceChildren(h("option", { value: "", text: "Preset …" }), ...names.map((name) => h("option", { value: name, text: name })));
  }

  _joints() {
    const { app } = this;
    const { joints } = app.robot.data;
    const units = h("div", { class: "segmented", role: "group", "aria-label": "Units" },
      ...[["deg", "° mm"], ["rad", "rad m"]].map(([unit, label]) =>
        h("button", { type: "button", "aria-pressed": String(app.units === unit), text: label, title: unit === "deg" ? "Degrees and millimetres" : "Radians and metres",
          onclick: (event) => {
            app.units = unit;
            for (const b of event.target.parentNode.children) b.setAttribute("aria-pressed", String(b === event.target));
            this.refresh(true);
          } })));
    const ignore = h("label", { class: "switch" },
      h("input", { type: "checkbox", role: "switch", onchange: (event) => app.setIgnoreLimits(event.target.checked) }), h("span", { text: "Ignore limits" }));
    ignore.firstChild.checked = app.ignoreLimits;
    // Of a closed robot what is driven comes first; what only follows is there to be opened
    this.list = h("div", { class: "joints" });
    const passive = h("div", { class: "joints" });
    const driven = (joint) => joint.actuated && !joint.coupled;
    const apart = app.robot.closed && joints.some(driven) && !joints.every(driven);
    joints.forEach((joint, index) => (apart && !driven(joint) ? passive : this.list).append(this._joint(joint, index)));
    this.passive = apart ? h("details", { class: "passive", open: passive.children.length <= 4 },
      h("summary", { text: `${passive.children.length} that follow` }), passive) : null;
    const empty = joints.length ? null : h("p", { class: "quiet", text: "Nothing moves: the robot has no joints that turn or slide." });
    return this._section("Joints", h("div", { class: "line spread" }, units, ignore), this.list, this.passive, empty);
  }

  _joint(joint, index) {
    const block = h("div", {
      class: joint.coupled ? "joint coupled" : "joint", "data-joint": joint.name,
      onpointerenter: () => this.app.attend(index, "panel"), onpointerleave: () => this.app.attend(-1, "panel"),
    });
    const parts = components(joint);
    const note = joint.coupled
      ? `follows ${joint.leaders.join(", ")}`
      : "";
    parts.forEach((component, part) => block.append(this._row(joint, index, component, part, parts.length, note)));
    return block;
  }

  _row(joint, index, component, part, n, note) {
    const title = n === 1 ? joint.name : `${joint.name} ${component.name}`;
    const row = { joint, index, component, part, title };
    const change = (value) => this._set(row, value);
    row.number = h("input", {
      type: "text", inputmode: "decimal", "aria-label": `${title}, value`, spellcheck: "false", autocomplete: "off", readonly: joint.coupled,
      onchange: () => {
        const value = parseFloat(row.number.value.replace(",", ".").replace("−", "-"));
        if (Number.isFinite(value)) change(value / this._factor(component));
        else this.refresh(true);
      },
      onkeydown: (event) => {
        const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
        if (!step || joint.coupled) return;
        event.preventDefault();
        change(this._value(row) + (step * (event.shiftKey ? 10 : 1) * (component.angle ? DEGREE : 0.001)));
      },
    });
    row.slider = h("input", {
      type: "range", min: 0, max: 1, step: "any", "aria-label": title, disabled: joint.coupled,
      oninput: () => change(parseFloat(row.slider.value)),
    });
    row.low = h("span", { class: "limit" });
    row.high = h("span", { class: "limit" });
    row.unit = h("span", { class: "unit" });
    row.element = h("div", { class: "row" },
      h("span", { class: "name", text: title, title }), (row.note = h("span", { class: "note", text: part ? "" : note, title: note || null })),
      h("span", { class: "value" }, row.number, row.unit), h("div", { class: "track" }, row.low, row.slider, row.high));
    this.rows.push(row);
    return row.element;
  }

  _handle() {
    const { app } = this;
    const { data } = app.robot;
    const list = h("datalist", { id: "frames" }, ...data.frames.map((name) => h("option", { value: name })));
    this.frame = h("input", {
      type: "text", list: "frames", placeholder: "Frame …", "aria-label": "Frame with a handle", autocomplete: "off", spellcheck: "false",
      oninput: () => { if (data.frames.includes(this.frame.value)) app.tools.grab(this.frame.value); },
      onchange: () => app.tools.grab(this.frame.value),
    });
    this.modes = ["translate", "rotate"].map((mode) =>
      h("button", { type: "button", "aria-pressed": String(app.tools.mode === mode), text: mode === "translate" ? "Move" : "Turn",
        onclick: () => app.tools.setMode(mode), "data-mode": mode }));
    const keep = h("label", { class: "switch", title: "Off: only the place is aimed at, the frame may turn" },
      h("input", { type: "checkbox", role: "switch", onchange: (event) => app.tools.setPositionOnly(!event.target.checked) }), h("span", { text: "Keep orientation" }));
    keep.firstChild.checked = !app.tools.positionOnly;
    const tip = data.frames[data.tip ?? data.frames.length - 1];
    return this._section("Drag a frame",
      h("div", { class: "line" }, this.frame, list,
        this._button("Tip", () => { this.frame.value = tip; app.tools.grab(tip); }, `Take the handle to ${tip}`),
        iconButton("close", "Put the handle away", () => { this.frame.value = ""; app.tools.release(); })),
      h("div", { class: "line spread" }, h("div", { class: "segmented", role: "group", "aria-label": "Handle" }, ...this.modes), keep));
  }

  _messages() {
    const { messages } = this.app.robot.data;
    const notes = [...messages];
    if (!this.app.robot.data.parts.length) notes.unshift("The robot has no shapes: its skeleton is shown.");
    if (!notes.length) return null;
    return h("section", { class: "messages" },
      h("details", notes.length === 1 ? { open: true } : {}, h("summary", { text: notes.length === 1 ? "One note" : `${notes.length} notes` }),
        h("ul", {}, ...notes.map((text) => h("li", { text })))));
  }

  _button(text, onclick, title) {
    return h("button", { type: "button", class: "button", text, onclick, title });
  }

  _select(label, names, chosen, onchange) {
    const select = h("select", { "aria-label": label, class: "title", onchange: () => onchange(select.selectedIndex) },
      ...names.map((text) => h("option", { text })));
    select.selectedIndex = chosen;
    return select;
  }

  // --- values -------------------------------------------------------------------------------------

  _factor(component) {
    if (this.app.units === "rad") return 1;
    return component.angle ? 1 / DEGREE : 1000;
  }

  _value(row) {
    return row.component.read(this.app.robot.positions[row.index]);
  }

  _set(row, value) {
    const values = row.component.write(this.app.robot.positions[row.index].slice(), value);
    this.app.setJoint(row.index, values);
  }

  _text(component, value) {
    const shown = value * this._factor(component);
    const digits = this.app.units === "rad" ? (component.angle ? 3 : 4) : 1;
    return signed(shown, digits);
  }

  /** Bring every row up to date; `all` also those that are being written in. */
  refresh(all = false) {
    const { app } = this;
    if (this.clearGhost) this.clearGhost.disabled = !app.robot.view.ghost;
    for (const row of this.rows) {
      const { component, joint } = row;
      const value = this._value(row);
      const [lower, upper] = limitsOf(joint, row.part);
      if (all) this._range(row, lower, upper);
      if (value < row.from || value > row.to) this._range(row, lower, upper, value);
      if (document.activeElement !== row.slider || all || row.joint.coupled || Math.abs(row.slider.value - value) > 1e-9) row.slider.value = value;
      const share = (x) => (100 * (x - row.from)) / (row.to - row.from);
      row.slider.style.setProperty("--at", `${share(value)}%`);
      if (all || document.activeElement !== row.number || app.moving) row.number.value = this._text(component, value);
      const tight = 1e-6 * Math.max(1, Math.abs(lower) < 1e9 ? Math.abs(lower) : 1);
      const atLimit = (value <= lower + tight || value >= upper - tight) && upper > lower;
      const beyond = value < lower - tight || value > upper + tight;
      row.element.classList.toggle("at-limit", atLimit);
      row.element.classList.toggle("beyond", beyond);
      if (all) row.unit.textContent = app.units === "rad" ? (component.angle ? "rad" : "m") : component.angle ? "°" : "mm";
    }
  }

  _range(row, lower, upper, value = null) {
    const { component } = row;
    const none = component.angle ? Math.PI : Math.max(0.5, 2 * this.app.robot.view.extent);
    let from = Number.isFinite(lower) ? lower : -none, to = Number.isFinite(upper) ? upper : none;
    if (this.app.ignoreLimits) {
      const more = component.angle ? Math.max(0, Math.min(Math.PI, 2 * Math.PI - to)) : 0.5 * (to - from) || none;
      [from, to] = [from - more, to + more];
    }
    if (value !== null) [from, to] = [Math.min(from, value), Math.max(to, value)];
    if (!(to > from)) [from, to] = [from - 1e-6, to + 1e-6];
    Object.assign(row, { from, to });
    row.slider.min = from;
    row.slider.max = to;
    const share = (x) => `${Math.min(100, Math.max(0, (100 * (x - from)) / (to - from)))}%`;
    row.slider.style.setProperty("--low", Number.isFinite(lower) ? share(lower) : "0%");
    row.slider.style.setProperty("--high", Number.isFinite(upper) ? share(upper) : "100%");
    row.slider.style.setProperty("--zero", share(0));
    row.low.textContent = Number.isFinite(lower) ? this._text(component, lower) : "∞";
    row.high.textContent = Number.isFinite(upper) ? this._text(component, upper) : "∞";
    row.low.classList.toggle("none", !Number.isFinite(lower));
    row.high.classList.toggle("none", !Number.isFinite(upper));
  }

  /** Press the button of what the handle does. */
  markMode(mode) {
    for (const button of this.modes) button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }

  /** Write torques beside the names of joints; null takes them away. */
  note(values) {
    for (const row of this.rows) {
      if (row.joint.coupled || row.part) continue;
      const value = values?.[row.index];
      const unit = row.joint.type === "prismatic" ? "N" : "N m";
      row.note.textContent = value === null || value === undefined ? "" : `${signed(value, 2)} ${unit}`;
    }
  }

  /** Mark the rows of a joint (-1: none) as the ones that are looked at. */
  mark(joint, scroll) {
    for (const row of this.rows) {
      const on = row.index === joint;
      row.element.parentNode.classList.toggle("hot", on);
      if (on && scroll && row.part === 0) row.element.parentNode.scrollIntoView({ block: "nearest" });
    }
  }
}

/** The limits of a row: none of what is shown as angles of a quaternion. */
function limitsOf(joint, part) {
  const plain = joint.lower && joint.type !== "spherical" && !(joint.type === "floating" && part >= 3);
  const bound = (x, none) => (x === null || x === undefined ? none : x);
  return plain ? [bound(joint.lower[part], -Infinity), bound(joint.upper[part], Infinity)] : [-Infinity, Infinity];
}

/** The numbers that a joint is moved by: names, and how they are read from its part of q and written. */
export function components(joint) {
  const plain = (name, angle, k) => ({
    name, angle,
    read: (values) => values[k],
    write: (values, value) => { values[k] = value; return values; },
  });
  const turn = (name, k, start) => ({
    name, angle: true,
    read: (values) => anglesOf(values.slice(start, start + 4))[k],
    write: (values, value) => {
      const angles = anglesOf(values.slice(start, start + 4));
      angles[k] = value;
      quaternionOf(angles).forEach((x, i) => { values[start + i] = x; });
      return values;
    },
  });
  const turns = (start) => ["roll", "pitch", "yaw"].map((name, k) => turn(name, k, start));
  if (joint.type === "prismatic") return [plain("", false, 0)];
  if (joint.type === "planar") return [plain("x", false, 0), plain("y", false, 1), plain("θ", true, 2)];
  if (joint.type === "floating") return [..."xyz"].map((name, k) => plain(name, false, k)).concat(turns(3));
  if (joint.type === "spherical") return turns(0);
  return [plain("", true, 0)];
}

/** Roll, pitch and yaw of a quaternion wxyz. */
function anglesOf([w, x, y, z]) {
  const s = Math.max(-1, Math.min(1, 2 * (w * y - z * x)));
  return [
    Math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
    Math.asin(s),
    Math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
  ];
}

function quaternionOf([roll, pitch, yaw]) {
  const [cr, sr] = [Math.cos(roll / 2), Math.sin(roll / 2)];
  const [cp, sp] = [Math.cos(pitch / 2), Math.sin(pitch / 2)];
  const [cy, sy] = [Math.cos(yaw / 2), Math.sin(yaw / 2)];
  return [
    cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
    cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy,
  ];
}

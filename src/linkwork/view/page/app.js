// The page: it reads its data, puts robots on the stage, and keeps view, panel and tools together.
//
// For tests and for pages that embed this one, `window.linkwork` holds
//   ready    whether the first frame has been drawn
//   errors   what went wrong, as text
//   robots   one for each: name, kinematics, q, setQ(q), setJoint(name or index, values),
//            framePose(name): 12 numbers in the robot's base
//   app      what is below

import { Compass } from "./compass.js";
import { h, iconButton, signed } from "./dom.js";
import { RobotKinematics } from "./kinematics.js";
import { Channel } from "./live.js";
import { MotionBar } from "./motion.js";
import { Panel } from "./panel.js";
import { record, recordingFailed } from "./record.js";
import { heat, MARK, RobotOnStage, surface } from "./robot.js";
import { bytesOf, decoded, matrixFrom, merged, shaded } from "./shapes.js";
import { Stage } from "./stage.js";
import { Tools } from "./tools.js";

const SMALL = matchMedia("(max-width: 760px)");
const FIRST_DIRECTION = [0.84, -1.0, 0.5];
const FIRST_SHOWN = ["visual", "loops", "ground", "shadow", "scene"];

class App {
  constructor(page, kinematics) {
    this.page = page;
    this.units = page.options.units;
    this.ignoreLimits = false;
    this.chosen = 0;
    this.ownPresets = {};
    this.host = document.getElementById("stage");
    this.stage = new Stage(this.host, { smooth: page.record?.smooth });
    this.stage.prepare(new THREE.Mesh(merged([]), surface()));
    this._overlay();
    const bytes = bytesOf(page.binary);
    this.robots = page.robots.map((data, k) => this._robot(data, kinematics[k], bytes));
    this.sceneMeshes = [];
    this.shown = new Set(page.options.show ?? FIRST_SHOWN);
    if (!page.options.show && this.robots.every((r) => !r.view.hasShapes || !r.data.parts.some((p) => p.kind === "visual")))
      this.shown.add(this.robots.some((r) => r.data.parts.length) ? "collision" : "skeleton");
    this.robots.forEach((robot) => {
      robot.view.show(this.shown);
      robot.view.moveTo(robot.q);
      if (robot.data.ghost) robot.view.setGhost(robot.data.ghost);
    });
    this.setScene(page.scene, null, bytes);
    this.trajectory = page.trajectory;
    this._fit();
    this._camera(page.options.camera);
    this._stageShows();
    this._themes();
    this.tools = new Tools(this);
    this.tools.positionOnly = this._fewWays();
    this.motion = new MotionBar(this.host, this);
    this.panel = new Panel(document.getElementById("panel"), this);
    this.panel.build();
    this.motion.offer();
    this._refreshLegend();
    this.setTouches(page.touches);
    this._keys();
    this.stage.beforeFrame.push(() => this._refresh());
    this.togglePanel(!SMALL.matches);
    if (page.live && !page.record) this.channel = new Channel(page.live, this);
  }

  get robot() {
    return this.robots[this.chosen];
  }

  // --- configurations -----------------------------------------------------------------------------

  /** Show a robot at q; `source` says who asks, so that Python is not told what it said. */
  moved(robot, q, source = "user") {
    robot.q = Float64Array.from(q);
    robot.view.moveTo(robot.q);
    robot.positions = robot.kinematics.positions(robot.q).map((values) => Array.from(values));
    this.moving = source === "motion" || source === "python";
    this._stale = true;
    if (source !== "python") this.channel?.send(this.robots.indexOf(robot), robot.q, this.motion?.instant ?? null);
  }

  /** Move one joint of the chosen robot: what hangs on it by loops and couplings follows. */
  setJoint(index, values) {
    this.stopMotion();
    const { robot } = this;
    const made = robot.kinematics.setJoint(robot.q, index, values, { ignoreLimits: this.ignoreLimits });
    this.moved(robot, made.q);
    this.say(made.success ? "" : made.reason ?? "", "far");
  }

  setIgnoreLimits(on) {
    this.ignoreLimits = on;
    this.panel.refresh(true);
  }

  presets() {
    return { neutral: this.robot.data.neutral, ...this.robot.data.presets, ...this.ownPresets[this.chosen] };
  }

  usePreset(name) {
    const q = this.presets()[name];
    if (!q) return;
    this.stopMotion();
    this.moved(this.robot, q);
    this.say("");
  }

  savePreset() {
    const own = (this.ownPresets[this.chosen] ??= {});
    const name = `saved ${Object.keys(own).length + 1}`;
    own[name] = Array.from(this.robot.q);
    this.panel.build();
    this.panel.preset.value = name;
    this.say(`Kept as preset “${name}”.`);
  }

  reset() {
    this.stopMotion();
    this.tools.release();
    this.moved(this.robot, this.robot.data.q);
    this.say("");
  }

  /** The configuration as Python, to the clipboard. */
  async copy(how) {
    const text = this.code(how);
    try {
      await navigator.clipboard.writeText(text);
      this.say(`Copied: ${text.length > 90 ? `${text.slice(0, 88)} …` : text}`);
    } catch {
      this._showText(text);
    }
    return text;
  }

  code(how) {
    const { data, q } = this.robot;
    const number = (x) => String(+x.toFixed(6)).replace(/^-0$/, "0");
    if (how === "array") return `q = np.array([${Array.from(q, number).join(", ")}])`;
    const pairs = data.joints.filter((joint) => joint.q).map((joint) => {
      const values = Array.from(q.slice(joint.q[0], joint.q[0] + joint.q[1]), number);
      return `${JSON.stringify(joint.name)}: ${values.length === 1 ? values[0] : `[${values.join(", ")}]`}`;
    });
    return `q = {${pairs.join(", ")}}`;
  }

  _showText(text) {
    const area = h("textarea", { readonly: true, rows: 4, "aria-label": "Configuration as Python" });
    area.value = text;
    const dialog = h("dialog", {}, h("p", { text: "The clipboard is not available here: copy this by hand." }), area,
      h("form", { method: "dialog" }, h("button", { class: "button", text: "Close" })));
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    area.select();
  }

  keepGhost() {
    this.setGhost(this.robot, this.robot.q);
  }

  clearGhost() {
    this.setGhost(this.robot, null);
  }

  setGhost(robot, q) {
    robot.view.setGhost(q ? Float64Array.from(q) : null);
    this._stale = true;
    this.stage.changed();
  }

  choose(index) {
    this.attend(-1, "panel");
    this.tools.release();
    this.chosen = index;
    this.tools.positionOnly = this._fewWays();
    this.panel.build();
    this.motion.offer();
    this._refreshLegend();
    this.stage.changed();
  }

  // --- motion -------------------------------------------------------------------------------------

  setTrajectory(message) {
    this.trajectory = { robot: 0, ...message };
    this.motion.offer();
    this.motion.play();
  }

  stopMotion() {
    if (this.motion.playing) this.motion.pause();
  }

  // --- what is shown ------------------------------------------------------------------------------

  toggle(name, on = !this.shown.has(name)) {
    if (on) this.shown.add(name);
    else this.shown.delete(name);
    this.robots.forEach((robot) => robot.view.show(this.shown));
    this._stageShows();
    this._refreshLegend();
    this.panel.refreshChips();
  }

  _stageShows() {
    const { stage, shown } = this;
    stage.grid.visible = shown.has("ground");
    stage.shadow.visible = shown.has("shadow");
    for (const mesh of this.sceneMeshes) mesh.visible = shown.has("scene");
    stage.changed();
  }

  setScene(scene, binary, bytes = null) {
    this.scene = scene;
    for (const mesh of this.sceneMeshes) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
    }
    const data = bytes ?? bytesOf(binary);
    this.sceneMeshes = (scene?.objects ?? []).map((object) => {
      const raw = decoded(scene.geometries[object.geometry], data);
      const rgba = object.rgba ?? [0.72, 0.70, 0.66, 1];
      const material = new THREE.MeshStandardMaterial({
        vertexColors: true, roughness: 0.85, side: THREE.DoubleSide, transparent: rgba[3] < 1, opacity: rgba[3],
      });
      const mesh = new THREE.Mesh(merged([{ shape: shaded(raw), T: object.T, rgba }]), material);
      mesh.matrixAutoUpdate = false;
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.userData = { sceneName: object.name };
      this.stage.world.add(mesh);
      return mesh;
    });
    if (this.trajectory) this.trajectory.objects = {}; // they were those of the scene before
    this._paintScene();
    if (this.panel) {
      this.panel.build();
      this._stageShows();
    }
  }

  /** Displace objects of the scene, by name, by 12 numbers each; the others stand as they are described. */
  placeObjects(displacements) {
    for (const mesh of this.sceneMeshes) {
      const numbers = displacements[mesh.userData.sceneName];
      if (numbers) matrixFrom(numbers, 0, mesh.matrix);
      else mesh.matrix.identity();
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  /** Say what touches, as Python has found it, and paint it; without pairs that is over. */
  setTouches(told) {
    const pairs = told?.pairs ?? [];
    const names = new Set(pairs.flatMap(([a, b]) => [a, b]));
    this.robots[told?.robot ?? 0].view.paintTouching(names);
    this._touching = names;
    this._paintScene();
    const more = (told?.count ?? 0) - 3;
    this.touches.textContent = pairs.slice(0, 3).map(([a, b, depth]) => `${a} touches ${b}, ${millimetres(depth)} deep`)
      .concat(more > 0 ? [`and ${more} more`] : []).join("; ");
    this.touches.hidden = !pairs.length;
  }

  _paintScene() {
    for (const mesh of this.sceneMeshes) {
      const on = this._touching?.has(mesh.userData.sceneName) ?? false;
      mesh.material.emissive.setHex(on ? MARK.touch : 0);
      mesh.material.emissiveIntensity = on ? 0.35 : 0;
    }
    this.stage.changed(false);
  }

  // --- attention ----------------------------------------------------------------------------------

  /** Light up a joint (-1: none): in the view and in the panel. */
  attend(joint, from) {
    if (this._attended === joint && this._from === from) return;
    this._attended = joint;
    this._from = from;
    this.robot.view.highlight(joint, joint >= 0 && (from === "panel" || this.robot.view.shown.has("axes")));
    this.panel.mark(joint, from === "view" && !SMALL.matches);
  }

  /** A sentence at the foot of the view; "" takes it away. */
  say(text, kind = "") {
    if (this.sentence.textContent !== text) this.sentence.textContent = text;
    this.sentence.className = `sentence ${kind}`;
    this.sentence.hidden = !text;
  }

  setChannelState(kind, text) {
    this.channelState.className = `channel ${kind}`;
    this.channelState.textContent = text;
    this.channelState.hidden = kind === "live" && this._wasLive === undefined;
    if (kind === "live") setTimeout(() => { this.channelState.hidden = true; }, 2500);
    this._wasLive = kind;
    if (kind === "lost") this.setTouches(null); // nobody looks any more
  }

  togglePanel(open = document.body.classList.contains("closed")) {
    document.body.classList.toggle("closed", !open);
    this.panelButton.setAttribute("aria-expanded", String(open));
    if (SMALL.matches) this.stage.resized(() => this.stage.lookAtAll()); // the view has another shape
  }

  async screenshot() {
    const blob = await this.stage.picture();
    const link = h("a", { href: URL.createObjectURL(blob), download: `${this.robot.data.name.replace(/[^\w.-]+/g, "_") || "robot"}.png` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  // --- making it ----------------------------------------------------------------------------------

  _robot(data, kinematics, bytes) {
    const own = new RobotKinematics({ ...data, kinematics });
    const robot = {
      data, kinematics: own, q: Float64Array.from(data.q),
      closed: data.loops.length > 0 || data.joints.some((joint) => joint.coupled && joint.q),
      view: null,
    };
    robot.positions = own.positions(robot.q).map((values) => Array.from(values));
    robot.view = new RobotOnStage(data, own, this.stage, bytes);
    robot.canTorques = data.masses.some((m) => m.mass > 0) && computes(() => own.gravityTorques(robot.q));
    return robot;
  }

  /** Whether the chosen robot has too few joints to be put anywhere in any orientation. */
  _fewWays() {
    const { data, closed } = this.robot;
    const driven = data.joints.filter((joint) => joint.v && !joint.coupled && (!closed || joint.actuated));
    return driven.reduce((sum, joint) => sum + joint.v[1], 0) < 6;
  }

  _overlay() {
    this.sentence = h("div", { class: "sentence", role: "status", "aria-live": "polite", hidden: true });
    this.channelState = h("div", { class: "channel", role: "status", hidden: true });
    this.touches = h("div", { class: "touches", role: "status", "aria-live": "polite", hidden: true });
    this.legend = h("div", { id: "legend", hidden: true });
    this.measureButton = iconButton("measure", "Measure between two points (m)", () => this.tools.measure(!this.tools.measuring), { "aria-pressed": "false" });
    this.panelButton = iconButton("panel", "Panel (p)", () => this.togglePanel(), { "aria-controls": "panel" });
    this.compass = new Compass(this.stage, (direction) => this.showAll(direction));
    this.host.append(
      h("div", { id: "tools", role: "toolbar", "aria-label": "View" },
        iconButton("fit", "Show the whole robot (f)", () => this.showAll()), this.measureButton,
        iconButton("camera", "Save a picture (PNG)", () => this.screenshot()), this.panelButton),
      this.legend, this.compass.element, this.channelState, this.touches, this.sentence);
  }

  showAll(direction = null) {
    this._fit();
    this.stage.lookAtAll(direction);
  }

  _fit() {
    const box = new THREE.Box3();
    for (const robot of this.robots) box.union(robot.view.box());
    const most = 3 * box.getSize(new THREE.Vector3()).length();
    for (const mesh of this.sceneMeshes) { // a floor or a wall would make the robot small
      const around = new THREE.Box3().setFromObject(mesh);
      if (mesh.visible && around.getSize(new THREE.Vector3()).length() < most) box.union(around);
    }
    this.stage.fit(box);
    this.stage.shadowsOf(this.box());
  }

  /** The box of all that casts shadows now. */
  box() {
    const box = new THREE.Box3();
    for (const robot of this.robots) box.union(robot.view.box());
    for (const mesh of this.sceneMeshes) if (mesh.visible) box.expandByObject(mesh);
    return box;
  }

  _camera(camera) {
    this.stage.lookAtAll(FIRST_DIRECTION);
    if (camera) this.stage.look(camera);
  }

  _themes() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const dress = () => {
      const style = getComputedStyle(document.documentElement);
      this.stage.dress((name) => style.getPropertyValue(name).trim());
    };
    dark.addEventListener("change", dress);
    dress();
  }

  _keys() {
    addEventListener("keydown", (event) => {
      if (event.target.closest?.("input:not([type=range]), textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey) {
        if (event.key === "Escape") event.target.blur();
        return;
      }
      const actions = {
        " ": () => this.motion.toggle(),
        Escape: () => {
          if (this.tools.measuring) this.tools.measure(false);
          else this.tools.release();
          this.say("");
        },
        f: () => this.showAll(),
        m: () => this.tools.measure(!this.tools.measuring),
        p: () => this.togglePanel(),
        t: () => this.tools.setMode("translate"),
        r: () => this.tools.setMode("rotate"),
      };
      const act = actions[event.key];
      if (!act || (event.key === " " && event.target.closest?.("button"))) return;
      event.preventDefault();
      act();
    });
  }

  onMeasuring(on) {
    this.measureButton.setAttribute("aria-pressed", String(on));
    this.host.classList.toggle("measuring", on);
  }

  _refresh() {
    for (const robot of this.robots) robot.view.refresh();
    if (!this._stale) return;
    this._stale = false;
    this.stage.shadowsOf(this.box());
    this.panel.refresh();
    if (this.shown.has("torques")) this._refreshLegend();
  }

  _refreshLegend() {
    const on = this.shown.has("torques") && this.robot.canTorques;
    this.legend.hidden = !on;
    if (!on) return this.panel.note(null);
    const { values, shares, known, largest } = this.robot.view.torques();
    this.panel.note(values);
    const worst = shares.reduce((best, share, k) => ((share ?? -1) > (shares[best] ?? -1) ? k : best), 0);
    const joint = this.robot.data.joints[worst];
    const unit = joint.type === "prismatic" ? "N" : "N m";
    if (!this.legend.firstChild)
      this.legend.append(h("div", { class: "legend-title" }), h("div", { class: "bar" }), h("div", { class: "ends" }, h("span", { text: "0" }), h("span")), h("div", { class: "quiet" }));
    const [title, bar, ends, note] = this.legend.children;
    title.textContent = "Torque under gravity";
    bar.style.background = `linear-gradient(90deg, ${[0, 0.2, 0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 1].map((s) => `#${heat(s).toString(16).padStart(6, "0")}`).join(", ")})`;
    ends.lastChild.textContent = known ? "effort limit" : `${largest.toPrecision(3)} ${unit}`;
    note.textContent = values[worst] === null ? "" : `${joint.name}: ${signed(values[worst], 2)} ${unit}${known ? ` (${Math.round(100 * shares[worst])} %)` : ""}`;
  }
}

function millimetres(metres) {
  const value = 1000 * metres;
  return `${value >= 0.1 || value === 0 ? value.toFixed(1) : value.toPrecision(1)} mm`;
}

function computes(call) {
  try {
    return Array.from(call()).every(Number.isFinite);
  } catch {
    return false;
  }
}

/** Begin: `kinematics` has one function for each robot of the page. */
export function start(kinematics) {
  const outside = { ready: false, errors: [], robots: [], app: null };
  window.linkwork = outside;
  addEventListener("error", (event) => outside.errors.push(String(event.message)));
  addEventListener("unhandledrejection", (event) => outside.errors.push(String(event.reason)));
  const page = JSON.parse(document.getElementById("data").textContent);
  if (page.record) document.body.classList.add("recording");
  document.getElementById("data").textContent = ""; // the text is not needed any more
  try {
    const app = new App(page, kinematics);
    outside.app = app;
    outside.robots = app.robots.map((robot) => ({
      name: robot.data.name,
      kinematics: robot.kinematics,
      get q() { return Array.from(robot.q); },
      setQ: (q) => app.moved(robot, q),
      setJoint: (joint, values) => {
        const index = typeof joint === "string" ? robot.data.joints.findIndex((each) => each.name === joint) : joint;
        const made = robot.kinematics.setJoint(robot.q, index, [values].flat(), { ignoreLimits: app.ignoreLimits });
        app.moved(robot, made.q);
        return made;
      },
      framePose: (name) => {
        const k = 12 * robot.data.frames.indexOf(name);
        return Array.from(robot.view.poses.slice(k, k + 12));
      },
    }));
    if (page.record) record(app, page.record, page.live);
    else app.stage.frame();
    performance.mark("linkwork-first-frame");
    outside.ready = true;
  } catch (error) {
    outside.errors.push(String(error?.stack ?? error));
    if (page.record) recordingFailed(page.live, error);
    const webgl = /WebGL/i.test(String(error));
    document.getElementById("stage").append(h("p", { class: "failure", text: webgl
      ? "The robot cannot be drawn: this browser has no WebGL, or it is turned off."
      : `The page could not be started: ${error?.message ?? error}` }));
    throw error;
  }
}

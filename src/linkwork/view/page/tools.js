// What the pointer does in the view: hovering, dragging links and frames, measuring.

import { h, lengthText, signed } from "./dom.js";
import { AXES } from "./robot.js";
import { matrixFrom, numbersOf } from "./shapes.js";

const REACHED = 1e-4; // m, rad: nearer than this is said to be there
const ITERATIONS = 12;

export class Tools {
  constructor(app) {
    this.app = app;
    this.stage = app.stage;
    this.mode = "translate";
    this.positionOnly = false;
    this.measuring = false;
    this.points = [];
    this.label = h("div", { class: "label", hidden: true });
    this.distance = h("div", { class: "label measure", hidden: true });
    this.stage.host.append(this.label, this.distance);
    this._measureMarks();
    const { canvas } = this.stage;
    canvas.addEventListener("pointermove", (event) => this._moved(event));
    canvas.addEventListener("pointerleave", () => this._leave());
    canvas.addEventListener("pointerdown", (event) => this._down(event), { capture: true });
    canvas.addEventListener("pointerup", (event) => this._up(event), { capture: true });
    canvas.addEventListener("pointercancel", () => this._endLink(), { capture: true });
    this.stage.beforeFrame.push(() => this._beforeFrame());
  }

  // --- what is under the pointer ------------------------------------------------------------------

  /** The nearest thing under a pointer event: {robot, link, frame, name, point} or null. */
  pick(event) {
    const ray = this.stage.ray(event);
    const { robots, sceneMeshes, shown } = this.app;
    const marks = robots.flatMap((robot) => robot.view.framePickable);
    const bodies = robots.flatMap((robot) => robot.view.pickable);
    if (shown.has("scene")) bodies.push(...sceneMeshes);
    for (const things of [marks, bodies]) {
      const hit = things.length ? ray.intersectObjects(things, false)[0] : null;
      if (!hit) continue;
      const { userData } = hit.object;
      if (userData.sceneName !== undefined) return { name: userData.sceneName, point: hit.point };
      const robot = robots.find((each) => each.view === userData.robot);
      const link = userData.link ?? userData.links[hit.instanceId];
      const frame = userData.frames?.[hit.instanceId];
      const name = frame !== undefined ? robot.data.frames[frame] : userData.held ?? robot.data.links[link];
      return { robot, link, frame, name, point: hit.point };
    }
    return null;
  }

  _moved(event) {
    if (this._link) return void (this._link.event = event, this.stage.changed(false));
    if (event.buttons || this.controls?.dragging) return this._leave();
    this._hovering = event;
    this.stage.changed(false);
  }

  _leave() {
    this._hovering = null;
    if (!this.label.hidden) this.label.hidden = true;
    this.stage.canvas.style.cursor = this.measuring ? "crosshair" : "";
    this.app.attend(-1, "view");
  }

  _hover() {
    const event = this._hovering;
    this._hovering = null;
    if (this.controls?.axis) return void (this.label.hidden = true);
    const found = this.pick(event);
    const joint = found?.robot === this.app.robot && found ? this.app.robot.data.link_joint[found.link] : -1;
    this.app.attend(joint, "view");
    const movable = joint >= 0;
    this.stage.canvas.style.cursor = this.measuring ? "crosshair" : movable ? "grab" : "";
    this.label.hidden = !found;
    if (!found) return;
    const name = joint >= 0 ? this.app.robot.data.joints[joint].name : null;
    this.label.replaceChildren(h("b", { text: found.name }), name && name !== found.name ? h("span", { text: name }) : "");
    this._putLabel(this.label, event);
  }

  _putLabel(label, event) {
    const box = this.stage.canvas.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    const right = x > box.width - 220;
    label.style.transform = `translate(${x + (right ? -14 : 14)}px, ${Math.max(y - 12, 6)}px) translate(${right ? "-100%" : "0"}, -100%)`;
  }

  // --- dragging a link turns its joint ------------------------------------------------------------

  _down(event) {
    if (event.button !== 0 || this.controls?.axis) return;
    this._pressed = { x: event.clientX, y: event.clientY };
    if (this.measuring || event.pointerType === "touch" || event.shiftKey) return;
    const found = this.pick(event);
    if (!found?.robot || found.robot !== this.app.robot) return;
    const joint = this._drivenBy(found.robot.data.link_joint[found.link]);
    if (joint < 0) return;
    const world = found.robot.view.links[found.link].matrixWorld;
    this._link = { joint, link: found.link, at: found.point.clone().applyMatrix4(world.clone().invert()), event };
    this.stage.orbit.enabled = false;
    this.stage.canvas.style.cursor = "grabbing";
    this.stage.canvas.setPointerCapture(event.pointerId);
    this.app.stopMotion();
  }

  _up(event) {
    const still = this._pressed && Math.hypot(event.clientX - this._pressed.x, event.clientY - this._pressed.y) < 5;
    this._pressed = null;
    this._endLink();
    if (!still || event.button !== 0) return;
    if (this.measuring) this._measureAt(event);
    else if (event.pointerType === "touch") { // which does not hover
      this._hovering = event;
      this.stage.changed(false);
    }
  }

  _endLink() {
    if (!this._link) return;
    this._link = null;
    this.stage.orbit.enabled = true;
    this.stage.canvas.style.cursor = "";
  }

  /** The joint that is turned when a link of `joint` is pulled: of a coupled one its leader. */
  _drivenBy(joint) {
    const { joints } = this.app.robot.data;
    for (let k = 0; k < joints.length && joint >= 0 && joints[joint].coupled; k++)
      joint = joints.findIndex((each) => each.name === joints[joint].leaders[0]);
    if (joint < 0) return -1;
    return joints[joint].q && joints[joint].q[1] === 1 ? joint : -1;
  }

  /** One step of the pulled joint towards the pointer, by what the pulled point does on the screen. */
  _pull() {
    const { joint, link, at, event } = this._link;
    const { robot } = this.app;
    const box = this.stage.canvas.getBoundingClientRect();
    const wanted = { x: event.clientX - box.left, y: event.clientY - box.top };
    const seen = (q) => {
      const poses = robot.kinematics.poses(q);
      const world = robot.view.group.matrix.clone().multiply(matrixFrom(poses, 12 * link));
      return this.stage.onScreen(at.clone().applyMatrix4(world));
    };
    const options = { ignoreLimits: this.app.ignoreLimits };
    let more = false;
    for (let k = 0; k < 4; k++) {
      const value = robot.positions[joint][0];
      const here = seen(robot.q);
      const error = [wanted.x - here.x, wanted.y - here.y];
      if (Math.hypot(...error) < 0.7) break;
      const angle = robot.data.joints[joint].type !== "prismatic";
      const small = angle ? 1e-4 : 1e-5 * robot.view.extent;
      const ahead = robot.kinematics.setJoint(robot.q, joint, [value + small], { ignoreLimits: true });
      if (!ahead.success) break;
      const there = seen(ahead.q);
      const J = [(there.x - here.x) / small, (there.y - here.y) / small];
      const soft = (angle ? 12 : 12 / robot.view.extent) ** 2; // where it moves towards the eye, it stays calm
      const most = angle ? 0.25 : 0.1 * robot.view.extent;
      const step = (J[0] * error[0] + J[1] * error[1]) / (J[0] * J[0] + J[1] * J[1] + soft);
      const bounded = Math.max(-most, Math.min(most, step));
      if (Math.abs(bounded) < 1e-6 * (angle ? 1 : robot.view.extent)) break;
      const made = robot.kinematics.setJoint(robot.q, joint, [value + bounded], options);
      this.app.moved(robot, made.q);
      if (!made.success) break;
      more = Math.abs(bounded) >= most * 0.99;
    }
    if (more) this.stage.changed();
    else this._link.event = null;
  }

  // --- the handle ---------------------------------------------------------------------------------

  /** The handle, made when it is first asked for. */
  _makeHandle() {
    const { stage } = this;
    this.controls = new THREE.TransformControls(stage.camera, stage.canvas);
    this.controls.setSize(0.85);
    this.controls.setColors(...AXES, 0xf2b134);
    this.target = new THREE.Object3D();
    stage.front.add(this.target);
    this.controls.setMode(this.mode);
    this.helper = this.controls.getHelper();
    stage.front.add(this.helper);
    this.controls.addEventListener("change", () => stage.changed(false));
    this.controls.addEventListener("dragging-changed", (event) => {
      stage.orbit.enabled = !event.value;
      if (event.value) this.app.stopMotion();
      else this._settle = true; // the handle goes back to the frame when it is let go
      stage.changed();
    });
    this.controls.addEventListener("objectChange", () => {
      this._goal = true;
      stage.changed();
    });
  }

  /** Put the handle on a frame of the chosen robot. */
  grab(name) {
    const frame = this.app.robot.data.frames.indexOf(name);
    if (frame < 0) return this.app.say(name ? `There is no frame called ${name}.` : "");
    if (!this.controls) this._makeHandle();
    this.frame = frame;
    this.controls.attach(this.target);
    this.helper.visible = true;
    this._follow();
    this.app.say(`Drag the handle to ${this.mode === "rotate" ? "turn" : "move"} ${name}.`);
    this.stage.changed(false);
  }

  /** Put the handle away. */
  release() {
    this.frame = undefined;
    this._goal = false;
    this.controls?.detach();
    if (this.helper) this.helper.visible = false;
    this.app.say("");
    this.stage.changed(false);
  }

  setMode(mode) {
    this.mode = mode;
    this.controls?.setMode(mode);
    this.app.panel.markMode(mode);
    this.stage.changed(false);
  }

  setPositionOnly(on) {
    this.positionOnly = on;
  }

  _follow() {
    if (this.frame === undefined) return;
    const { view } = this.app.robot;
    const T = view.group.matrix.clone().multiply(matrixFrom(view.poses, 12 * this.frame));
    T.decompose(this.target.position, this.target.quaternion, this.target.scale);
    this.target.updateMatrixWorld();
  }

  /** Towards where the handle is, and what came of it in words. */
  _aim() {
    const { robot } = this.app;
    this.target.updateMatrixWorld();
    const T = robot.view.group.matrix.clone().invert().multiply(this.target.matrixWorld);
    const positionOnly = this.positionOnly && this.mode === "translate";
    const before = this._left ?? Infinity;
    const result = robot.kinematics.drag(robot.q, this.frame, numbersOf(T), {
      positionOnly, ignoreLimits: this.app.ignoreLimits, iterations: ITERATIONS,
    });
    this.app.moved(robot, result.q);
    const left = result.positionError + (positionOnly ? 0 : result.rotationError * robot.view.extent);
    const nearer = left < before - 1e-7 * robot.view.extent;
    this._left = left;
    this.app.say(this._sentence(result, positionOnly), left < 2 * REACHED ? "good" : "far");
    this.result = result;
    if (nearer && left > 1e-7) this.stage.changed();
    else {
      this._goal = false;
      this._left = undefined;
    }
  }

  _sentence({ positionError, rotationError, pressed, reason }, positionOnly) {
    const { data } = this.app.robot;
    const name = data.frames[this.frame];
    const missed = [];
    if (positionError > REACHED) missed.push(`out of reach by ${lengthText(positionError)}`);
    if (!positionOnly && rotationError > 1e-3) missed.push(`turned ${((rotationError * 180) / Math.PI).toFixed(1)}° away`);
    if (!missed.length) return `${name}: reached`;
    const names = pressed.map((k) => data.joints[k].name);
    const limits = names.length ? `; ${listed(names)} ${names.length === 1 ? "is at its limit" : "are at their limits"}` : reason && !names.length && /loop/.test(reason) ? `; ${reason}` : "";
    return `${name}: ${missed.join(", ")}${limits}`;
  }

  // --- measuring ----------------------------------------------------------------------------------

  _measureMarks() {
    const material = new THREE.MeshBasicMaterial({ color: 0xd6336c });
    const ball = new THREE.SphereGeometry(1, 16, 12);
    this.ends = [0, 1].map(() => new THREE.Mesh(ball, material));
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6), 3));
    this.line = new THREE.Line(geometry, new THREE.LineBasicMaterial({ color: 0xd6336c }));
    this.line.frustumCulled = false;
    for (const mark of [...this.ends, this.line]) {
      mark.visible = false;
      this.stage.front.add(mark);
    }
  }

  /** Begin or end measuring. */
  measure(on) {
    this.measuring = on;
    this.points = [];
    this.stage.canvas.style.cursor = on ? "crosshair" : "";
    this.app.say(on ? "Measure: click two points." : "");
    this.app.onMeasuring?.(on);
    this.stage.changed(false);
  }

  _measureAt(event) {
    const found = this.pick(event);
    if (!found) return;
    if (this.points.length === 2) this.points = [];
    const { robot, link } = found;
    const point = found.point.clone();
    // A point on a link stays on it
    const at = robot ? point.applyMatrix4(robot.view.links[link].matrixWorld.clone().invert()) : point;
    this.points.push({ robot, link, at, name: found.name });
    if (this.points.length === 1) this.app.say(`Measure: from ${found.name}; click a second point.`);
    this.stage.changed(false);
  }

  _placeMeasure() {
    const world = this.points.map(({ robot, link, at }) => {
      const p = at.clone();
      if (!robot) return p;
      return p.applyMatrix4(robot.view.group.matrix.clone().multiply(robot.view.links[link].matrix));
    });
    this.ends.forEach((end, k) => {
      end.visible = k < world.length;
      if (!end.visible) return;
      end.position.copy(world[k]);
      end.scale.setScalar(0.0045 * this.stage.camera.position.distanceTo(world[k]));
    });
    const both = world.length === 2;
    this.line.visible = both;
    this.distance.hidden = !both;
    if (!both) return;
    const position = this.line.geometry.attributes.position;
    world.forEach((p, k) => position.setXYZ(k, p.x, p.y, p.z));
    position.needsUpdate = true;
    const d = world[1].clone().sub(world[0]);
    const text = lengthText(d.length());
    this.distance.textContent = text;
    const seen = this.stage.onScreen(world[0].clone().add(world[1]).multiplyScalar(0.5));
    this.distance.style.transform = `translate(${seen.x}px, ${seen.y}px) translate(-50%, -140%)`;
    const parts = ["x", "y", "z"].map((axis) => `Δ${axis} ${signed(1000 * d[axis], 1)}`);
    this.measured = { distance: d.length(), d: [d.x, d.y, d.z] };
    const sentence = `${text}  (${parts.join(", ")} mm)`;
    if (this._said !== sentence) this.app.say((this._said = sentence));
  }

  // --- each frame ---------------------------------------------------------------------------------

  _beforeFrame() {
    if (this._link?.event) this._pull();
    else if (this._hovering) this._hover();
    if (this._goal) this._aim();
    else if (this._settle || !this.controls?.dragging) {
      this._settle = false;
      this._follow();
    }
    this._placeMeasure();
  }
}

function listed(names) {
  const shown = names.length > 4 ? [...names.slice(0, 3), `${names.length - 3} more`] : names;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

// Motions: a trajectory that was given, or the sweep of joints from limit to limit.

import { h, icon, iconButton } from "./dom.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
const SWEEP_SECONDS = 3; // of one joint
const SWEEP_SAMPLES = 60;

export class MotionBar {
  constructor(host, app) {
    this.app = app;
    this.playing = false;
    this.speed = 1;
    this.loop = true;
    this.time = 0;
    this.toggleButton = iconButton("play", "Play (space)", () => this.toggle(), { class: "icon-button round" });
    this.scrub = h("input", { type: "range", min: 0, max: 1, step: "any", value: 0, "aria-label": "Time", oninput: () => { this.pause(); this.go(parseFloat(this.scrub.value)); } });
    this.clock = h("span", { class: "clock", text: "" });
    this.source = h("select", { "aria-label": "Motion", onchange: () => this._choose(this.source.value) });
    const speed = h("select", { "aria-label": "Speed", onchange: () => { this.speed = parseFloat(speed.value); } },
      ...SPEEDS.map((x) => h("option", { value: x, text: `${x}×` })));
    speed.value = "1";
    this.loopButton = iconButton("loop", "Again and again", () => {
      this.loop = !this.loop;
      this.loopButton.setAttribute("aria-pressed", String(this.loop));
    }, { "aria-pressed": "true" });
    this.element = h("div", { id: "motion", role: "group", "aria-label": "Motion" }, this.toggleButton, this.source, this.scrub, this.clock, speed, this.loopButton);
    host.append(this.element);
    app.stage.beforeFrame.push((now) => this._tick(now));
  }

  /** Offer what there is for the chosen robot. */
  offer() {
    this.pause();
    const given = this.app.trajectory && this.app.trajectory.robot === this.app.chosen;
    const joints = this._sweepable();
    this.source.replaceChildren(
      ...(given ? [h("option", { value: "given", text: "Trajectory" })] : []),
      ...(joints.length ? [h("option", { value: "all", text: "Sweep all joints" })] : []),
      ...joints.map((k) => h("option", { value: k, text: `Sweep ${this.app.robot.data.joints[k].name}` })));
    this.element.hidden = !given && !joints.length;
    this.motion = null;
    this.time = 0;
    if (given) this._choose("given");
    else this._label();
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  play() {
    if (!this.motion) this._choose(this.source.value);
    if (!this.motion) return;
    if (this.time >= this.duration - 1e-9) this.time = 0;
    this.playing = true;
    this._last = null;
    this._dress();
    this.app.stage.changed();
  }

  pause() {
    this.playing = false;
    this._dress();
  }

  get duration() {
    return this.motion ? this.motion.times.at(-1) : 0;
  }

  /** Show the robot at an instant of the motion. */
  go(time) {
    if (!this.motion) this._choose(this.source.value, false);
    if (!this.motion) return;
    this.time = Math.max(0, Math.min(time, this.duration));
    this.app.placeObjects(this._displacements());
    this.app.moved(this.app.robots[this.motion.robot], this._at(this.time), "motion");
    this._label();
  }

  _tick(now) {
    if (!this.playing) return;
    const passed = this._last === null ? 0 : Math.min(0.5, (now - this._last) / 1000);
    this._last = now;
    let time = this.time + passed * this.speed;
    if (time >= this.duration) {
      if (this.loop && this.duration > 0) time %= this.duration;
      else {
        time = this.duration;
        this.pause();
      }
    }
    this.go(time);
    if (this.playing) this.app.stage.changed();
  }

  /** The instant at which objects of the scene are seen, null where none move. */
  get instant() {
    return Object.keys(this.motion?.objects ?? {}).length ? this.time : null;
  }

  /** Where objects of the scene are now, from where they stand: 12 numbers by name. */
  _displacements() {
    const { objects = {} } = this.motion;
    return Object.fromEntries(Object.entries(objects).map(([name, all]) => {
      const place = this.duration > 0 ? (this.time / this.duration) * (all.length - 1) : 0;
      const k = Math.min(Math.floor(place), all.length - 2), share = place - k;
      return [name, all[k].map((x, n) => x + share * (all[k + 1][n] - x))];
    }));
  }

  _at(time) {
    const { times, q, robot } = this.motion;
    let low = 0, high = times.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle;
    }
    if (times.length === 1) return q[0];
    const share = (time - times[low]) / (times[high] - times[low] || 1);
    if (share <= 0) return q[low];
    if (share >= 1) return q[high];
    const { kinematics, data, closed } = this.app.robots[robot];
    const between = kinematics.interpolate(q[low], q[high], share);
    if (!closed) return between;
    const held = data.joints.flatMap((joint, k) => (joint.actuated ? [k] : []));
    const found = kinematics.close(between, { held });
    return found.success ? found.q : between;
  }

  _choose(value, fresh = true) {
    this.motion = value === "given" ? this.app.trajectory : value === "" ? null : this._sweep(value === "all" ? this._sweepable() : [Number(value)]);
    if (this.motion) {
      this.loop = this.motion.loop ?? true;
      this.loopButton.setAttribute("aria-pressed", String(this.loop));
      this.scrub.max = this.duration;
    }
    if (fresh) this.time = 0;
    this._label();
  }

  /** Joints that a sweep moves: all of one number that follow nothing; of closed robots those that are driven. */
  _sweepable() {
    const { data, closed } = this.app.robot;
    const free = data.joints.flatMap((joint, k) => (!joint.coupled && joint.q && joint.q[1] === 1 ? [k] : []));
    const driven = free.filter((k) => data.joints[k].actuated);
    return closed && driven.length ? driven : free;
  }

  _sweep(joints) {
    const { robot, chosen } = this.app;
    const { kinematics, data } = robot;
    const times = [0], rows = [Array.from(robot.q)];
    let q = rows[0];
    const ease = (s) => (1 - Math.cos(Math.PI * s)) / 2;
    for (const k of joints) {
      const joint = data.joints[k];
      const start = kinematics.positions(q)[k][0];
      const angle = joint.type !== "prismatic";
      const far = angle ? Math.PI : robot.view.extent / 4;
      const lower = joint.lower[0] ?? start - far, upper = joint.upper[0] ?? start + far;
      for (let n = 1; n <= SWEEP_SAMPLES; n++) {
        const s = n / SWEEP_SAMPLES;
        const value = s < 0.25 ? start + (lower - start) * ease(4 * s)
          : s < 0.75 ? lower + (upper - lower) * ease(2 * s - 0.5) : upper + (start - upper) * ease(4 * s - 3);
        q = Array.from(kinematics.setJoint(q, k, [value], {}).q);
        rows.push(q);
        times.push(times.at(-1) + SWEEP_SECONDS / SWEEP_SAMPLES);
      }
    }
    return { robot: chosen, times, q: rows, loop: true };
  }

  _dress() {
    this.toggleButton.replaceChildren(icon(this.playing ? "pause" : "play"));
    const label = this.playing ? "Pause (space)" : "Play (space)";
    this.toggleButton.title = label;
    this.toggleButton.setAttribute("aria-label", label);
  }

  _label() {
    this.scrub.value = this.time;
    this.scrub.style.setProperty("--at", `${this.duration ? (100 * this.time) / this.duration : 0}%`);
    this.clock.textContent = this.motion ? `${this.time.toFixed(2)} / ${this.duration.toFixed(2)} s` : "";
  }
}

// The kinematics of one robot in the page: poses, joints that are set, frames that are dragged,
// loops that stay closed meanwhile. What depends on the robot comes as text, emitted from the same
// expression graphs that Python compiles (view/kinematics.py): poses, closures, errors of a pose,
// forces. Here these are strung together, and systems of equations are solved.
//
// Positions are q, metres and radians; velocities v; poses are 12 numbers, the rows of a matrix
// (3, 4). Nothing is kept between calls but the last way through a closed mechanism, which tells
// apart the branches where it lost one.

const CLOSED = 1e-11; // m and rad: loops are closed
const NEARLY_CLOSED = 1e-9; // what rounding may leave of a large mechanism
const REACHED = 1e-7; // m and rad: a target is reached, well inside of what is told
const TOLD = 1e-6; // m and rad: what is farther from a target is said to be
const DEPENDENT = 1e-9; // the share of a row that is left when it follows from others
const SINGULAR = 1e-6; // the same near a dead point
const AT_LIMIT = 1e-9; // m and rad
const ROTATION_LENGTH = 0.22; // a radian weighs as this share of the robot's length
const LONGEST_STEP = 1.0; // rad, over all joints
const LONGEST_CLOSED_STEP = 0.15; // the same where loops are to follow
const SPREAD = 0.7548776662466927; // its powers spread over the unit interval
const SHORTEST_SHARE = 1e-5; // of a way: a shorter step makes nothing better
const NO_FARTHER = "its loops close no farther";

export class RobotKinematics {
  /** `robot` is an entry of the page's robots; its `kinematics` is the emitted text, or the
   *  object that it gives. */
  constructor(robot) {
    const given = robot.kinematics;
    const made = typeof given === "string" ? new Function(given)() : given;
    const data = made.data;
    this.emitted = made;
    this.nq = data.nq;
    this.nv = data.nv;
    this.nFrames = data.frames.length;
    this.nRows = data.rows;
    this.parts = data.parts ?? [];
    this.length = data.length;
    this.lower = Float64Array.from(data.lower);
    this.upper = Float64Array.from(data.upper);
    this.coordinates = data.coordinates.map(([q, nq, v, nv, lengths], k) => ({
      q, nq, v, nv, lengths, angle: data.angle[k], joint: -1, type: "",
    }));
    this.joints = data.joints.map(([name, type, coordinate, multiplier, offset], k) => {
      const coupled = multiplier !== undefined;
      const own = this.coordinates[coordinate];
      if (!coupled) [own.joint, own.type] = [k, type];
      return { name, type, coordinate, coupled, multiplier: multiplier ?? 1, offset: offset ?? 0 };
    });
    this.actuated = new Set(data.actuated);
    this.frames = data.frames.map(([step, place]) => ({ step, place: data.places[place] ?? null }));
    this.parents = data.steps;
    this.columns = data.columns.map(([v, step, axis, turns, factor]) => ({ v, step, axis, turns, factor }));
    this.columnsOf = this.parents.map(() => []);
    for (const column of this.columns) this.columnsOf[column.step].push(column);
    this.unit = new Float64Array(this.nv).fill(1);
    for (const c of this.coordinates) this.unit.fill(this.length, c.v, c.v + c.lengths);
    this.base = this.floatingBase();
    this.steps = new Float64Array(12 * this.parents.length);
    this.error = new Float64Array(6);
    this.turning = new Float64Array(9);
    this.open = new Float64Array(this.nRows);
    this.slopes = new Float64Array(this.nRows * this.nv);
    this.way = null;
    this.tied = this.tiedColumns();
  }

  // --- where things are ---------------------------------------------------------------------------

  /** The poses of all frames, 12 numbers each. */
  poses(q) {
    const found = new Float64Array(12 * this.nFrames);
    this.emitted.poses(q, this.steps);
    for (let k = 0; k < this.nFrames; k++) this.framePose(k, found, 12 * k);
    return found;
  }

  /** The pose of a frame, where `steps` are those of the configuration. */
  framePose(frame, into, at) {
    const { step, place } = this.frames[frame];
    const T = this.steps;
    const s = 12 * step;
    if (place === null) {
      for (let k = 0; k < 12; k++) into[at + k] = T[s + k];
      return;
    }
    for (let i = 0; i < 12; i += 4) {
      const [x, y, z] = [T[s + i], T[s + i + 1], T[s + i + 2]];
      for (let j = 0; j < 4; j++) into[at + i + j] = x * place[j] + y * place[4 + j] + z * place[8 + j];
      into[at + i + 3] += T[s + i + 3];
    }
  }

  /** The positions of all joints, those of coupled ones too: an array each. */
  positions(q) {
    return this.joints.map((joint) => {
      const c = this.coordinates[joint.coordinate];
      const own = Array.from(q.slice(c.q, c.q + c.nq));
      return joint.coupled ? own.map((x) => joint.multiplier * x + joint.offset) : own;
    });
  }

  /** The centre of mass; null where masses are not known. */
  centerOfMass(q) {
    if (!this.emitted.com) return null;
    const found = new Float64Array(3);
    this.emitted.com(q, found);
    return Array.from(found);
  }

  /** The joint forces that hold against gravity; with loops those of the actuated joints.
   *  Null where masses, or the actuated joints of a mechanism with loops, are not known. */
  gravityTorques(q) {
    if (!this.emitted.gravity) return null;
    const found = new Float64Array(this.nv);
    this.emitted.gravity(q, found);
    return this.nRows ? this.byActuated(q, found) : found;
  }

  /** Forces of the actuated joints that do the same work as these along all motions that keep loops
   *  closed. A floating base keeps its own. */
  byActuated(q, forces) {
    const n = this.nv;
    const free = this.allButBase();
    const closure = this.closureRows(q, free);
    const driven = [];
    for (const c of this.actuated) {
      const { v, nv } = this.coordinates[c];
      for (let k = v; k < v + nv; k++) driven.push(k);
    }
    const work = Float64Array.from(forces, (x, k) => x * this.unit[k] * free[k]);
    closure.project(work);
    const m = driven.length;
    const matrix = new Float64Array(m * m);
    const row = new Float64Array(n);
    driven.forEach((v, i) => {
      row.fill(0);
      row[v] = 1;
      closure.project(row);
      driven.forEach((w, j) => (matrix[i * m + j] = row[w]));
    });
    const solved = new Rows(matrix, m, m).solve(Float64Array.from(driven, (v) => work[v]));
    const found = new Float64Array(n);
    for (let k = 0; k < n; k++) if (!free[k]) found[k] = forces[k];
    driven.forEach((v, i) => (found[v] = solved[i] / this.unit[v]));
    return found;
  }

  // --- configurations -----------------------------------------------------------------------------

  /** The configuration reached from q with the velocity v in one second. */
  integrate(q, v) {
    const found = new Float64Array(this.nq);
    for (const c of this.coordinates) {
      if (c.nq === c.nv) {
        for (let k = 0; k < c.nq; k++) found[c.q + k] = q[c.q + k] + v[c.v + k];
        continue;
      }
      const own = new Float64Array(c.nq);
      this.emitted[`integrate_${c.type}`](sub(q, c.q, c.nq), sub(v, c.v, c.nv), own);
      unitQuaternion(own);
      found.set(own, c.q);
    }
    return found;
  }

  /** The velocity that takes q0 to q1 in one second. */
  difference(q0, q1) {
    const found = new Float64Array(this.nv);
    for (const c of this.coordinates) {
      if (c.nq === c.nv) {
        for (let k = 0; k < c.nq; k++) found[c.v + k] = q1[c.q + k] - q0[c.q + k];
        continue;
      }
      const own = new Float64Array(c.nv);
      this.emitted[`difference_${c.type}`](sub(q0, c.q, c.nq), sub(q1, c.q, c.nq), own);
      found.set(own, c.v);
    }
    return found;
  }

  /** The configuration at a share of the way from q0 to q1, its loops closed where they can be. */
  interpolate(q0, q1, share) {
    const between = this.integrate(q0, this.difference(q0, q1).map((x) => x * share));
    if (!this.nRows) return between;
    return this.corrected(between, this.allButBase(), 1)?.q ?? between;
  }

  // --- loops --------------------------------------------------------------------------------------

  /** The largest number of the closure: how far (m, rad) loops are from closed. */
  opening(q) {
    if (!this.nRows) return 0;
    this.emitted.closure(q, this.open, this.slopes);
    return largest(this.open);
  }

  /** Loops closed by moving all joints but those held: {q, success, error}. */
  close(q, { held = [] } = {}) {
    const start = Float64Array.from(q);
    if (!this.nRows) return { q: start, success: true, error: 0 };
    const free = this.allButBase();
    for (const joint of held) this.hold(free, this.joints[joint].coordinate);
    const near = this.descended(start, free);
    const found = this.correctedInside(Float64Array.from(near), free, 2, false).q ?? near;
    const error = this.opening(found);
    return { q: found, success: error <= TOLD, error };
  }

  /** Loops as near to closed as it goes downhill from q, on whatever branch. */
  descended(q, free) {
    let [x, error] = [q, sumOfSquares(this.openAt(q))];
    let damping = 1e-3;
    for (let k = 0; k < 200 && largest(this.open) > CLOSED && damping < 1e9; k++) {
      const rows = this.scaledRows(free);
      const move = leastSquares(rows, this.nRows, this.nv, this.open, damping * Math.min(error, 1) + 1e-14);
      const length = Math.sqrt(sumOfSquares(move));
      const after = this.integrate(x, this.inUnits(move, Math.min(1, LONGEST_STEP / length)));
      const next = sumOfSquares(this.openAt(after));
      if (next < error) [x, error, damping] = [after, next, Math.max(0.2 * damping, 1e-9)];
      else damping *= 8;
      if (!(next < error)) this.openAt(x);
    }
    return x;
  }

  /** What is still to go until loops are closed; slopes are in `slopes`. */
  openAt(q) {
    this.emitted.closure(q, this.open, this.slopes);
    for (let k = 0; k < this.nRows; k++) this.open[k] = -this.open[k];
    return this.open;
  }

  /** The closure's derivative for steps in units, at the configuration last looked at. */
  scaledRows(free) {
    const rows = new Float64Array(this.slopes);
    for (let i = 0, at = 0; i < this.nRows; i++) {
      for (let k = 0; k < this.nv; k++, at++) rows[at] *= this.unit[k] * free[k];
    }
    return rows;
  }

  /** The rows that a motion must not change at q, ready to be solved. */
  closureRows(q, free) {
    if (!this.nRows) return NOTHING;
    this.openAt(q);
    return new Rows(this.scaledRows(free), this.nRows, this.nv);
  }

  /** The rank of the closure beside q, where it is not singular. */
  rankBeside(q, free) {
    this.openAt(this.aside(q, 0.05));
    return new Rows(this.scaledRows(free), this.nRows, this.nv, SINGULAR).rank;
  }

  /** q with its loops closed by short steps of what is free; null where it goes farther than
   *  `longest` or does not close. */
  corrected(q, free, longest) {
    let [x, gone, before] = [q, 0, Infinity];
    for (let k = 0; k < 16; k++) {
      const error = largest(this.openAt(x));
      if (error <= CLOSED || (error <= NEARLY_CLOSED && error > 0.5 * before)) return { q: x, error, gone };
      if (!Number.isFinite(error)) return null;
      before = error;
      const move = new Rows(this.scaledRows(free), this.nRows, this.nv).solve(this.open);
      gone += Math.sqrt(sumOfSquares(move));
      if (!(gone <= longest)) return null;
      x = this.integrate(x, this.inUnits(move));
    }
    return null;
  }

  /** `corrected`, with joints that come to lie beyond their limits held there. */
  correctedInside(q, free, longest, ignoreLimits) {
    let x = q;
    const own = Uint8Array.from(free);
    const pressed = new Set();
    for (let k = 0; k < 6; k++) {
      const found = this.corrected(x, own, longest);
      if (found === null) return { q: null, pressed };
      x = found.q;
      const beyond = ignoreLimits ? [] : this.clamp(x, free);
      if (!beyond.length) return { q: x, pressed };
      for (const c of beyond) {
        this.hold(own, c);
        pressed.add(c);
      }
    }
    return { q: null, pressed };
  }

  // --- joints that are set ------------------------------------------------------------------------

  /** q with a joint at these values, and loops closed: {q, success, reason}.
   *  The joint stays where they let it go no farther. */
  setJoint(q, joint, values, { ignoreLimits = false } = {}) {
    const { coordinate, coupled, multiplier, offset, name } = this.joints[joint];
    const c = this.coordinates[coordinate];
    const given = Array.from(ArrayBuffer.isView(values) || Array.isArray(values) ? values : [values]);
    if (given.length !== c.nq || !given.every(Number.isFinite)) {
      return { q: Float64Array.from(q), success: false, reason: `${name} takes ${c.nq} finite numbers` };
    }
    const wanted = Float64Array.from(q);
    wanted.set(coupled ? given.map((x) => (x - offset) / multiplier) : given, c.q);
    if (c.nq > c.nv) unitQuaternion(wanted.subarray(c.q, c.q + c.nq));
    const all = new Uint8Array(this.nv).fill(1);
    const outside = !ignoreLimits && this.clamp(wanted, all, coordinate).length > 0;
    const reason = outside ? `${name} ends at its limit` : "";
    const along = this.takenAlong(coordinate);
    this.hold(along, coordinate);
    if (!along.some(Boolean)) return { q: wanted, success: !outside, reason };
    const found = this.followed(Float64Array.from(q), coordinate, wanted, ignoreLimits);
    return { q: found.q, success: found.reason === "" && !outside, reason: found.reason || reason };
  }

  /** The way of one coordinate from q to where it is in `wanted`, loops closed all along. */
  followed(q, coordinate, wanted, ignoreLimits) {
    const c = this.coordinates[coordinate];
    const name = this.joints[c.joint].name;
    const free = this.takenAlong(coordinate);
    this.hold(free, coordinate);
    const others = Uint8Array.from(free);
    if (this.actuated.has(coordinate)) for (const k of this.actuated) this.hold(others, k);
    const start = this.closedStart(q, free);
    if (start === null) return { q, reason: "its loops are not closed here" };
    const way = new Float64Array(this.nv);
    way.set(this.difference(start, wanted).subarray(c.v, c.v + c.nv), c.v);
    const length = Math.sqrt(sumOfSquares(way.map((x, k) => x / this.unit[k])));
    if (length === 0) return { q: start, reason: "" };
    const longest = Math.min(1, LONGEST_CLOSED_STEP / length);
    const path = new Path(this, start, way.map((x) => x / length), coordinate, wanted);
    let reason = "";
    for (const moving of [others, free]) {
      let step = longest;
      while (path.share < 1 && step >= SHORTEST_SHARE * longest) {
        const share = Math.min(1, path.share + step);
        const failed = path.to(share, length, moving, ignoreLimits);
        if (failed === null) step = Math.min(longest, 2 * step);
        else [step, reason] = [0.5 * step, failed];
        if (failed && step < SHORTEST_SHARE * longest && path.aside(length, longest, moving, ignoreLimits)) {
          step = longest;
        }
      }
      if (path.share >= 1) break;
    }
    path.remember();
    if ((1 - path.share) * length <= TOLD) return { q: path.q, reason: "" };
    const at = path.q.subarray(c.q, c.q + c.nq);
    const where = c.nq === 1 ? ` at ${shown(at[0], c.lengths)}` : "";
    return { q: path.q, reason: `${name} stops${where}: ${reason}` };
  }

  /** q with its loops closed, without a move where they are; null where they do not close. */
  closedStart(q, free) {
    const near = this.corrected(q, free, 0.5) ?? this.corrected(q, this.allButBase(), 0.5);
    if (near) return near.q;
    const found = this.close(q);
    return found.success ? found.q : null;
  }

  // --- frames that are dragged --------------------------------------------------------------------

  /** The configuration whose frame is nearest to T (12), downhill from q: the position first, then
   *  the rotation. With `tries`, where that does not reach it, from others too (not with loops).
   *  {q, positionError (m), rotationError (rad), pressed (joints at limits that are in the way),
   *  reason ("" where the target is reached)}. */
  drag(q, frame, T, { positionOnly = false, ignoreLimits = false, iterations = 100, tries = 1 } = {}) {
    const free = this.movable(frame);
    const asked = { frame, T: Float64Array.from(T), free, ignoreLimits, positionOnly, iterations };
    let x = Float64Array.from(q);
    if (!asked.T.every(Number.isFinite)) {
      const reason = "the target is not a pose of finite numbers";
      return { q: x, positionError: 0, rotationError: 0, pressed: [], reason };
    }
    if (this.nRows) {
      const start = this.closedStart(x, free);
      if (start === null) return this.told(x, asked, [], "its loops are not closed here");
      x = start;
    }
    if (!ignoreLimits) {
      const inside = Float64Array.from(x);
      const outside = this.clamp(inside, free).length > 0;
      if (outside) x = this.nRows ? this.correctedInside(inside, free, 1, false).q ?? x : inside;
    }
    const found = this.dragged(x, asked);
    let best = found;
    for (let k = 1; k < tries && found.reason && !this.nRows; k++) {
      const other = this.dragged(this.spread(x, free, k), asked);
      const nearer = best === found || this.apart(x, other.q) < this.apart(x, best.q);
      if (!other.reason && nearer) best = other;
    }
    return best;
  }

  /** A drag from x, which is inside limits and whose loops are closed. */
  dragged(x, asked) {
    let found = { q: x, pressed: [] };
    if (!asked.positionOnly) found = this.descend(x, { ...asked, turn: ROTATION_LENGTH * this.length });
    if (asked.positionOnly || this.errors(found.q, asked)[0] > REACHED) {
      found = this.descend(found.q, { ...asked, turn: 0 });
    }
    return this.told(found.q, asked, found.pressed, "");
  }

  /** The k-th of configurations all over what is free. */
  spread(x, free, k) {
    const found = Float64Array.from(x);
    for (const c of this.coordinates) {
      for (let i = c.q; i < c.q + c.nq && free[c.v]; i++) {
        const share = (0.5 + k * SPREAD ** (i + 1)) % 1;
        const [low, high] = [Math.max(this.lower[i], -Math.PI), Math.min(this.upper[i], Math.PI)];
        found[i] = low + share * (high - low);
      }
      if (c.nq > c.nv && free[c.v]) unitQuaternion(found.subarray(c.q, c.q + c.nq));
    }
    this.clamp(found, free);
    return found;
  }

  /** How far all joints are from one configuration to another. */
  apart(q0, q1) {
    return sumOfSquares(this.difference(q0, q1).map((x, k) => x / this.unit[k]));
  }

  /** What a drag reached, in numbers and in words. */
  told(q, asked, pressed, why) {
    const [positionError, rotationError] = this.errors(q, asked);
    const reasons = why ? [why] : [];
    if (positionError > TOLD) reasons.push(`out of reach by ${millimetres(positionError)}`);
    else if (!asked.positionOnly && rotationError > TOLD) {
      reasons.push(`turned away by ${degrees(rotationError)}`);
    }
    if (reasons.length && pressed.length) {
      const names = pressed.slice(0, 3).map((joint) => this.joints[joint].name);
      const more = pressed.length > 3 ? ` and ${pressed.length - 3} more` : "";
      reasons.push(`${names.join(", ")}${more} at ${pressed.length > 1 ? "limits" : "its limit"}`);
    }
    return { q, positionError, rotationError, pressed, reason: reasons.join("; ") };
  }

  /** How far a frame is from its target: m and rad. */
  errors(q, { frame, T }) {
    this.aim(q, frame, T);
    const e = this.error;
    return [Math.hypot(e[0], e[1], e[2]), Math.hypot(e[3], e[4], e[5])];
  }

  /** What is left of a pose, in `error`; `steps` are at q then, and `at` is the frame's pose. */
  aim(q, frame, T) {
    this.at ??= new Float64Array(12);
    this.emitted.poses(q, this.steps);
    this.framePose(frame, this.at, 0);
    this.emitted.aim(this.at, T, this.error, this.turning);
  }

  /** Half the squared error in m; a radian counts as `turn` m. */
  cost(q, { frame, T, turn }) {
    this.aim(q, frame, T);
    const e = this.error;
    return 0.5 * (e[0] ** 2 + e[1] ** 2 + e[2] ** 2 + turn * turn * (e[3] ** 2 + e[4] ** 2 + e[5] ** 2));
  }

  /** The derivative (m, nv) of what a frame has of rows, for steps in units, where `aim` was. */
  frameRows({ frame, free, turn }) {
    const n = this.nv;
    const m = turn ? 6 : 3;
    const rows = new Float64Array(m * n);
    const [S, T, D] = [this.steps, this.at, this.turning];
    for (let step = this.frames[frame].step; step >= 0; step = this.parents[step]) {
      for (const { v, axis, turns, factor } of this.columnsOf[step]) {
        if (!free[v]) continue;
        const f = factor * this.unit[v];
        const s = 12 * step;
        const [x, y, z] = [f * S[s + axis], f * S[s + 4 + axis], f * S[s + 8 + axis]];
        if (!turns) {
          rows[v] += x;
          rows[n + v] += y;
          rows[2 * n + v] += z;
          continue;
        }
        const [a, b, c] = [T[3] - S[s + 3], T[7] - S[s + 7], T[11] - S[s + 11]];
        rows[v] += y * c - z * b;
        rows[n + v] += z * a - x * c;
        rows[2 * n + v] += x * b - y * a;
        if (!turn) continue;
        for (let i = 0; i < 3; i++) {
          rows[(3 + i) * n + v] += turn * (D[3 * i] * x + D[3 * i + 1] * y + D[3 * i + 2] * z);
        }
      }
    }
    return rows;
  }

  /** Damped least squares inside the limits: downhill until nothing gets better. {q, pressed}.
   *  Source: K. Madsen, H. B. Nielsen, O. Tingleff, "Methods for non-linear least squares problems"
   *  (2004), for the damping. */
  descend(q, asked) {
    const n = this.nv;
    const m = asked.turn ? 6 : 3;
    const longest = this.nRows ? LONGEST_CLOSED_STEP : LONGEST_STEP;
    const done = 0.5 * (1e-2 * REACHED) ** 2;
    const enough = this.nRows ? 1e-6 : 1e-9; // of the cost: less is no progress
    let [x, cost] = [q, this.cost(q, asked)];
    let [damping, growth, dull, pressed] = [0, 2, 0, []];
    for (let k = 0; k < asked.iterations && cost > done && dull < 4; k++) {
      const error = this.error.slice(0, m);
      for (let i = 3; i < m; i++) error[i] *= asked.turn;
      const whole = this.frameRows(asked);
      if (!damping) damping = 1e-3 * steepest(whole, m, n) + 1e-12;
      const { move, rows, blocked } = this.moveInside(x, asked, whole, error, damping);
      pressed = blocked;
      const length = Math.sqrt(sumOfSquares(move));
      if (!(length > 1e-13)) break;
      const scale = Math.min(1, longest / length);
      const after = this.moved(x, this.inUnits(move, scale), asked, scale * length);
      const next = after === null ? Infinity : this.cost(after, asked);
      if (next < cost) {
        const predicted = predictedGain(rows, m, n, error, move, scale);
        const gain = (cost - next) / predicted;
        damping *= Math.max(0.1, 1 - (2 * Math.min(gain, 1) - 1) ** 3);
        growth = 2;
        dull = cost - next < enough * cost ? dull + 1 : 0;
        [x, cost] = [after, next];
      } else {
        damping *= growth;
        growth *= 2;
        if (growth > 1e9) break;
        this.cost(x, asked);
      }
    }
    return { q: x, pressed };
  }

  /** The damped step of least squares that presses no joint against its limit and opens no loop. */
  moveInside(x, asked, whole, error, damping) {
    const n = this.nv;
    const m = error.length;
    const free = Uint8Array.from(asked.free);
    const blocked = [];
    const turned = []; // rows of what turns balls beyond their limits
    for (;;) {
      const rows = whole.slice();
      for (let i = 0; i < m; i++) for (let k = 0; k < n; k++) if (!free[k]) rows[i * n + k] = 0;
      const held = this.heldRows(x, free, turned);
      for (let i = 0; i < m; i++) held.project(rows.subarray(i * n, (i + 1) * n));
      const move = leastSquares(rows, m, n, error, damping);
      const more = asked.ignoreLimits ? [] : this.pressing(x, move, free, turned);
      if (!more.length) return { move, rows, blocked };
      for (const { coordinate, v, outward } of more) {
        if (outward) turned.push({ v, outward });
        else free[v] = 0;
        const { joint } = this.coordinates[coordinate];
        if (!blocked.includes(joint)) blocked.push(joint);
      }
    }
  }

  /** The rows that a move must leave alone: loops, and balls at their limits. */
  heldRows(x, free, turned) {
    if (!turned.length) return this.closureRows(x, free);
    const n = this.nv;
    const all = new Float64Array((this.nRows + turned.length) * n);
    if (this.nRows) {
      this.openAt(x);
      all.set(this.scaledRows(free));
    }
    turned.forEach(({ v, outward }, i) => all.set(outward, (this.nRows + i) * n + v));
    return new Rows(all, this.nRows + turned.length, n);
  }

  /** The joints at limits that a move presses against them. */
  pressing(x, move, free, turned) {
    const found = [];
    this.coordinates.forEach((c, coordinate) => {
      if (c.nq > c.nv) {
        if (!Number.isFinite(c.angle) || turned.some(({ v }) => v === c.v) || !free[c.v]) return;
        const { angle, axis } = ball(x, c);
        const way = axis[0] * move[c.v] + axis[1] * move[c.v + 1] + axis[2] * move[c.v + 2];
        if (angle > c.angle - AT_LIMIT && way > 0) found.push({ coordinate, v: c.v, outward: axis });
        return;
      }
      for (let k = 0; k < c.nv; k++) {
        const v = c.v + k;
        const down = x[c.q + k] <= this.lower[c.q + k] + AT_LIMIT && move[v] < 0;
        const up = x[c.q + k] >= this.upper[c.q + k] - AT_LIMIT && move[v] > 0;
        if (free[v] && (down || up)) found.push({ coordinate, v });
      }
    });
    return found;
  }

  /** x after a move, inside limits and with loops closed; null where they do not follow. */
  moved(x, move, { free, ignoreLimits }, length) {
    const after = this.integrate(x, move);
    const beyond = ignoreLimits ? [] : this.clamp(after, free);
    if (!this.nRows) return after;
    const own = Uint8Array.from(free);
    for (const c of beyond) this.hold(own, c);
    return this.correctedInside(after, own, 0.5 * length + 1e-4, ignoreLimits).q;
  }

  // --- what may move ------------------------------------------------------------------------------

  /** The numbers of v that move when a frame is dragged, as ones: joints that carry it, and those
   *  that loops tie to them; a floating base only where nothing else does. */
  movable(frame) {
    const free = new Uint8Array(this.nv);
    for (let step = this.frames[frame].step; step >= 0; step = this.parents[step]) {
      for (const { v } of this.columnsOf[step]) free[v] = 1;
    }
    const without = this.withTied(free);
    if (this.base >= 0) this.hold(without, this.base);
    return without.some(Boolean) ? without : free;
  }

  /** The numbers of v that a coordinate takes along: those that loops tie to it. */
  takenAlong(coordinate) {
    const free = new Uint8Array(this.nv);
    const { v, nv } = this.coordinates[coordinate];
    return this.withTied(free.fill(1, v, v + nv));
  }

  withTied(free) {
    const groups = new Set(this.tied.filter((_, k) => free[k]));
    return Uint8Array.from(free, (on, k) => on || (groups.has(this.tied[k]) ? 1 : 0));
  }

  /** The number of a group for each number of v: those that loops tie to one another. */
  tiedColumns() {
    const group = Array.from({ length: this.nv }, (_, k) => k);
    const join = (a, b) => {
      const [from, to] = [group[a], group[b]];
      if (from !== to) group.forEach((own, k) => own === from && (group[k] = to));
    };
    for (const { v, nv } of this.coordinates) for (let k = 1; k < nv; k++) join(v, v + k);
    if (!this.nRows) return group;
    this.openAt(this.aside(this.still(), 0.5)); // where nothing is zero by chance
    for (let i = 0; i < this.nRows; i++) {
      const row = this.slopes.subarray(i * this.nv, (i + 1) * this.nv);
      const first = row.findIndex((x) => x !== 0);
      row.forEach((x, k) => x !== 0 && join(first, k));
    }
    return group;
  }

  allButBase() {
    const free = new Uint8Array(this.nv).fill(1);
    if (this.base >= 0) this.hold(free, this.base);
    return free;
  }

  /** All positions zero, and no turn of quaternions. */
  still() {
    const q = new Float64Array(this.nq);
    for (const c of this.coordinates) if (c.nq > c.nv) q[c.q + c.nq - 4] = 1;
    return q;
  }

  /** A configuration beside q. */
  aside(q, far) {
    return this.integrate(q, Float64Array.from(this.unit, (unit, k) => far * unit * Math.cos(3 * k + 1)));
  }

  /** Take the numbers of a coordinate from those that move. */
  hold(free, coordinate) {
    const { v, nv } = this.coordinates[coordinate];
    free.fill(0, v, v + nv);
  }

  /** The coordinate of a floating joint that carries everything that moves; -1 for none. */
  floatingBase() {
    const first = this.columns[0]?.step ?? -1;
    const carried = (step) => step === first || (step > first && carried(this.parents[step]));
    if (first < 0 || !this.columns.every(({ step }) => carried(step))) return -1;
    return this.coordinates.findIndex((c) => c.v === this.columns[0].v && c.type === "floating");
  }

  /** Put positions of what is free (or of one coordinate) back onto their limits; which ones. */
  clamp(x, free, only = -1) {
    const beyond = [];
    this.coordinates.forEach((c, coordinate) => {
      if (!free[c.v] || (only >= 0 && coordinate !== only)) return;
      let outside = false;
      for (let k = c.q; k < c.q + c.nq; k++) {
        if (x[k] < this.lower[k] || x[k] > this.upper[k]) {
          outside ||= x[k] < this.lower[k] - AT_LIMIT || x[k] > this.upper[k] + AT_LIMIT;
          x[k] = Math.max(this.lower[k], Math.min(this.upper[k], x[k]));
        }
      }
      if (c.nq > c.nv && Number.isFinite(c.angle)) outside = turnedBack(x, c) || outside;
      if (outside) beyond.push(coordinate);
    });
    return beyond;
  }

  /** A step in units, times a scale, as a velocity. */
  inUnits(move, scale = 1) {
    return move.map((x, k) => x * this.unit[k] * scale);
  }
}

/** The way of a coordinate through a closed mechanism, with the motion of all others along it. */
class Path {
  constructor(robot, q, way, coordinate, wanted) {
    Object.assign(this, { robot, q, start: q, way, coordinate, wanted, share: 0, rank: 0, tangent: null });
    const last = robot.way;
    if (last?.coordinate !== coordinate) return;
    if (!q.every((x, k) => Math.abs(x - last.q[k]) <= CLOSED)) return; // it was moved otherwise
    const sign = way.reduce((sum, x, k) => sum + x * last.way[k], 0) < 0 ? -1 : 1;
    this.tangent = last.tangent && last.tangent.map((x) => sign * x);
    this.rank = last.rank;
  }

  remember() {
    const { q, way, coordinate, tangent, rank } = this;
    this.robot.way = { q: Float64Array.from(q), way, coordinate, tangent, rank };
  }

  /** Go on to a share of the way of this length; null, or in words why not. */
  to(share, length, free, ignoreLimits) {
    const { robot } = this;
    const step = (share - this.share) * length;
    robot.openAt(this.q);
    const change = new Float64Array(robot.nRows); // of the closure, by the coordinate alone
    for (let i = 0, at = 0; i < robot.nRows; i++) {
      for (let k = 0; k < robot.nv; k++, at++) change[i] -= robot.slopes[at] * this.way[k] * step;
    }
    const rows = new Rows(robot.scaledRows(free), robot.nRows, robot.nv);
    const move = this.predicted(rows, change, step);
    const far = Math.sqrt(sumOfSquares(move)) + Math.abs(step);
    if (far > 3 * LONGEST_CLOSED_STEP) return NO_FARTHER;
    const after = robot.integrate(this.q, robot.inUnits(move));
    this.place(after, share, length);
    const beyond = ignoreLimits ? [] : robot.clamp(after, free);
    const own = Uint8Array.from(free);
    for (const c of beyond) robot.hold(own, c);
    const { q, pressed } = robot.correctedInside(after, own, 0.5 * far, ignoreLimits);
    if (q === null) {
      const inTheWay = [...new Set([...beyond, ...pressed])];
      const at = inTheWay.map((c) => robot.joints[robot.coordinates[c].joint].name);
      return at.length ? `${at.join(", ")} at ${at.length > 1 ? "limits" : "its limit"}` : NO_FARTHER;
    }
    const tangent = robot.difference(this.q, q).map((x, k) => (x * free[k]) / (step * robot.unit[k]));
    Object.assign(this, { q, share, tangent, rank: rows.rank });
    return null;
  }

  /** Go on from a dead point, where others move though the coordinate stands: first they do, then
   *  loops are closed with the coordinate a little farther. Whether that went well. */
  aside(length, longest, free, ignoreLimits) {
    const { robot } = this;
    const usual = robot.rankBeside(this.q, free);
    robot.openAt(this.q);
    const rows = new Rows(robot.scaledRows(free), robot.nRows, robot.nv, SINGULAR);
    if (rows.rank === usual) return false;
    const before = this.tangent ?? free.map(() => 0);
    const way = Float64Array.from(free, (on, k) => on * (before[k] + 1e-3 * Math.sin(k + 1)));
    rows.project(way);
    const size = Math.sqrt(sumOfSquares(way));
    if (!(size > 1e-9)) return false;
    for (let step = longest; step > 1e-3 * longest; step *= 0.5) {
      const share = Math.min(1, this.share + step);
      for (const far of [0.1, -0.1, 0.3, -0.3]) {
        const after = robot.integrate(this.q, robot.inUnits(way, far / size));
        this.place(after, share, length);
        const { q } = robot.correctedInside(after, free, 0.6, ignoreLimits);
        if (q === null) continue;
        Object.assign(this, { q, share, tangent: null, rank: 0 });
        return true;
      }
    }
    return false;
  }

  /** The move of the others that keeps loops closed to first order: the least one. Where a
   *  singularity has let more motions in, the one that is nearest to the motion so far. */
  predicted(rows, change, step) {
    if (!this.tangent || rows.rank >= this.rank) return rows.solve(change);
    const before = this.tangent.map((x) => x * step);
    const along = rows.product(before);
    const more = rows.solve(change.map((x, i) => x - along[i]));
    return before.map((x, k) => x + more[k]);
  }

  /** Put the coordinate itself where it is to be, exactly. */
  place(q, share, length) {
    const { robot, wanted } = this;
    const c = robot.coordinates[this.coordinate];
    const own = share < 1 ? robot.integrate(this.start, this.way.map((x) => x * share * length)) : wanted;
    for (let k = c.q; k < c.q + c.nq; k++) q[k] = own[k];
  }
}

// --- linear equations -----------------------------------------------------------------------------

/** The rows of a matrix (m, n) as lengths along orthonormal ones, the longest first. Rows that follow
 *  from others are left out. Source: modified Gram-Schmidt with pivots, G. H. Golub, C. F. Van Loan,
 *  "Matrix Computations", 4th ed., sections 5.2.8 and 5.4. */
class Rows {
  constructor(matrix, m, n, dependent = DEPENDENT) {
    this.n = n;
    this.matrix = matrix;
    this.order = [];
    this.q = [];
    const rest = Float64Array.from(matrix);
    const left = [];
    for (let i = 0; i < m; i++) if (matrix.subarray(i * n, (i + 1) * n).some((x) => x !== 0)) left.push(i);
    this.lengths = Array.from({ length: m }, () => []);
    let first = 0;
    while (left.length) {
      let [best, most] = [0, -1];
      left.forEach((i, place) => {
        let squared = 0;
        for (let k = 0, at = i * n; k < n; k++, at++) squared += rest[at] * rest[at];
        if (squared > most) [best, most] = [place, squared];
      });
      const [pivot] = left.splice(best, 1);
      const row = rest.slice(pivot * n, (pivot + 1) * n);
      this.q.forEach((q, j) => (this.lengths[pivot][j] += takeAway(row, q))); // what rounding left
      const length = Math.sqrt(sumOfSquares(row));
      first ||= length;
      if (!(length > dependent * first)) break;
      for (let k = 0; k < n; k++) row[k] /= length;
      this.lengths[pivot].push(length);
      for (const i of left) this.lengths[i].push(takeAway(rest.subarray(i * n, (i + 1) * n), row));
      this.q.push(row);
      this.order.push(pivot);
    }
    this.rank = this.q.length;
  }

  /** The shortest x of A x = b. */
  solve(b) {
    const y = [];
    const x = new Float64Array(this.n);
    this.order.forEach((pivot, j) => {
      let s = b[pivot];
      const lengths = this.lengths[pivot];
      for (let i = 0; i < j; i++) s -= lengths[i] * y[i];
      y.push(s / lengths[j]);
      for (let k = 0, q = this.q[j]; k < this.n; k++) x[k] += y[j] * q[k];
    });
    return x;
  }

  /** Take from a vector what lies along the rows. */
  project(x) {
    for (let again = 0; again < 2; again++) for (const q of this.q) takeAway(x, q);
  }

  /** A x. */
  product(x) {
    const found = new Float64Array(this.matrix.length / this.n);
    for (let i = 0, at = 0; i < found.length; i++) {
      for (let k = 0; k < this.n; k++, at++) found[i] += this.matrix[at] * x[k];
    }
    return found;
  }
}

const NOTHING = new Rows(new Float64Array(0), 0, 0);

/** Take from x what lies along a unit vector; how much that was. */
function takeAway(x, q) {
  let along = 0;
  for (let k = 0; k < q.length; k++) along += x[k] * q[k];
  if (along !== 0) for (let k = 0; k < q.length; k++) x[k] -= along * q[k];
  return along;
}

/** The x that makes |A x - b|² + damping |x|² least, for A (m, n): Aᵀ (A Aᵀ + damping)⁻¹ b. */
function leastSquares(A, m, n, b, damping) {
  const M = new Float64Array(m * m);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) {
      let s = i === j ? damping : 0;
      for (let k = 0, a = i * n, c = j * n; k < n; k++, a++, c++) s += A[a] * A[c];
      M[i * m + j] = s;
    }
  }
  // L D Lᵀ, and the solution in place; a pivot that rounding made nothing of is left out
  const y = Float64Array.from(b);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j <= i; j++) {
      let s = M[i * m + j];
      for (let k = 0; k < j; k++) s -= M[i * m + k] * M[j * m + k] * M[k * m + k];
      if (j === i) M[i * m + i] = s > 0 ? s : Infinity;
      else M[i * m + j] = s / M[j * m + j];
    }
    for (let k = 0; k < i; k++) y[i] -= M[i * m + k] * y[k];
  }
  for (let i = m - 1; i >= 0; i--) {
    y[i] /= M[i * m + i];
    for (let k = i + 1; k < m; k++) y[i] -= M[k * m + i] * y[k];
  }
  const x = new Float64Array(n);
  for (let i = 0, at = 0; i < m; i++) for (let k = 0; k < n; k++, at++) x[k] += A[at] * y[i];
  return x;
}

/** How much lower half the squared error is after a move, as the rows have it. */
function predictedGain(A, m, n, error, move, scale) {
  let gain = 0;
  for (let i = 0, at = 0; i < m; i++) {
    let along = 0;
    for (let k = 0; k < n; k++, at++) along += A[at] * move[k];
    along *= scale;
    gain += along * (error[i] - 0.5 * along);
  }
  return Math.max(gain, 1e-300);
}

/** The largest squared length of the rows of A (m, n). */
function steepest(A, m, n) {
  let most = 0;
  for (let i = 0; i < m; i++) most = Math.max(most, sumOfSquares(A.subarray(i * n, (i + 1) * n)));
  return most;
}

function sumOfSquares(x) {
  let s = 0;
  for (let k = 0; k < x.length; k++) s += x[k] * x[k];
  return s;
}

/** The largest absolute value; NaN where one is none. */
function largest(x) {
  let most = 0;
  for (let k = 0; k < x.length; k++) {
    const size = Math.abs(x[k]);
    if (!(size <= most)) most = size;
    if (size !== size) return NaN;
  }
  return most;
}

// --- quaternions and words ------------------------------------------------------------------------

function sub(x, start, count) {
  return ArrayBuffer.isView(x) ? x.subarray(start, start + count) : x.slice(start, start + count);
}

/** Give the quaternion at the end of a joint's positions unit length; one of zero is no turn. */
function unitQuaternion(own) {
  const at = own.length - 4;
  const length = Math.hypot(own[at], own[at + 1], own[at + 2], own[at + 3]);
  if (length > 0 && Number.isFinite(length)) for (let k = at; k < at + 4; k++) own[k] /= length;
  else own.set([1, 0, 0, 0], at);
}

/** The angle of a ball joint, and the axis that it turns about. */
function ball(x, c) {
  const [w, a, b, d] = x.slice(c.q + c.nq - 4, c.q + c.nq);
  const length = Math.hypot(a, b, d);
  const sign = (w < 0 ? -1 : 1) / (length || 1);
  return { angle: 2 * Math.atan2(length, Math.abs(w)), axis: [sign * a, sign * b, sign * d] };
}

/** Turn a ball joint back onto its limit; whether it was beyond. */
function turnedBack(x, c) {
  const { angle, axis } = ball(x, c);
  if (angle <= c.angle) return false;
  const half = 0.5 * c.angle * (1 - 1e-12);
  x.set([Math.cos(half), ...axis.map((k) => Math.sin(half) * k)], c.q + c.nq - 4);
  return angle > c.angle + AT_LIMIT;
}

function shown(value, isLength) {
  return isLength ? `${Number(value.toPrecision(4))} m` : `${degrees(value)}`;
}

function millimetres(x) {
  const mm = 1000 * x;
  return mm >= 1 ? `${Math.round(mm)} mm` : `${Number(mm.toPrecision(1))} mm`;
}

function degrees(x) {
  const value = (180 / Math.PI) * x;
  return `${Math.abs(value) >= 1 ? Math.round(10 * value) / 10 : Number(value.toPrecision(1))}°`;
}

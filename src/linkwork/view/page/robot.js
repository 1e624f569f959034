// One robot on the stage: its shapes, and the marks that explain it.
//
// What hangs on a link is a child of the link's group, whose matrix is set from the poses. Marks
// (skeleton, frames, axes, ...) are instances of a few forms, placed anew when the robot has moved.

import { decoded, matrixFrom, merged, shaded } from "./shapes.js";

const PLAIN = { visual: [0.80, 0.82, 0.85, 1], collision: [0.16, 0.62, 0.60, 1] };
// The colours of drawings: joints by how they move, loops; x, y, z apart for colour-blind eyes too
export const MARK = {
  bone: 0x4d7ea8, actuated: 0xe69f00, passive: 0xa9b2bd, coupled: 0xcc79a7, loop: 0x009e73,
  com: 0xd6336c, lit: 0x2f6fde, touch: 0xe0261b,
};
export const AXES = [0xd55e00, 0x009e73, 0x0072b2];
const Y = new THREE.Vector3(0, 1, 0);

/** Cylinders, cones and boxes along y, merged into one form with colours of its corners. */
function form(pieces) {
  return merged(pieces.map(({ geometry, at = [0, 0, 0], turn = [0, 0, 0], rgb = [1, 1, 1] }) => {
    const plain = geometry.toNonIndexed();
    const placed = new THREE.Object3D();
    placed.rotation.set(...turn);
    placed.position.set(...at);
    placed.updateMatrix();
    const e = placed.matrix.elements;
    const T = [e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]];
    return { shape: { positions: plain.attributes.position.array, normals: plain.attributes.normal.array }, T, rgba: [...rgb, 1] };
  }));
}

const cylinder = (radius, length, sides = 20, top = radius) => new THREE.CylinderGeometry(top, radius, length, sides);

const FORMS = {
  bone: () => form([{ geometry: cylinder(1, 1, 16) }]),
  ball: () => form([{ geometry: new THREE.SphereGeometry(1, 24, 16) }]),
  turn: () => form([{ geometry: cylinder(1, 2.2, 32) }]),
  slide: () => form([{ geometry: new THREE.BoxGeometry(1.5, 3, 1.5) }]),
  ring: () => form([{ geometry: new THREE.TorusGeometry(1, 0.26, 12, 36), turn: [Math.PI / 2, 0, 0] }]),
  arrow: () => form([
    { geometry: cylinder(0.018, 1.7, 12), at: [0, 0, 0] },
    { geometry: cylinder(0.055, 0.2, 20, 0), at: [0, 0.95, 0] },
  ]),
  triad: () => {
    const arrow = (turn, to, colour) => {
      const rgb = [16, 8, 0].map((shift) => ((colour >> shift) & 255) / 255);
      return [
        { geometry: cylinder(0.028, 0.86, 10), turn, at: to.map((x) => 0.43 * x), rgb },
        { geometry: cylinder(0.07, 0.18, 14, 0), turn, at: to.map((x) => 0.91 * x), rgb },
      ];
    };
    return form([
      ...arrow([0, 0, -Math.PI / 2], [1, 0, 0], AXES[0]),
      ...arrow([0, 0, 0], [0, 1, 0], AXES[1]),
      ...arrow([Math.PI / 2, 0, 0], [0, 0, 1], AXES[2]),
    ]);
  },
};

/** What shapes are made of; their colours are those of their corners. */
export function surface() {
  return new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.58, metalness: 0.06, side: THREE.DoubleSide });
}

export class RobotOnStage {
  constructor(data, kinematics, stage, bytes) {
    this.data = data;
    this.kinematics = kinematics;
    this.stage = stage;
    this.group = new THREE.Group(); // in the world
    this.marks = new THREE.Group(); // over it
    for (const group of [this.group, this.marks]) {
      group.matrixAutoUpdate = false;
      matrixFrom(data.T_world_robot, 0, group.matrix);
    }
    stage.world.add(this.group);
    stage.front.add(this.marks);
    this.links = data.links.map(() => {
      const link = new THREE.Group();
      link.matrixAutoUpdate = false;
      this.group.add(link);
      return link;
    });
    this.shown = new Set();
    this.meshes = { visual: [], collision: [] };
    this._shapes = this._decode(bytes);
    this._bytes = bytes;
    this._textures = [];
    this._forms = {};
    this._instances = {};
    this.poses = kinematics.poses(data.q);
    this._dirty = true;
    this.hasShapes = data.parts.length > 0;
  }

  // --- what is shown ------------------------------------------------------------------------------

  /** Show exactly these: visual, collision, skeleton, frames, axes, inertia, com, loops. */
  show(kinds) {
    this.shown = new Set(kinds);
    for (const kind of ["visual", "collision"]) {
      if (this.shown.has(kind) && !this.meshes[kind].length) this._build(kind);
      const both = kind === "collision" && this.shown.has("visual");
      for (const mesh of this.meshes[kind]) {
        mesh.visible = this.shown.has(kind);
        mesh.castShadow = mesh.visible && !both;
        if (kind === "collision") {
          mesh.material.transparent = true;
          mesh.material.opacity = both ? 0.32 : Math.min(0.92, mesh.userData.opacity);
          mesh.material.depthWrite = !both;
        }
      }
    }
    const shapes = ["visual", "collision"].some((kind) => this.meshes[kind].some((m) => m.visible));
    const home = shapes ? this.stage.front : this.stage.world; // alone, marks cast shadows
    if (this.marks.parent !== home) home.add(this.marks);
    this._marksCast = !shapes;
    this._dirty = true;
    this.stage.changed();
  }

  get pickable() {
    const found = [];
    for (const kind of ["visual", "collision"]) for (const m of this.meshes[kind]) if (m.visible) found.push(m);
    for (const name of ["bones", "turns", "slides", "balls"]) {
      const mark = this._instances[name];
      if (mark?.visible && this.shown.has("skeleton")) found.push(mark);
    }
    return found;
  }

  get framePickable() {
    const triads = this._instances.triads;
    return triads?.visible ? [triads] : [];
  }

  /** The box of what is shown, in the world. */
  box() {
    const box = new THREE.Box3(), point = new THREE.Vector3();
    this.group.updateMatrixWorld(true);
    for (const kind of ["visual", "collision"])
      for (const mesh of this.meshes[kind]) if (mesh.visible) box.expandByObject(mesh);
    if (box.isEmpty()) {
      for (let k = 0; k < this.data.frames.length; k++)
        box.expandByPoint(this.framePoint(k, point));
      const margin = 0.06 * box.getSize(new THREE.Vector3()).length() || 0.05;
      box.expandByScalar(margin);
    }
    return box;
  }

  /** The origin of a frame in the world. */
  framePoint(frame, into = new THREE.Vector3()) {
    const k = 12 * frame;
    return into.set(this.poses[k + 3], this.poses[k + 7], this.poses[k + 11]).applyMatrix4(this.group.matrix);
  }

  // --- where it is --------------------------------------------------------------------------------

  /** Move everything to the poses of q. */
  moveTo(q) {
    this.q = q;
    this.poses = this.kinematics.poses(q);
    this.links.forEach((link, k) => {
      matrixFrom(this.poses, 12 * k, link.matrix);
      link.matrixWorldNeedsUpdate = true;
    });
    this._dirty = true;
    this.stage.changed();
  }

  /** Place marks and colours anew where the robot has moved: called before each frame. */
  refresh() {
    if (!this._dirty) return;
    this._dirty = false;
    const { shown } = this;
    const on = (name, kind, placements) => this._place(name, kind, placements);
    on("bones", "bone", shown.has("skeleton") && this._bonePlaces());
    const joints = shown.has("skeleton") ? this._jointPlaces() : null;
    on("turns", "turn", joints && joints.turn);
    on("slides", "slide", joints && joints.slide);
    on("balls", "ball", joints && joints.ball);
    on("triads", "triad", shown.has("frames") && this._framePlaces());
    on("arrows", "arrow", (shown.has("axes") || this._axisOf !== undefined) && this._axisPlaces());
    on("ellipsoids", "ball", shown.has("inertia") && this._inertiaPlaces());
    on("masses", "ball", shown.has("com") && this._massPlaces());
    const loops = shown.has("loops") && this.data.loops.length ? this._loopPlaces() : null;
    on("rods", "bone", loops && loops.rods);
    on("pins", "ball", loops && loops.pins);
    this._colourTorques();
  }

  // --- ghost --------------------------------------------------------------------------------------

  /** A second configuration, pale; null takes it away. */
  setGhost(q) {
    this.ghost = q;
    if (this._ghostGroup) this._ghostGroup.visible = Boolean(q);
    if (!q) return this.stage.changed();
    if (!this._ghostGroup) this._buildGhost();
    const poses = this.kinematics.poses(q);
    this._ghostLinks.forEach((link, k) => {
      matrixFrom(poses, 12 * k, link.matrix);
      link.matrixWorldNeedsUpdate = true;
    });
    if (this._ghostBones) {
      this._ghostBones.dispose();
      this._ghostBones.removeFromParent();
    }
    if (!this.meshes.visual.length) {
      const places = this._bonePlaces(poses);
      const mesh = new THREE.InstancedMesh(this._form("bone"), this._ghostMaterial, places.length);
      places.forEach((place, k) => mesh.setMatrixAt(k, place.matrix));
      mesh.frustumCulled = false;
      this._ghostGroup.add((this._ghostBones = mesh));
    }
    this.stage.changed();
  }

  _buildGhost() {
    if (!this.meshes.visual.length && this.data.parts.some((part) => part.kind === "visual")) this._build("visual");
    for (const mesh of this.meshes.visual) mesh.visible = this.shown.has("visual");
    this._ghostGroup = new THREE.Group();
    this._ghostMaterial = new THREE.MeshStandardMaterial({ color: 0x4d8df0, roughness: 0.9, transparent: true, opacity: 0.26, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 4 });
    this._ghostLinks = this.links.map(() => {
      const link = new THREE.Group();
      link.matrixAutoUpdate = false;
      this._ghostGroup.add(link);
      return link;
    });
    for (const mesh of this.meshes.visual) {
      const pale = new THREE.Mesh(mesh.geometry, this._ghostMaterial);
      pale.renderOrder = 3;
      this._ghostLinks[mesh.userData.link].add(pale);
    }
    this.group.add(this._ghostGroup);
  }

  // --- attention ----------------------------------------------------------------------------------

  /** Light up what a joint moves (-1: nothing) and show its axis. */
  highlight(joint, axis = false) {
    const lit = joint >= 0 ? new Set(this.linksOf(joint)) : new Set();
    this._lit = lit;
    this._paint();
    this._axisOf = axis && joint >= 0 ? joint : undefined;
    this._dirty = true;
    this.stage.changed(false);
  }

  /** Paint the links and held objects of these names red: they touch something. */
  paintTouching(names) {
    this._touching = names;
    this._paint();
    this._dirty = true;
    this.stage.changed(false);
  }

  /** Give all meshes the colour of what they are: touching, lit, or as they are. */
  _paint() {
    for (const kind of ["visual", "collision"])
      for (const { material, userData } of this.meshes[kind]) {
        const touching = this._touches(userData);
        const lit = this._lit?.has(userData.link);
        material.emissive.setHex(touching ? MARK.touch : lit ? MARK.lit : 0);
        material.emissiveIntensity = touching ? 0.45 : lit ? 0.16 : 0;
        if (!this._coloured || kind === "collision") material.color.setHex(this._tint(userData));
      }
  }

  _touches({ link, held }) {
    return this._touching?.has(held ?? this.data.links[link]) ?? false;
  }

  _tint(userData) {
    return this._touches(userData) ? 0xff9a90 : this._lit?.has(userData.link) ? 0x9fbdf7 : 0xffffff;
  }

  /** The links that move with a joint's own body. */
  linksOf(joint) {
    return this.data.link_joint.flatMap((of, link) => (of === joint ? [link] : []));
  }

  // --- torques as colours -------------------------------------------------------------------------

  /** Joints' torques under gravity as shares of effort limits, or of the largest: for colours. */
  torques() {
    const tau = this.kinematics.gravityTorques(this.q);
    const { joints } = this.data;
    const known = joints.filter((j) => j.v && j.v[1] === 1).every((j) => Number.isFinite(j.effort?.[0]) && j.effort[0] > 0);
    const values = joints.map((j) => (j.v && j.v[1] === 1 ? tau[j.v[0]] : null));
    const largest = Math.max(1e-9, ...values.map((x) => Math.abs(x ?? 0)));
    const shares = values.map((x, k) => (x === null ? null : Math.abs(x) / (known ? joints[k].effort[0] : largest)));
    return { values, shares, known, largest };
  }

  _colourTorques() {
    const on = this.shown.has("torques");
    if (!on && !this._coloured) return;
    this._coloured = on;
    const torques = on ? this.torques() : null;
    for (const mesh of this.meshes.visual) {
      const { material } = mesh;
      if (material.vertexColors === on) {
        material.vertexColors = !on;
        material.needsUpdate = true;
      }
      if (on) {
        const joint = this.data.link_joint[mesh.userData.link];
        const share = joint >= 0 ? torques.shares[joint] : null;
        material.color.set(share === null ? 0xc9ced6 : heat(share));
      } else material.color.setHex(this._tint(mesh.userData));
    }
  }

  // --- shapes -------------------------------------------------------------------------------------

  _decode(bytes) {
    const made = new Map();
    return (index) => {
      if (!made.has(index)) made.set(index, shaded(decoded(this.data.geometries[index], bytes)));
      return made.get(index);
    };
  }

  _build(kind) {
    const piles = new Map(); // one mesh for each link, for what of it is transparent, and what it holds
    for (const part of this.data.parts) {
      if (part.kind !== kind) continue;
      const rgba = kind === "collision" ? PLAIN.collision : part.rgba ?? (part.texture === null ? PLAIN.visual : [1, 1, 1, 1]);
      const opacity = rgba[3] < 0.99 ? Math.round(rgba[3] * 20) / 20 : 1;
      const textured = part.texture !== null && this.data.geometries[part.geometry].uv;
      const texture = textured ? part.texture : null;
      const held = part.held ?? undefined;
      const key = `${part.link} ${opacity} ${texture} ${held}`;
      if (!piles.has(key)) piles.set(key, { link: part.link, held, opacity, texture, parts: [] });
      piles.get(key).parts.push({ shape: this._shapes(part.geometry), T: part.T, rgba });
    }
    for (const { link, held, opacity, texture, parts } of piles.values()) {
      const material = surface();
      Object.assign(material, { transparent: opacity < 1, opacity, depthWrite: opacity > 0.6 });
      if (texture !== null) material.map = this._texture(texture);
      const mesh = new THREE.Mesh(merged(parts), material);
      mesh.receiveShadow = true;
      mesh.userData = { link, held, robot: this, opacity, kind };
      this.links[link].add(mesh);
      this.meshes[kind].push(mesh);
    }
  }

  /** Wait until all textures have been decoded. */
  textured() {
    return Promise.all(this._textures.map((texture) => texture?.decoded));
  }

  /** A texture, which is there once the browser has decoded it. */
  _texture(index) {
    return (this._textures[index] ??= (() => {
      const { data: [start, length], type } = this.data.textures[index];
      const texture = new THREE.Texture();
      texture.colorSpace = THREE.SRGBColorSpace;
      texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
      texture.anisotropy = 4;
      const image = new Image();
      texture.decoded = new Promise((done) => {
        image.onload = () => {
          texture.image = image;
          texture.needsUpdate = true;
          this.stage.changed(false);
          done();
        };
        image.onerror = done;
      });
      image.src = URL.createObjectURL(new Blob([this._bytes.slice(start, start + length)], { type }));
      return texture;
    })());
  }

  // --- marks --------------------------------------------------------------------------------------

  get unit() {
    return this._unit ?? (this._unit = 0.017 * this.extent);
  }

  /** Half the size of the robot at its first configuration, m: what marks are sized by. */
  get extent() {
    return (this._extent ??= this.box().getSize(new THREE.Vector3()).length() / 2 || 1);
  }

  _form(name) {
    return (this._forms[name] ??= FORMS[name]());
  }

  _place(name, kind, places) {
    let mesh = this._instances[name];
    if (!places || !places.length) {
      if (mesh) mesh.visible = false;
      return;
    }
    if (!mesh || mesh.instanceMatrix.count < places.length) {
      mesh?.removeFromParent();
      mesh?.dispose();
      const clear = name === "ellipsoids";
      const material = kind === "triad"
        ? new THREE.MeshBasicMaterial({ vertexColors: true })
        : new THREE.MeshStandardMaterial({ roughness: 0.7, transparent: clear, opacity: clear ? 0.4 : 1, depthWrite: !clear });
      mesh = new THREE.InstancedMesh(this._form(kind), material, places.length);
      mesh.setColorAt(0, new THREE.Color(1, 1, 1));
      mesh.frustumCulled = false;
      mesh.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
      mesh.userData = { robot: this };
      this._instances[name] = mesh;
      this.marks.add(mesh);
    }
    mesh.visible = true;
    mesh.count = places.length;
    mesh.castShadow = this._marksCast && ["bones", "turns", "slides", "balls", "rods"].includes(name);
    mesh.userData.links = places.map((place) => place.link);
    mesh.userData.frames = places.map((place) => place.frame);
    const colour = new THREE.Color();
    places.forEach((place, k) => {
      mesh.setMatrixAt(k, place.matrix);
      if (kind !== "triad") mesh.setColorAt(k, colour.set(place.colour));
    });
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }

  _point(link, p, poses = this.poses) {
    const k = 12 * link;
    return new THREE.Vector3(
      poses[k] * p[0] + poses[k + 1] * p[1] + poses[k + 2] * p[2] + poses[k + 3],
      poses[k + 4] * p[0] + poses[k + 5] * p[1] + poses[k + 6] * p[2] + poses[k + 7],
      poses[k + 8] * p[0] + poses[k + 9] * p[1] + poses[k + 10] * p[2] + poses[k + 11],
    );
  }

  _direction(link, d) {
    return this._point(link, d).sub(this._point(link, [0, 0, 0]));
  }

  _between(a, b, radius) {
    const along = b.clone().sub(a), length = along.length();
    const turn = new THREE.Quaternion().setFromUnitVectors(Y, length > 1e-12 ? along.divideScalar(length) : Y);
    return new THREE.Matrix4().compose(a.clone().add(b).multiplyScalar(0.5), turn, new THREE.Vector3(radius, length, radius));
  }

  _colourOf(link, colour) {
    return this._lit?.has(link) ? MARK.lit : colour;
  }

  _bonePlaces(poses = this.poses) {
    const places = [];
    for (const [linkA, a, linkB, b] of this.data.segments) {
      const from = this._point(linkA, a, poses), to = this._point(linkB, b, poses);
      if (from.distanceToSquared(to) < 1e-14) continue;
      places.push({ matrix: this._between(from, to, 0.62 * this.unit), colour: this._colourOf(linkA, MARK.bone), link: linkA });
    }
    return places;
  }

  _jointPlaces() {
    const places = { turn: [], slide: [], ball: [] };
    const torques = this.shown.has("torques") && !this.hasShapes ? this.torques() : null;
    this.data.joints.forEach((joint, index) => {
      const share = torques?.shares[index];
      const colour = this._lit?.has(joint.link) ? MARK.lit : share == null ? MARK[this._kindOf(joint)] : heat(share);
      const at = this._point(joint.link, joint.at);
      const size = 1.9 * this.unit;
      const turn = new THREE.Quaternion();
      if (joint.axis) turn.setFromUnitVectors(Y, this._direction(joint.link, joint.axis).normalize());
      const matrix = new THREE.Matrix4().compose(at, turn, new THREE.Vector3(size, size, size));
      const form = joint.type === "prismatic" ? "slide" : joint.axis && joint.type !== "planar" ? "turn" : "ball";
      places[form].push({ matrix, colour, link: joint.link });
    });
    // Ends of bones, rounded
    const seen = new Set();
    for (const [linkA, a, linkB, b] of this.data.segments)
      for (const [link, p] of [[linkA, a], [linkB, b]]) {
        const key = `${link} ${p}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const size = 0.62 * this.unit;
        const matrix = new THREE.Matrix4().compose(this._point(link, p), new THREE.Quaternion(), new THREE.Vector3(size, size, size));
        places.ball.push({ matrix, colour: this._colourOf(link, MARK.bone), link });
      }
    return places;
  }

  _kindOf(joint) {
    return joint.coupled ? "coupled" : joint.actuated ? "actuated" : "passive";
  }

  _framePlaces() {
    this._distinctFrames ??= this._distinct();
    const scale = new THREE.Matrix4().makeScale(5.2 * this.unit, 5.2 * this.unit, 5.2 * this.unit);
    return this._distinctFrames.map((frame) => ({
      matrix: matrixFrom(this.poses, 12 * frame).multiply(scale), frame, link: this.data.frame_link[frame],
    }));
  }

  /** Frames of which none has the same place on the same link as an earlier one. */
  _distinct() {
    const seen = new Set(), found = [];
    for (let frame = 0; frame < this.data.frames.length; frame++) {
      const link = this.data.frame_link[frame];
      const relative = matrixFrom(this.poses, 12 * link).invert().multiply(matrixFrom(this.poses, 12 * frame));
      const key = `${link} ${relative.elements.map((x) => Math.round(1e6 * x)).join()}`;
      if (!seen.has(key)) found.push(frame);
      seen.add(key);
    }
    return found;
  }

  _axisPlaces() {
    const places = [];
    const length = 7 * this.unit;
    this.data.joints.forEach((joint, index) => {
      if (!joint.axis || (!this.shown.has("axes") && index !== this._axisOf)) return;
      const turn = new THREE.Quaternion().setFromUnitVectors(Y, this._direction(joint.link, joint.axis).normalize());
      const bold = index === this._axisOf ? 1.5 : 1;
      const matrix = new THREE.Matrix4().compose(
        this._point(joint.link, joint.at), turn, new THREE.Vector3(length * bold, length * bold, length * bold));
      places.push({ matrix, colour: MARK[this._kindOf(joint)], link: joint.link });
    });
    return places;
  }

  _inertiaPlaces() {
    const places = [];
    for (const mass of this.data.masses) {
      if (!(mass.mass > 0)) continue;
      mass.principal ??= principal(mass.inertia);
      const { moments, R } = mass.principal;
      const radii = [0, 1, 2].map((k) => {
        const [i, j] = [moments[(k + 1) % 3], moments[(k + 2) % 3]];
        return Math.sqrt(Math.max(0, (2.5 * (i + j - moments[k])) / mass.mass)); // of a solid ellipsoid
      });
      if (!(Math.max(...radii) > 0)) continue;
      const least = 0.02 * Math.max(...radii);
      const [a, b, c] = radii.map((r) => Math.max(r, least));
      const local = new THREE.Matrix4().set(
        R[0][0] * a, R[0][1] * b, R[0][2] * c, mass.com[0],
        R[1][0] * a, R[1][1] * b, R[1][2] * c, mass.com[1],
        R[2][0] * a, R[2][1] * b, R[2][2] * c, mass.com[2], 0, 0, 0, 1);
      places.push({ matrix: matrixFrom(this.poses, 12 * mass.link).multiply(local), colour: 0x2aa198, link: mass.link });
    }
    return places;
  }

  _massPlaces() {
    const places = [];
    const ball = (at, size, colour) => places.push({
      matrix: new THREE.Matrix4().compose(at, new THREE.Quaternion(), new THREE.Vector3(size, size, size)), colour, link: -1,
    });
    const total = this.data.masses.reduce((sum, m) => sum + m.mass, 0);
    if (!(total > 0)) return places;
    const largest = Math.max(...this.data.masses.map((m) => m.mass));
    for (const m of this.data.masses)
      if (m.mass > 0) ball(this._point(m.link, m.com), this.unit * 0.9 * Math.cbrt(m.mass / largest), 0xe79bb6);
    const com = this.kinematics.centerOfMass(this.q);
    if (com) ball(new THREE.Vector3(...com), 1.7 * this.unit, MARK.com);
    return places;
  }

  _loopPlaces() {
    const rods = [], pins = [];
    for (const loop of this.data.loops) {
      const a = this.frameOrigin(loop.frame_a), b = this.frameOrigin(loop.frame_b);
      const size = 1.15 * this.unit;
      for (const p of loop.kind === "distance" ? [a, b] : [a])
        pins.push({ matrix: new THREE.Matrix4().compose(p, new THREE.Quaternion(), new THREE.Vector3(size, size, size)), colour: MARK.loop, link: -1 });
      if (a.distanceTo(b) > 1e-9 * this.extent && (loop.kind === "distance" || a.distanceTo(b) > 1e-4 * this.extent))
        rods.push({ matrix: this._between(a, b, 0.5 * this.unit), colour: MARK.loop, link: -1 });
    }
    return { rods, pins };
  }

  /** The origin of a frame in the robot's base. */
  frameOrigin(frame) {
    const k = 12 * frame;
    return new THREE.Vector3(this.poses[k + 3], this.poses[k + 7], this.poses[k + 11]);
  }
}

const HEAT = [[0, 0x5b8fd6], [0.35, 0x8fc7b5], [0.6, 0xf2cf63], [0.8, 0xee8a3c], [1, 0xd3382f]];

/** The colour of a share of what a joint can bear: calm blue at 0, red at 1 and beyond. */
export function heat(share) {
  const s = Math.min(1, Math.max(0, share));
  const k = Math.max(1, HEAT.findIndex(([at]) => s <= at));
  const [[a, from], [b, to]] = [HEAT[k - 1], HEAT[k]];
  return new THREE.Color(from).lerp(new THREE.Color(to), (s - a) / (b - a)).getHex();
}

/** Principal moments and axes (columns of R, right-handed) of a symmetric matrix, six numbers. */
function principal([xx, xy, xz, yy, yz, zz]) {
  const A = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
  const R = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 30; sweep++) {
    let off = 0;
    for (const [p, q] of [[0, 1], [0, 2], [1, 2]]) {
      off += Math.abs(A[p][q]);
      if (Math.abs(A[p][q]) < 1e-300) continue;
      const theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
      const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
      const c = 1 / Math.sqrt(t * t + 1), s = t * c;
      for (let k = 0; k < 3; k++) {
        const kp = A[k][p], kq = A[k][q];
        A[k][p] = c * kp - s * kq;
        A[k][q] = s * kp + c * kq;
      }
      for (let k = 0; k < 3; k++) {
        const pk = A[p][k], qk = A[q][k];
        A[p][k] = c * pk - s * qk;
        A[q][k] = s * pk + c * qk;
        const rp = R[k][p], rq = R[k][q];
        R[k][p] = c * rp - s * rq;
        R[k][q] = s * rp + c * rq;
      }
    }
    if (off < 1e-18) break;
  }
  return { moments: [A[0][0], A[1][1], A[2][2]], R };
}

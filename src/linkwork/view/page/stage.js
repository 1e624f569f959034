// The three-dimensional view: camera, lights, ground, and drawing when something has changed.
//
// There is no loop of frames. Whoever changes something calls `changed()`, and one frame is drawn
// at the browser's next turn; what goes on by itself (a motion that plays, the camera's glide) asks
// for the next frame from within the one before. Where frames come slowly (a processor draws them),
// what moves is drawn with fewer pixels, and sharply once it stands still.

const UP = [0, 0, 1];
const SLOW = 60; // ms that a frame lets wait for it
const COARSE = 0.5; // of the pixels along a side
const FIELD_OF_VIEW = 28;

export class Stage {
  constructor(host, { smooth = true } = {}) {
    this.host = host;
    this.world = new THREE.Scene();
    this.front = new THREE.Scene(); // drawn over the world: skeleton, frames, handles
    this.camera = new THREE.PerspectiveCamera(FIELD_OF_VIEW, 1, 0.01, 100);
    this.camera.up.set(...UP);
    this.renderer = new THREE.WebGLRenderer({ antialias: smooth, alpha: true, preserveDrawingBuffer: false });
    this.renderer.autoClear = false;
    this.renderer.setClearColor(0x000000, 0); // said here, or the first frame is cleared to black
    this.renderer.debug.checkShaderErrors = false; // asking would wait for the compiler
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.autoUpdate = false;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "View of the robot: drag to turn, right drag to move, wheel to zoom");
    host.appendChild(this.canvas);
    this.orbit = new THREE.OrbitControls(this.camera, this.canvas);
    this.orbit.enableDamping = true;
    this.orbit.dampingFactor = 0.18;
    this.orbit.zoomToCursor = true;
    this.orbit.listenToKeyEvents(this.canvas);
    this.orbit.addEventListener("change", () => this.changed(false));
    this.beforeFrame = []; // called with the time (ms) before each frame
    this.afterFrame = [];
    this.framesDrawn = 0;
    this.size = 1;
    this.box = new THREE.Box3();
    this.centre = new THREE.Vector3();
    this._waiting = 0;
    this._lights();
    this._ground();
    new ResizeObserver(() => {
      this._resize();
      this._onResize?.();
      this._onResize = null;
    }).observe(host);
    this._watchPixelRatio();
    this.canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.lost = true;
    });
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.lost = false;
      this.changed();
      clearTimeout(this._again);
      this._again = setTimeout(() => { // the first frame may go to a canvas that is not shown yet
        this._again = 0;
        this.changed();
      }, 200);
    });
    this._resize();
  }

  /** Ask for a frame; `poses` says whether shadows have moved too. */
  changed(poses = true) {
    if (poses) this.renderer.shadowMap.needsUpdate = true;
    if (this._waiting || this._fixed) return;
    this._asked = performance.now();
    this._waiting = requestAnimationFrame((time) => this.frame(time));
  }

  /** The share of the height that is kept free above and below. */
  get margin() {
    return Math.min(0.2, Math.max(0.1, 62 / this.height));
  }

  /** How far the middle is lifted for the bar at the foot, as a share of half the height. */
  get lift() {
    return Math.min(0.1, 30 / this.height);
  }

  /** Call once when the view has got its new size. */
  resized(call) {
    this._onResize = call;
  }

  /** Whether nothing is going to be drawn as things are. */
  get idle() {
    return !this._waiting && !this._sharpening && !this._again;
  }

  /** Begin to compile what will be drawn, with a sample of it, while the rest of the page is made. */
  prepare(sample) {
    this.world.add(sample);
    this.renderer.compile(this.world, this.camera);
    this.world.remove(sample);
  }

  /** Draw now. */
  frame(time = performance.now()) {
    const waited = this._waiting ? performance.now() - this._asked : 0;
    this._waiting = 0;
    for (const call of this.beforeFrame) call(time);
    if (this.orbit.update()) this.changed(false);
    if (this.lost) return;
    this._pace(waited);
    this._clip();
    this.renderer.clear();
    this.renderer.render(this.world, this.camera);
    if (this.front.children.some((child) => child.visible && !child.isLight)) {
      this.renderer.clearDepth();
      this.renderer.render(this.front, this.camera);
    }
    this.framesDrawn++;
    for (const call of this.afterFrame) call(time);
  }

  /** Fit grid, shadow and distances to a box of what is shown, and the ground to its lowest point. */
  fit(box) {
    const sphere = box.getBoundingSphere(new THREE.Sphere());
    this.box.copy(box);
    this.size = Math.max(sphere.radius, 1e-4);
    this.centre.copy(sphere.center);
    const low = box.min.z;
    this.groundHeight = low < -0.01 * this.size ? low : Math.min(0, Math.max(low, 0));
    this._fitGround();
    this._fitShadow();
  }

  /** Draw shadows on the ground only where those of a box fall: the rest costs as much and is empty. */
  shadowsOf(box) {
    const towards = this.key.position.clone().sub(this.key.target.position);
    const onGround = new THREE.Box3();
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...["x", "y", "z"].map((axis, bit) => box[k & (1 << bit) ? "max" : "min"][axis]));
      onGround.expandByPoint(corner.addScaledVector(towards, (this.groundHeight - corner.z) / towards.z));
    }
    onGround.expandByScalar(0.04 * this.size);
    const extent = onGround.getSize(new THREE.Vector3());
    this.shadow.scale.set(extent.x, extent.y, 1);
    onGround.getCenter(this.shadow.position).setZ(this.groundHeight);
  }

  /** Bring the whole of what was fitted into view, from this direction or as it is seen now. */
  lookAtAll(direction = null) {
    const back = new THREE.Vector3();
    if (direction) back.set(...direction).normalize();
    else back.subVectors(this.camera.position, this.orbit.target).normalize();
    const right = new THREE.Vector3(...UP).cross(back);
    if (right.lengthSq() < 1e-9) right.set(1, 0, 0);
    right.normalize();
    const up = back.clone().cross(right);
    const corners = [];
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(...["x", "y", "z"].map((axis, i) => this.box[k & (1 << i) ? "max" : "min"][axis]));
      corner.sub(this.centre);
      corners.push([corner.dot(right), corner.dot(up), corner.dot(back)]);
    }
    // What is left free at the sides, above, and below for the bar
    const slope = Math.tan((FIELD_OF_VIEW * Math.PI) / 360);
    const [wide, high] = [0.84 * slope * this.camera.aspect, slope * (1 - 2 * this.margin)];
    let [x, y, distance] = [0, 0, 0];
    for (let pass = 0; pass < 4; pass++) {
      distance = Math.max(...corners.map(([a, b, c]) => c + Math.max(Math.abs(a - x) / wide, Math.abs(b - y) / high)));
      const across = corners.map(([a, , c]) => (a - x) / (distance - c)), along = corners.map(([, b, c]) => (b - y) / (distance - c));
      x += (0.5 * (Math.max(...across) + Math.min(...across))) * distance;
      y += (0.5 * (Math.max(...along) + Math.min(...along))) * distance;
    }
    distance = Math.max(distance, 1.2 * this.size);
    y -= this.lift * slope * distance;
    this.orbit.target.copy(this.centre).addScaledVector(right, x).addScaledVector(up, y);
    this.camera.position.copy(this.orbit.target).addScaledVector(back, distance);
    this.orbit.minDistance = 0.05 * this.size;
    this.orbit.maxDistance = 40 * this.size;
    this.orbit.update();
    this.changed(false);
  }

  /** Stand at one point of the world and look at another; `opening` is the height seen, degrees. */
  look({ position, target, opening = FIELD_OF_VIEW }) {
    this.camera.fov = opening;
    this.camera.updateProjectionMatrix();
    this.camera.position.set(...position);
    this.orbit.target.set(...target);
    this.orbit.update();
    this.changed(false);
  }

  /** Colours of the stage, from the style sheet. */
  dress(colour) {
    this.grid.material.uniforms.colour.value.set(colour("--grid"));
    this.grid.material.uniforms.strength.value = parseFloat(colour("--grid-strength"));
    this.shadow.material.opacity = parseFloat(colour("--shadow-strength"));
    this.sky.color.set(colour("--sky"));
    this.sky.groundColor.set(colour("--floor"));
    this.sky.intensity = parseFloat(colour("--sky-strength"));
    this.key.intensity = parseFloat(colour("--key-strength"));
    this.changed();
  }

  /** Where a point of the world is on the canvas: x, y in CSS pixels, and whether it is in front. */
  onScreen(point) {
    const p = point.clone().project(this.camera);
    return { x: ((p.x + 1) / 2) * this.width, y: ((1 - p.y) / 2) * this.height, inFront: p.z < 1 };
  }

  /** The ray from the eye through a pointer event, as a Raycaster. */
  ray(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * 2 - 1;
    const y = 1 - ((event.clientY - box.top) / box.height) * 2;
    this._raycaster ??= new THREE.Raycaster();
    this.camera.updateMatrixWorld();
    this._raycaster.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return this._raycaster;
  }

  /** A picture of what is seen, as a PNG blob. */
  picture() {
    this._sharpness(false);
    this._slow = 0;
    this.frame();
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }

  /** Fewer pixels while frames come slowly one after the other, all of them afterwards. */
  _pace(waited) {
    if (this._fixed) return;
    this._slow = waited > SLOW ? (this._slow ?? 0) + 1 : 0;
    if (this._slow > 3 && !this.coarse) this._sharpness(true);
    clearTimeout(this._sharpening);
    this._sharpening = this.coarse ? setTimeout(() => {
      this._sharpening = 0;
      if (this._waiting) return;
      this._sharpness(false);
      this._slow = 0;
      this.changed(false);
    }, 250) : 0;
  }

  _sharpness(coarse) {
    this.coarse = coarse;
    const ratio = Math.min(window.devicePixelRatio || 1, 2.5);
    this.renderer.setPixelRatio(coarse ? COARSE * ratio : ratio);
  }

  _lights() {
    for (const scene of [this.world, this.front]) {
      const sky = new THREE.HemisphereLight(0xffffff, 0xb8b4ac, 1.5);
      sky.position.set(0, 0, 1);
      const key = new THREE.DirectionalLight(0xfffaf0, 2.3);
      key.position.set(0.55, -0.9, 1.7);
      const rim = new THREE.DirectionalLight(0xdfe8ff, 0.9);
      rim.position.set(-1.2, 0.8, 0.6);
      scene.add(sky, key, key.target, rim);
      if (scene === this.world) Object.assign(this, { sky, key, rim });
    }
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(2048, 2048);
    this.key.shadow.radius = 3.5;
    this.key.shadow.bias = -0.0004;
  }

  _ground() {
    this.shadow = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShadowMaterial({ opacity: 0.2 }));
    this.shadow.receiveShadow = true;
    this.grid = new THREE.Mesh(new THREE.PlaneGeometry(1, 1), new THREE.ShaderMaterial({
      transparent: true,
      depthWrite: false,
      side: THREE.DoubleSide,
      uniforms: {
        cell: { value: 0.1 }, reach: { value: 1 }, strength: { value: 1 },
        middle: { value: new THREE.Vector2() }, colour: { value: new THREE.Color(0x808890) },
      },
      vertexShader: `
        varying vec2 place;
        void main() {
          vec4 p = modelMatrix * vec4(position, 1.0);
          place = p.xy;
          gl_Position = projectionMatrix * viewMatrix * p;
        }`,
      fragmentShader: `
        varying vec2 place;
        uniform float cell, reach, strength;
        uniform vec2 middle;
        uniform vec3 colour;
        float lines(vec2 p, float width) {
          vec2 slope = fwidth(p);
          vec2 d = abs(fract(p - 0.5) - 0.5) / slope;
          vec2 dense = 1.0 - smoothstep(0.25, 0.6, slope);
          vec2 on = (1.0 - smoothstep(width - 0.5, width + 0.5, d)) * dense;
          return max(on.x, on.y);
        }
        void main() {
          float fade = 1.0 - smoothstep(0.15 * reach, reach, length(place - middle));
          float a = max(0.32 * lines(place / cell, 0.5), 0.62 * lines(place / (5.0 * cell), 0.6));
          vec2 slope = fwidth(place);
          float x = 1.0 - smoothstep(0.4, 1.6, abs(place.y) / slope.y);
          float y = 1.0 - smoothstep(0.4, 1.6, abs(place.x) / slope.x);
          vec3 c = mix(mix(colour, vec3(0.0, 0.34, 0.17), y * 0.75), vec3(0.66, 0.11, 0.0), x * 0.75);
          a = max(a, 0.75 * max(x, y));
          gl_FragColor = vec4(c, a * fade * strength);
          #include <colorspace_fragment>
        }`,
    }));
    this.grid.renderOrder = -1;
    this.world.add(this.shadow, this.grid);
  }

  _fitGround() {
    const reach = 4.2 * this.size;
    const wanted = this.size / 4;
    const decade = 10 ** Math.floor(Math.log10(wanted));
    const cell = [5, 2, 1].map((k) => k * decade).find((c) => c <= wanted * 1.0001) ?? decade;
    const { uniforms } = this.grid.material;
    uniforms.cell.value = cell;
    uniforms.reach.value = reach;
    uniforms.middle.value.set(this.centre.x, this.centre.y);
    for (const [plane, extent] of [[this.shadow, 2.4 * this.size], [this.grid, reach]]) {
      plane.scale.setScalar(2 * extent);
      plane.position.set(this.centre.x, this.centre.y, this.groundHeight);
    }
    this.grid.position.z -= 2e-4 * this.size;
    this.cell = cell;
  }

  _fitShadow() {
    const reach = 1.9 * this.size;
    const towards = new THREE.Vector3(0.55, -0.9, 1.7).normalize();
    this.key.target.position.copy(this.centre);
    this.key.position.copy(this.centre).addScaledVector(towards, 4 * this.size);
    const eye = this.key.shadow.camera;
    Object.assign(eye, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.5 * this.size, far: 9 * this.size });
    eye.updateProjectionMatrix();
    this.key.shadow.normalBias = 0.004 * this.size;
  }

  _clip() {
    const far = this.camera.position.distanceTo(this.centre) + 12 * this.size;
    this.camera.near = Math.max(0.002 * this.size, Math.min(0.2 * this.size, far / 2000));
    this.camera.far = far;
    this.camera.updateProjectionMatrix();
  }

  /** Draw so many pixels, each of so many samples each way, and only when `frame` is called. */
  fixSize(width, height, samples) {
    this._fixed = true;
    cancelAnimationFrame(this._waiting);
    this._waiting = 0;
    Object.assign(this.orbit, { minDistance: 0, maxDistance: Infinity });
    Object.assign(this, { width, height });
    this.renderer.setPixelRatio(samples);
    this._sized();
  }

  _resize() {
    if (this._fixed) return;
    this.width = Math.max(1, this.host.clientWidth);
    this.height = Math.max(1, this.host.clientHeight);
    this._sharpness(Boolean(this.coarse));
    this._sized();
  }

  _sized() {
    this.renderer.setSize(this.width, this.height);
    this.camera.aspect = this.width / this.height;
    this.camera.updateProjectionMatrix();
    this.changed(false);
  }

  _watchPixelRatio() {
    matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", () => {
      this._resize();
      this._watchPixelRatio();
    }, { once: true });
  }
}

// Shapes as the page carries them, made into what three.js draws.
//
// A geometry is quantised: 16 bits an axis over its own box. Normals are not carried: faces that
// meet at less than CREASE are shaded as one smooth surface, sharper edges stay edges.

const CREASE = Math.cos((35 * Math.PI) / 180);

export function bytesOf(base64) {
  if (!base64) return new Uint8Array(0);
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes;
}

/** Positions (3 numbers a vertex), faces (3 vertices each) and, where there is a texture, uv (2 numbers
 *  a corner) of a geometry in the page's data. */
export function decoded(geometry, bytes) {
  const { n_vertices: nVertices, n_faces: nFaces, lower, step, bits, data } = geometry;
  const start = bytes.byteOffset + data[0];
  const numbers = new Uint16Array(bytes.buffer.slice(start, start + 6 * nVertices));
  const positions = new Float32Array(3 * nVertices);
  for (let k = 0; k < positions.length; k += 3)
    for (let axis = 0; axis < 3; axis++)
      positions[k + axis] = lower[axis] + step[axis] * numbers[k + axis];
  const facesStart = start + 6 * nVertices;
  const raw = bytes.buffer.slice(facesStart, facesStart + (3 * nFaces * bits) / 8);
  const faces = bits === 32 ? new Uint32Array(raw) : new Uint16Array(raw);
  if (!geometry.uv) return { positions, faces };
  const { lower: uvLower, step: uvStep, start: uvStart } = geometry.uv;
  const places = new Uint16Array(bytes.buffer.slice(start + uvStart, start + uvStart + 12 * nFaces));
  return { positions, faces, uv: Float32Array.from(places, (x, k) => uvLower[k % 2] + uvStep[k % 2] * x) };
}

/** Corners of all faces with a normal each: {positions, normals}, 9 numbers a face. */
export function shaded({ positions, faces, uv }) {
  const n = faces.length;
  const faceNormals = new Float32Array(n); // 3 a face, as long as twice its area
  const count = new Uint32Array(positions.length / 3 + 1);
  for (let f = 0; f < n; f += 3) {
    const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
    const ux = positions[b] - positions[a], uy = positions[b + 1] - positions[a + 1], uz = positions[b + 2] - positions[a + 2];
    const vx = positions[c] - positions[a], vy = positions[c + 1] - positions[a + 1], vz = positions[c + 2] - positions[a + 2];
    faceNormals[f] = uy * vz - uz * vy;
    faceNormals[f + 1] = uz * vx - ux * vz;
    faceNormals[f + 2] = ux * vy - uy * vx;
    count[faces[f] + 1]++;
    count[faces[f + 1] + 1]++;
    count[faces[f + 2] + 1]++;
  }
  for (let k = 1; k < count.length; k++) count[k] += count[k - 1];
  const around = new Uint32Array(n); // the faces around each vertex, one vertex after the other
  const next = count.slice();
  for (let corner = 0; corner < n; corner++) around[next[faces[corner]]++] = corner - (corner % 3);
  const lengths = new Float32Array(n / 3);
  for (let f = 0; f < n; f += 3)
    lengths[f / 3] = Math.hypot(faceNormals[f], faceNormals[f + 1], faceNormals[f + 2]);
  const corners = new Float32Array(3 * n), normals = new Float32Array(3 * n);
  for (let corner = 0; corner < n; corner++) {
    const vertex = faces[corner], f = corner - (corner % 3), own = lengths[f / 3];
    const x = faceNormals[f], y = faceNormals[f + 1], z = faceNormals[f + 2];
    let sx = 0, sy = 0, sz = 0;
    for (let k = count[vertex]; k < count[vertex + 1]; k++) {
      const g = around[k];
      const gx = faceNormals[g], gy = faceNormals[g + 1], gz = faceNormals[g + 2];
      if (x * gx + y * gy + z * gz >= CREASE * own * lengths[g / 3]) { sx += gx; sy += gy; sz += gz; }
    }
    const scale = 1 / (Math.hypot(sx, sy, sz) || 1);
    for (let axis = 0; axis < 3; axis++) corners[3 * corner + axis] = positions[3 * vertex + axis];
    normals[3 * corner] = sx * scale;
    normals[3 * corner + 1] = sy * scale;
    normals[3 * corner + 2] = sz * scale;
  }
  return { positions: corners, normals, uv };
}

/** A 4x4 matrix of three.js from the 12 numbers (3x4, row after row) that start at `k`. */
export function matrixFrom(numbers, k = 0, into = new THREE.Matrix4()) {
  return into.set(
    numbers[k], numbers[k + 1], numbers[k + 2], numbers[k + 3],
    numbers[k + 4], numbers[k + 5], numbers[k + 6], numbers[k + 7],
    numbers[k + 8], numbers[k + 9], numbers[k + 10], numbers[k + 11],
    0, 0, 0, 1,
  );
}

/** The 12 numbers of a matrix of three.js. */
export function numbersOf(matrix) {
  const e = matrix.elements;
  return [e[0], e[4], e[8], e[12], e[1], e[5], e[9], e[13], e[2], e[6], e[10], e[14]];
}

/** Shaded parts as one BufferGeometry, each moved by its T and with its own colour. */
export function merged(parts) {
  let n = 0;
  for (const part of parts) n += part.shape.positions.length;
  const positions = new Float32Array(n), normals = new Float32Array(n);
  const colours = new Uint16Array(n); // linear, 16 bits: dark colours stay apart
  const colour = new THREE.Color();
  let at = 0;
  for (const { shape, T, rgba } of parts) {
    colour.setRGB(rgba[0], rgba[1], rgba[2], THREE.SRGBColorSpace);
    const [r, g, b] = [colour.r, colour.g, colour.b].map((x) => Math.round(65535 * Math.min(1, Math.max(0, x))));
    const { positions: p, normals: m } = shape;
    for (let k = 0; k < p.length; k += 3, at += 3) {
      for (let row = 0; row < 3; row++) {
        const t = 4 * row;
        positions[at + row] = T[t] * p[k] + T[t + 1] * p[k + 1] + T[t + 2] * p[k + 2] + T[t + 3];
        normals[at + row] = T[t] * m[k] + T[t + 1] * m[k + 1] + T[t + 2] * m[k + 2];
      }
      colours[at] = r;
      colours[at + 1] = g;
      colours[at + 2] = b;
    }
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normals, 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(colours, 3, true));
  if (parts.every((part) => part.shape.uv)) {
    const uv = new Float32Array((2 * n) / 3);
    let from = 0;
    for (const { shape } of parts) {
      uv.set(shape.uv, from);
      from += shape.uv.length;
    }
    geometry.setAttribute("uv", new THREE.BufferAttribute(uv, 2));
  }
  geometry.computeBoundingSphere();
  return geometry;
}
